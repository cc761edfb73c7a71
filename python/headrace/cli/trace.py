"""`headrace trace`: info and synth; the other commands are in modules of their own."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated as A

import typer

from headrace import _core, kinds
from headrace.cli import trace_edit, trace_replay, trace_workload
from headrace.cli.options import AsJson
from headrace.cli.screen import counted, show_view
from headrace.cli.trace_options import (
    SOURCE,
    SourceFormat,
    TargetFormat,
    target_format,
    warn_if_empty,
)
from headrace.commands.parameters import Help, Word
from headrace.commands.values import parsed, span
from headrace.files import check_writable
from headrace.plain_text import plain_line

app = typer.Typer(
    help="Convert, summarise, edit, replay and synthesise traces.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


class Phases(StrEnum):
    """Phases of a synthetic trace."""

    WRITE = "write"
    READ = "read"
    WRITE_THEN_READ = "write-then-read"


app.command("convert")(trace_edit.convert)
app.command("import", help="Read and write a trace, as convert does.")(trace_edit.convert)
app.command("cut")(trace_edit.cut)
app.command("scale")(trace_edit.scale)
app.command("anonymise")(trace_edit.anonymise)
app.command("replay")(trace_replay.replay)


@app.command()
def info(
    trace: A[Path, Word(metavar="TRACE", is_argument=True), Help(SOURCE)],
    format: SourceFormat = None,
    full: A[
        bool, Help("Also show access patterns, heat, bursts, think times and concurrency.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Summarize a trace.

    Prints operations, request sizes, files and sequentiality.
    """
    from headrace import trace as traces

    if full and (str(trace) == "-" or (trace.exists() and not trace.is_file())):
        raise ValueError(f"{trace}: --full reads the trace twice: expected a file")
    with counted("trace info", "records") as on_progress:
        information = traces.trace_info(trace, format, on_progress)
    characteristics = None
    if full and information.summary["records"]:
        from headrace.profile.characterise import characterise

        with counted("trace info --full", "records") as on_progress:
            characteristics = characterise(trace, format, on_progress=on_progress)
    warn_if_empty(trace, information.summary["records"])
    document = kinds.with_kind("trace-info", information)
    if full:
        document["characteristics"] = characteristics
    if as_json:
        print(json.dumps(document, allow_nan=False, indent=2))
        return
    from headrace.views.trace_info import view

    show_view(view(kinds.read("trace-info", document), str(trace)))


@app.command()
def synth(
    target: A[Path, Word(metavar="TARGET", is_argument=True), Help("The trace to write.")],
    to_format: TargetFormat = None,
    processes: A[int, Help("Number of processes.")] = 1,
    shared: A[
        bool, Word(off="--file-per-process"), Help("One shared file, or one file for each process.")
    ] = True,
    block: A[str, Word(metavar="SIZE"), Help("Contiguous bytes of one process.")] = "1 MiB",
    transfer: A[str, Word(metavar="SIZE"), Help("Bytes of one request.")] = "256 KiB",
    segments: A[int, Help("Blocks of one process in a file.")] = 1,
    phases: A[Phases, typer.Option(help="Operations of the trace.")] = Phases.WRITE_THEN_READ,
    random: A[bool, Help("Use random instead of sequential offsets.")] = False,
    think: A[float, span(0.0), Help("Time between two requests.")] = 0.0,
    seed: A[int, Help("Seed of all random numbers.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Write a synthetic trace with parameters of IOR."""
    from headrace import trace as traces

    block_bytes = parsed("--block", block, _core.parse_bytes)
    transfer_bytes = parsed("--transfer", transfer, _core.parse_bytes)
    think_ns = round(think * 1e9)
    check_writable(target, target_format(target, to_format))
    with counted("trace synth", "records") as on_progress:
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
            block=block_bytes,
            transfer=transfer_bytes,
            think_ns=think_ns,
        )
    if as_json:
        document = {"target": str(target), "records": made.records}
        print(json.dumps(kinds.with_kind("trace-edit", document), indent=2))
        return
    print(plain_line(f"{target}: {made.records:,} records"))


app.command("findings")(trace_workload.findings)
app.command("workload")(trace_workload.workload)
app.command("mix")(trace_workload.mix)
