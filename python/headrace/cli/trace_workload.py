"""`headrace trace workload`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.options import AsJson
from headrace.cli.screen import print_document, print_json, records
from headrace.files import atomic_file, check_writable
from headrace.plain_text import plain_line


def workload(
    log: Annotated[Path, typer.Argument(metavar="LOG", help="The Darshan log to read.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Scenario to write.")
    ] = None,
    system: Annotated[
        str, typer.Option(help="Preset of the scenario's system, as `headrace presets` lists it.")
    ] = "lustre",
    as_json: AsJson = False,
) -> None:
    """Make a scenario from a Darshan log.

    The requests of a log without DXT become workloads that agree with its counters. A log with DXT
    is replayed. The scenario lists every assumption.
    """
    from headrace import _core
    from headrace import trace as traces

    presets = [name for name, _ in _core.presets()]
    if system not in presets:
        raise ValueError(f"--system {system!r}: expected one of {', '.join(presets)}")
    if output is not None:
        if output.exists() and log.exists() and output.samefile(log):
            raise ValueError(f"{output}: is the log itself: expected another file")
        check_writable(output)
    with records("trace workload"):
        made = traces.darshan_workload(traces.read_log(log), system=system)
    if output is not None:
        with atomic_file(output) as partial:
            partial.write_text(made.toml, "utf-8")
    if as_json:
        print_json(made, "trace-workload")
        return
    if output is None:
        print_document(made.toml.encode())
        return
    print(plain_line(f"{output}: {made.workloads} workloads of {made.processes:,} processes"))
    for text in made.assumptions:
        print(plain_line(f"assumed: {text}"), file=sys.stderr)
    for text in made.left_out:
        print(plain_line(f"left out: {text}"), file=sys.stderr)
