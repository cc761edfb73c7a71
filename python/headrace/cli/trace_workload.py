"""`headrace trace workload` and `findings`."""

import sys
from pathlib import Path
from typing import Annotated as A

from headrace.cli.options import AsJson
from headrace.cli.screen import print_document, print_json, records, show_view
from headrace.cli.trace_options import SourceFormat
from headrace.commands.parameters import Help, Word
from headrace.files import atomic_file, check_writable
from headrace.plain_text import plain_line

TRACE = "The trace or Darshan log to read; - is standard input."


def workload(
    log: A[Path, Word(metavar="LOG", is_argument=True), Help("The Darshan log to read.")],
    output: A[Path | None, Word(short="-o"), Help("Scenario to write.")] = None,
    system: A[
        str,
        Word(metavar="PRESET"),
        Help("Preset of the scenario's system, as `headrace presets` lists it."),
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


def findings(
    trace: A[Path, Word(metavar="TRACE", is_argument=True), Help(TRACE)],
    format: SourceFormat = None,
    rules: A[Path | None, Help("Table of rules to use instead.")] = None,
    as_json: AsJson = False,
) -> None:
    """Report costly requests of a trace or Darshan log."""
    from headrace.profile import trace_findings

    table = trace_findings.load_rules(rules)
    with records("trace findings") as on_progress:
        found = trace_findings.findings(trace, format=format, rules=table, on_progress=on_progress)
    report = trace_findings.TraceFindings(str(trace), found)
    if as_json:
        print_json(report, "trace-findings")
        return
    from headrace.views.trace_findings import view

    show_view(view(report, str(trace)))
