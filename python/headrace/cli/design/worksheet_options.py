"""Arguments and options of the commands that read a worksheet."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

WorksheetFile: TypeAlias = Annotated[
    Path, typer.Argument(metavar="FILE", help="Worksheet in TOML.")
]
CatalogueFile: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--catalogue",
        metavar="FILE",
        help="Catalogue in TOML, or the name of a shipped one; by default example-2026.",
    ),
]
