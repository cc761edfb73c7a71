"""Arguments and options that several commands have."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

ScenarioFile: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="A scenario, or what to take it from: a saved result, or results:ID in the store.",
    ),
]

Sets: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PATH=VALUE", help="Put a value over the file's; can be repeated."
    ),
]
