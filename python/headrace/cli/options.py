"""Arguments and options that several commands have."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

ScenarioFile: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="Scenario file, saved result, or results:ID of a result in the store.",
    ),
]

Sets: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PATH=VALUE", help="Override a value of the file; can be repeated."
    ),
]
