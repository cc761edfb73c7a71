"""Options and messages that the commands for traces share."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated as A

from headrace import _core
from headrace.cli.screen import show_view
from headrace.commands.parameters import Help, Word
from headrace.file_formats import FileFormat
from headrace.files import check_writable
from headrace.plain_text import plain_line

if TYPE_CHECKING:
    from headrace.trace.batches import SkippedKind

FORMATS = ", ".join([*(name for name, _, _ in _core.TRACE_FORMATS), "parquet", "darshan"])
WRITTEN = ", ".join([*(name for name, _, made in _core.TRACE_FORMATS if made), "parquet"])

SOURCE = "The trace to read; - is standard input. It may be compressed with gzip."

SourceFormat = A[
    str | None,
    Word("--format", metavar="FORMAT"),
    Help(f"Format of the trace; by default detected. Formats: {FORMATS}."),
]
TargetFormat = A[
    str | None,
    Word("--to-format", metavar="FORMAT"),
    Help(f"Format to write ({WRITTEN}); by default from the suffix."),
]

Source = A[Path, Word(metavar="SOURCE", is_argument=True), Help(SOURCE)]
Target = A[Path, Word(metavar="TARGET", is_argument=True), Help("The trace to write.")]


def check_target(source: Path, target: Path, to_format: str | None) -> None:
    """Raise ValueError or OSError if the target is the source, or cannot be written."""
    if target.exists() and source.exists() and target.samefile(source):
        raise ValueError(f"{target}: is the source itself: expected another file")
    check_writable(target, target_format(target, to_format))


def target_format(target: Path, to_format: str | None) -> FileFormat | None:
    """Return the format that is written; None of one that is not known, which is refused later."""
    suffix = Path(target.stem).suffix if target.suffix == ".gz" else target.suffix
    return FileFormat.__members__.get((to_format or suffix.removeprefix(".")).upper())


def warn_if_empty(trace: Path, records: int) -> None:
    """Warn of a trace without records."""
    if not records:
        problem = "no records: the trace shows no operation on a file whose name is known"
        print(plain_line(f"warning: {trace}: {problem}"), file=sys.stderr)


def show_skipped(skipped: "list[SkippedKind]") -> None:
    """Print the skipped lines and assumptions of a reader."""
    if skipped:
        from headrace.views.trace_info import skipped_table

        show_view(skipped_table(skipped))
