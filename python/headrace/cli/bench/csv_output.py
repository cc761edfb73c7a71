"""Results as comma-separated values."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from headrace.cli.screen import print_document
from headrace.file_formats import FileFormat
from headrace.files import STANDARD_OUTPUT, atomic_file, check_writable
from headrace.render.blocks import View

Csv: TypeAlias = Annotated[
    Path | None, typer.Option("--csv", help="Write the figures as CSV; - for standard output.")
]


def check_csv(path: Path | None, as_json: bool) -> None:
    """Check that CSV can be written. Raises ValueError or OSError if it cannot."""
    if path == STANDARD_OUTPUT and as_json:
        raise ValueError("--csv -: standard output has the JSON document: expected a file")
    if path is not None and path != STANDARD_OUTPUT:
        check_writable(path, FileFormat.CSV)


def write_csv(path: Path, view: View) -> None:
    """Write a view's records, a header and a row for each. Raises OSError if it cannot."""
    from headrace.render.csv import text

    if path == STANDARD_OUTPUT:
        print_document(text(view).encode())
        return
    with atomic_file(path) as partial:
        partial.write_text(text(view), encoding="utf-8")
