"""`headrace design report`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headrace.cli.screen import steps

if TYPE_CHECKING:
    from headrace.design.evaluation import Solution

FILE = "solution.json"
"""Name of a saved solution in its directory."""


def report(
    solution: Annotated[
        Path,
        typer.Argument(
            metavar="DIR|FILE", help=f"Directory of `headrace design solve`, or its {FILE}."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Directory for the report; by default that of the solution.",
        ),
    ] = None,
) -> None:
    """Write report.html and report.pdf of a saved solution."""
    from headrace._core import VERSION
    from headrace.design.catalogue_file import read_catalogue
    from headrace.design.worksheet_file import read_worksheet
    from headrace.files import check_directory
    from headrace.report.design_report import write
    from headrace.report.plain_text import plain_line

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
    print(f"report: {written.html}, {written.pdf}", file=sys.stderr)


def read_solution(path: Path) -> "Solution":
    """Return a saved solution.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is no solution.
    """
    import msgspec

    from headrace.design.evaluation import Solution

    try:
        solution = msgspec.json.decode(path.read_bytes(), type=Solution)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(
            f"{path}: expected a solution of `headrace design solve`: {error}"
        ) from None
    if solution.chosen is not None and not 0 <= solution.chosen < len(solution.front):
        raise ValueError(
            f"{path}: chosen = {solution.chosen}: expected the place of a design in `front`, below"
            f" {len(solution.front)}"
        )
    return solution
