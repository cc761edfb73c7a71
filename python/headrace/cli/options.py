"""Arguments and options that several commands have."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeAlias, TypeVar

import typer

from headrace.files import STANDARD_OUTPUT

T = TypeVar("T")
FIGURES = (
    "throughput, synced_writes, operations, latency, latency_p50, latency_p95, latency_p99,"
    " latency_max"
)
"""Figures of a run for help texts, all but the simulated time; commands check names themselves."""

ScenarioFile: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="Scenario file, saved result, or results:ID of a result in the store; - for standard"
        " input.",
    ),
]

WorksheetFile: TypeAlias = Annotated[
    Path, typer.Argument(metavar="FILE", help="Worksheet in TOML; - for standard input.")
]
CatalogueFile: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--catalogue",
        metavar="FILE",
        help="Catalogue in TOML, or the name of a shipped one; by default example-2026.",
    ),
]

Sets: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="PATH=VALUE", help="Override a value of the file; can be repeated."
    ),
]

RESULT_PRINTED = "headrace.result_printed"
"""Key under which a command's context has that -o names standard output."""


def _result_file(context: typer.Context, path: Path | None) -> Path | None:
    """Return the file of a result; none for standard output, which `--json` writes to."""
    if path != STANDARD_OUTPUT:
        return path
    context.meta[RESULT_PRINTED] = True
    return None


def _as_json(context: typer.Context, given: bool) -> bool:
    return given or context.meta.get(RESULT_PRINTED, False)


AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", callback=_as_json, help="Print one JSON document.")
]
ResultAsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", callback=_as_json, help="Print the result as one JSON document.")
]
ResultFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        # Before --json, which depends on it.
        is_eager=True,
        callback=_result_file,
        help="Save the result as JSON; - for standard output.",
    ),
]
SvgFile: TypeAlias = Annotated[
    Path,
    typer.Option(
        "--output", "-o", metavar="FILE", help="SVG file (.svg) to write; - for standard output."
    ),
]
PlotDirectory: TypeAlias = Annotated[
    Path | None,
    typer.Option("--plot", metavar="DIR", help="Write a plot (PNG and SVG) to a directory."),
]
PlotsDirectory: TypeAlias = Annotated[
    Path | None,
    typer.Option("--plot", metavar="DIR", help="Write plots (PNG and SVG) to a directory."),
]
ShowProgress: TypeAlias = Annotated[
    bool, typer.Option("--progress/--no-progress", help="Show a progress bar on a terminal.")
]
ShowFigures: TypeAlias = Annotated[
    bool, typer.Option("--progress/--no-progress", help="Show the figures live on a terminal.")
]

ListenAddress: TypeAlias = Annotated[
    str, typer.Option("--address", metavar="ADDRESS", help="Address to listen on.")
]
ListenPort: TypeAlias = Annotated[
    int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 for a free one.")
]


def parsed(option: str, text: str, parse: Callable[[str], T]) -> T:
    """Parse an option's value. Raises ValueError, which names the option and its value."""
    try:
        return parse(text)
    except ValueError as error:
        raise ValueError(f'{option} "{text}": {error}') from None


def part(option: str, text: str, example: str) -> float:
    """Return the part that an option names, such as 0.02 for `2%` and for `0.02`.

    Raises:
        ValueError: The text is no number.
    """
    number = text.strip().removesuffix("%").strip()
    try:
        return float(number) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        raise ValueError(f'{option} "{text}": expected a part such as {example}') from None
