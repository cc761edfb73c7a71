"""Arguments and options that several commands have."""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from typing import Annotated as A

import typer

from headrace.commands.parameters import Help, Word
from headrace.files import STANDARD_OUTPUT
from headrace.plain_text import plain_line
from headrace.quantities import duration

if TYPE_CHECKING:
    from headrace.simulate import Trust


class Time(float):
    """Seconds by default, which help texts show with their unit."""

    def __str__(self) -> str:
        return duration(self)


WorksheetFile: TypeAlias = A[
    Path, Word(metavar="FILE", is_argument=True), Help("Worksheet in TOML; - for standard input.")
]
CatalogueFile: TypeAlias = A[
    str | None,
    Word("--catalogue", metavar="FILE"),
    Help("Catalogue in TOML, or the name of a shipped one; by default example-2026."),
]

KeepFiles: TypeAlias = A[bool, Word("--keep"), Help("Do not remove the files at the end.")]


RunsDirectory: TypeAlias = A[
    Path | None,
    Word("--output", short="-o", metavar="DIR"),
    Help(
        "Keep finished runs in a directory, so that the same command goes on after an"
        " interruption. The tables (Parquet) and the best scenario are also written there."
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


AsJson: TypeAlias = A[
    bool, typer.Option("--json", callback=_as_json, help="Print one JSON document.")
]
_RESULT = partial(
    typer.Option,
    "--output",
    # Before --json, which depends on it.
    is_eager=True,
    callback=_result_file,
    help="Save the result as JSON; - for standard output.",
)
ResultFile: TypeAlias = A[Path | None, _RESULT("-o")]
LongResultFile: TypeAlias = A[Path | None, _RESULT()]
"""For commands whose -o is that of another program."""
SvgFile: TypeAlias = A[
    Path, Word("--output", short="-o"), Help("SVG file (.svg) to write; - for standard output.")
]
PlotDirectory: TypeAlias = A[
    Path | None, Word("--plot", metavar="DIR"), Help("Write plots (PNG and SVG) to a directory.")
]
ShowProgress: TypeAlias = A[
    bool, Word("--progress", off="--no-progress"), Help("Show the progress on a terminal.")
]

TrustedFiles: TypeAlias = A[
    tuple[Path, ...],
    Word("--trust"),
    Help("Trust the scenario's scheduler in this Python file permanently; can be repeated."),
]


def trust(files: Sequence[Path]) -> "Trust":
    """Return the trust settings of a command. On a terminal the command asks about other files.

    Raises OSError if one of the files cannot be read.
    """
    from headrace.simulate import Trust

    on_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    return Trust(files=files, ask=_ask if on_terminal else None)


def _ask(file: Path, digest: str) -> bool:
    print(
        f"This scenario runs Python code: {plain_line(str(file))}\n"
        f"  SHA-256 {digest}\n"
        "The code runs with your rights: read it first.",
        file=sys.stderr,
    )
    return typer.confirm("Trust this file permanently?", default=False, err=True)
