"""`headrace design report`."""

import sys
from pathlib import Path
from typing import Annotated as A

from headrace.cli.screen import steps
from headrace.commands.parameters import Help, Word
from headrace.design.solution_file import FILE, read_solution


def report(
    solution: A[
        Path,
        Word(metavar="DIR|FILE", is_argument=True),
        Help(f"Directory of `headrace design solve`, or its {FILE}."),
    ],
    output: A[
        Path | None,
        Word(short="-o", metavar="DIR"),
        Help("Directory for the report; by default that of the solution."),
    ] = None,
) -> None:
    """Write report.html and report.pdf of a saved solution."""
    from headrace._core import VERSION
    from headrace.design.catalogue_file import read_catalogue
    from headrace.design.worksheet_file import read_worksheet
    from headrace.files import check_directory
    from headrace.plain_text import plain_line
    from headrace.report.design_report import listed, write

    path = solution / FILE if solution.is_dir() else solution
    found = read_solution(path)
    target = path.parent if output is None else output
    check_directory(target)
    worksheet = read_worksheet(found.worksheet_text, f"{path}: worksheet_text").worksheet
    catalogue = read_catalogue(found.catalogue_text, f"{path}: catalogue_text").catalogue
    with steps("write the report") as on_progress:
        written = write(found, worksheet, catalogue, target, on_progress)
    if found.version != VERSION:
        line = f"{path}: made by Headrace {found.version}; this is {VERSION}"
        print(plain_line(line), file=sys.stderr)
    print(listed(written.documents), file=sys.stderr)
