"""Results as comma-separated values."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from headrace.cli.screen import print_document
from headrace.file_formats import FileFormat
from headrace.files import STANDARD_OUTPUT, atomic_file, check_writable

Csv: TypeAlias = Annotated[
    Path | None,
    typer.Option("--csv", metavar="FILE", help="Write the figures as CSV; - for standard output."),
]


def check_csv(path: Path | None, as_json: bool) -> None:
    """Check that CSV can be written. Raises ValueError or OSError if it cannot."""
    if path == STANDARD_OUTPUT and as_json:
        raise ValueError("--csv -: standard output has the JSON document: expected a file")
    if path is not None and path != STANDARD_OUTPUT:
        check_writable(path, FileFormat.CSV)


def write_csv(path: Path, document: Mapping[str, Any]) -> None:
    """Write a document's figures, a header and a row for each. Raises OSError if it cannot."""
    from headrace.report.csv_rows import rows

    text = io.StringIO()
    found = rows(document)
    columns = list(dict.fromkeys(name for row in found for name in row))
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(found)
    if path == STANDARD_OUTPUT:
        print_document(text.getvalue().encode())
        return
    with atomic_file(path) as partial:
        partial.write_text(text.getvalue(), encoding="utf-8")
