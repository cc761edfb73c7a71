"""`headrace trace convert`, `cut`, `scale` and `anonymise`."""

import json
import secrets
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated as A

import typer

from headrace.cli.options import AsJson
from headrace.cli.screen import counted
from headrace.cli.trace_options import (
    Source,
    SourceFormat,
    Target,
    TargetFormat,
    check_target,
    show_skipped,
    warn_if_empty,
)
from headrace.commands.parameters import Help, Word
from headrace.commands.values import parsed, span
from headrace.fields import to_document
from headrace.kinds import with_kind
from headrace.plain_text import plain_line

if TYPE_CHECKING:
    from headrace.trace import Imported


def convert(
    source: Source,
    target: Target,
    format: SourceFormat = None,
    to_format: TargetFormat = None,
    as_json: AsJson = False,
) -> None:
    """Read a trace in any known format and write it in another."""
    from headrace import trace as traces

    check_target(source, target, to_format)
    with counted("trace convert", "records") as on_progress:
        made = traces.import_trace(source, target, format, to_format, on_progress)
    _print(source, target, made, as_json)


def cut(
    source: Source,
    target: Target,
    from_s: A[
        float | None,
        span(0.0),
        Word("--from"),
        Help("Keep calls that start at this time or later; times of the new trace count from it."),
    ] = None,
    to_s: A[
        float | None, span(0.0), Word("--to"), Help("Keep calls that start before this time.")
    ] = None,
    process: A[
        tuple[str, ...],
        Word(metavar="PATTERN"),
        Help("Keep processes whose name matches this pattern; can be repeated."),
    ] = (),
    file: A[
        tuple[str, ...],
        Word(metavar="PATTERN"),
        Help("Keep files whose name matches this pattern; can be repeated."),
    ] = (),
    operations: A[
        str | None, Word(metavar="NAMES"), Help("Keep these operations, with commas between them.")
    ] = None,
    format: SourceFormat = None,
    to_format: TargetFormat = None,
    as_json: AsJson = False,
) -> None:
    """Write the part of a trace that meets all given conditions.

    Times of the new trace count from --from. In patterns, * matches any text and ? any letter.
    """
    from headrace import trace as traces

    chosen = [it.strip() for it in operations.split(",")] if operations is not None else []
    selection = traces.Selection(from_s, to_s, process, file, tuple(chosen))
    if selection == traces.Selection():
        raise ValueError(
            "no condition is given: expected --from, --to, --process, --file or --operations"
        )
    check_target(source, target, to_format)
    with counted("trace cut", "records") as on_progress:
        made, left_out = traces.cut_trace(source, target, selection, format, to_format, on_progress)
    _print(source, target, made, as_json, {"left_out": left_out})


def scale(
    source: Source,
    target: Target,
    time: A[
        str,
        Word("--time-factor", metavar="FACTOR"),
        Help("Factor on the times between the starts of calls."),
    ] = "1",
    size: A[
        str, Word("--size-factor", metavar="FACTOR"), Help("Factor on offsets and sizes.")
    ] = "1",
    processes: A[int, Word("--process-copies"), Help("Number of copies of each process.")] = 1,
    share_files: A[bool, Help("Let all copies use the same files.")] = False,
    format: SourceFormat = None,
    to_format: TargetFormat = None,
    as_json: AsJson = False,
) -> None:
    """Write a trace with scaled times, sizes or numbers of processes.

    Durations of calls stay. Copy n has processes NAME+n, and its files below /copy-n.
    """
    from headrace import trace as traces

    time_factor = parsed("--time-factor", time, traces.factor)
    size_factor = parsed("--size-factor", size, traces.factor)
    check_target(source, target, to_format)
    with counted("trace scale", "records") as on_progress:
        made = traces.scale_trace(
            source,
            target,
            copies=processes,
            shared=share_files,
            format=format,
            target_format=to_format,
            on_progress=on_progress,
            time=time_factor,
            size=size_factor,
        )
    _print(source, target, made, as_json)


def anonymise(
    source: Source,
    target: Target,
    key: A[
        str | None,
        typer.Option(
            envvar="HEADRACE_TRACE_KEY",
            help="Secret on which the new names depend; by default a random one, not saved.",
        ),
    ] = None,
    keep_extensions: A[bool, Help("Keep the extensions of file names.")] = False,
    format: SourceFormat = None,
    to_format: TargetFormat = None,
    as_json: AsJson = False,
) -> None:
    """Write a trace with other names of files and processes.

    Each component of a name is replaced, so that the tree of directories stays. Times and sizes
    stay.
    """
    from headrace import trace as traces

    check_target(source, target, to_format)
    with counted("trace anonymise", "records") as on_progress:
        made = traces.anonymise_trace(
            source,
            target,
            secrets.token_hex() if key is None else key,
            keep_extensions=keep_extensions,
            format=format,
            target_format=to_format,
            on_progress=on_progress,
        )
    _print(source, target, made, as_json)


def _print(
    source: Path, target: Path, made: "Imported", as_json: bool, more: dict[str, int] | None = None
) -> None:
    warn_if_empty(source, made.records + (more or {}).get("left_out", 0))
    if as_json:
        figures = {"records": made.records, **(more or {}), "skipped": to_document(made.skipped)}
        document = {"source": str(source), "target": str(target), **figures}
        print(json.dumps(with_kind("trace-edit", document), allow_nan=False, indent=2))
        return
    left = f", {more['left_out']:,} left out" if more else ""
    print(plain_line(f"{target}: {made.records:,} records{left}"))
    show_skipped(made.skipped)
