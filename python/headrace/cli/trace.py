"""`headrace trace`: import, info and synth."""

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from headrace import _core
from headrace.cli.screen import records, show
from headrace.file_formats import FileFormat
from headrace.files import check_writable
from headrace.report.plain_text import plain_line

app = typer.Typer(
    help="Import, summarize and synthesize traces of file operations.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

FORMATS = ", ".join([*(name for name, _, _ in _core.TRACE_FORMATS), "parquet", "darshan"])
WRITTEN = ", ".join([*(name for name, _, made in _core.TRACE_FORMATS if made), "parquet"])

TO_READ = "The trace to read; - is standard input. It may be compressed with gzip."

SourceFormat = Annotated[
    str | None,
    typer.Option("--format", help=f"Format of the trace ({FORMATS}); by default detected."),
]
TargetFormat = Annotated[
    str | None,
    typer.Option("--to-format", help=f"Format to write ({WRITTEN}); by default from the suffix."),
]


class Phases(StrEnum):
    """Phases of a synthetic trace."""

    WRITE = "write"
    READ = "read"
    WRITE_THEN_READ = "write-then-read"


@app.command("import")
def import_(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help=TO_READ)],
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="The trace to write.")],
    format: SourceFormat = None,
    to_format: TargetFormat = None,
) -> None:
    """Read a trace in any known format and write it as Parquet or CSV."""
    from headrace import trace as traces

    if target.exists() and source.exists() and target.samefile(source):
        raise ValueError(f"{target}: is the source itself: expected another file")
    check_writable(target, _format(target, to_format))
    with records("trace import") as on_progress:
        made = traces.import_trace(source, target, format, to_format, on_progress)
    print(plain_line(f"{target}: {made.records:,} records"))
    _warn_of_nothing(source, made.records)
    _show_skipped(made.skipped)


@app.command()
def info(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help=TO_READ)],
    format: SourceFormat = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Summarize a trace: operations, request sizes, files and sequentiality."""
    from headrace import trace as traces

    with records("trace info") as on_progress:
        information = traces.trace_info(trace, format, on_progress)
    _warn_of_nothing(trace, information.summary["records"])
    if as_json:
        print(json.dumps(asdict(information), allow_nan=False, indent=2))
        return
    from headrace.report.trace_tables import trace_summary

    show(trace_summary(str(trace), information.summary))
    _show_skipped(information.skipped)


@app.command()
def synth(
    target: Annotated[Path, typer.Argument(metavar="TARGET", help="The trace to write.")],
    to_format: TargetFormat = None,
    processes: Annotated[int, typer.Option(help="Number of processes.")] = 1,
    shared: Annotated[
        bool,
        typer.Option(
            "--shared/--file-per-process", help="One shared file, or one file for each process."
        ),
    ] = True,
    block: Annotated[str, typer.Option(help="Contiguous bytes of one process.")] = "1 MiB",
    transfer: Annotated[str, typer.Option(help="Bytes of one request.")] = "256 KiB",
    segments: Annotated[int, typer.Option(help="Blocks of one process in a file.")] = 1,
    phases: Annotated[
        Phases, typer.Option(help="Operations of the trace.")
    ] = Phases.WRITE_THEN_READ,
    random: Annotated[
        bool, typer.Option("--random", help="Use random instead of sequential offsets.")
    ] = False,
    think: Annotated[str, typer.Option(help="Time between two requests.")] = "0 s",
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.")] = 0,
) -> None:
    """Write a synthetic trace with the parameters of the IOR benchmark."""
    from headrace import trace as traces

    pattern: dict[str, Any] = {
        "block": _parsed("--block", block, _core.parse_bytes),
        "transfer": _parsed("--transfer", transfer, _core.parse_bytes),
        "think_ns": round(_parsed("--think", think, _core.parse_seconds) * 1e9),
    }
    check_writable(target, _format(target, to_format))
    with records("trace synth") as on_progress:
        made = traces.synthesize(
            target,
            target_format=to_format,
            processes=processes,
            shared=shared,
            segments=segments,
            phases=phases.value,
            random=random,
            seed=seed,
            on_progress=on_progress,
            **pattern,
        )
    print(plain_line(f"{target}: {made.records:,} records"))


def _format(target: Path, to_format: str | None) -> FileFormat | None:
    """The format that is written; None of one that is not known, which is refused later."""
    suffix = Path(target.stem).suffix if target.suffix == ".gz" else target.suffix
    return FileFormat.__members__.get((to_format or suffix.removeprefix(".")).upper())


def _parsed(option: str, text: str, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(text)
    except ValueError as error:
        raise ValueError(f"{option} {text!r}: {error}") from None


def _warn_of_nothing(trace: Path, records: int) -> None:
    if not records:
        problem = "no records: the trace shows no operation on a file whose name is known"
        print(plain_line(f"warning: {trace}: {problem}"), file=sys.stderr)


def _show_skipped(skipped: list[dict[str, Any]]) -> None:
    if skipped:
        from headrace.report.trace_tables import skipped_lines

        show(skipped_lines(skipped))
