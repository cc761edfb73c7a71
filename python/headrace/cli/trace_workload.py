"""`headrace trace workload`, `mix` and `findings`."""

import sys
from pathlib import Path
from typing import Annotated as A

from headrace.cli.options import AsJson
from headrace.cli.screen import counted, print_document, print_json, show_view, steps
from headrace.cli.trace_options import SourceFormat
from headrace.commands.parameters import Help, Word
from headrace.files import atomic_file, check_writable
from headrace.plain_text import plain_line

TRACE = "The trace or Darshan log to read; - is standard input."
Output = A[Path | None, Word(short="-o"), Help("Scenario to write.")]
System = A[
    str,
    Word(metavar="PRESET"),
    Help("Preset of the scenario's system, as `headrace presets` lists it."),
]


def workload(
    log: A[Path, Word(metavar="LOG", is_argument=True), Help("The Darshan log to read.")],
    output: Output = None,
    system: System = "lustre",
    as_json: AsJson = False,
) -> None:
    """Make a scenario from a Darshan log.

    The requests of a log without DXT become workloads that agree with its counters. A log with DXT
    is replayed. The scenario lists every assumption.
    """
    from headrace import trace as traces

    _check(log, output, system)
    with counted("trace workload", "records"):
        made = traces.darshan_workload(traces.read_log(log), system=system)
    _save(made.toml, output)
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


def mix(
    trace: A[Path, Word(metavar="TRACE", is_argument=True), Help(TRACE)],
    output: Output = None,
    system: System = "lustre",
    format: SourceFormat = None,
    as_json: AsJson = False,
) -> None:
    """Fit a mix of operations to a trace.

    The scenario has one workload of kind operation-mix, for `headrace run`, `bench run` and `bench
    mix`. The command prints its distance to the trace, and what it leaves out.
    """
    from headrace.profile import workload_fit

    _check(trace, output, system)
    with steps("trace mix") as on_progress:
        fitted = workload_fit.fit_mix(trace, system, format=format, on_progress=on_progress)
    _save(fitted.toml, output)
    if as_json:
        print_json(fitted, "trace-mix")
        return
    if output is None:
        print_document(fitted.toml.encode())
        return
    from headrace.views.fitted_mix import view

    show_view(view(fitted, str(output)))


def _check(trace: Path, output: Path | None, system: str) -> None:
    """Raise ValueError if there is no such system, or the output cannot be written."""
    from headrace import _core

    presets = [name for name, _ in _core.presets()]
    if system not in presets:
        raise ValueError(f"--system {system!r}: expected one of {', '.join(presets)}")
    if output is not None:
        if output.exists() and trace.exists() and output.samefile(trace):
            raise ValueError(f"{output}: is {trace} itself: expected another file")
        check_writable(output)


def _save(toml: str, output: Path | None) -> None:
    if output is not None:
        with atomic_file(output) as partial:
            partial.write_text(toml, "utf-8")


def findings(
    trace: A[Path, Word(metavar="TRACE", is_argument=True), Help(TRACE)],
    format: SourceFormat = None,
    rules: A[Path | None, Help("Table of rules to use instead.")] = None,
    as_json: AsJson = False,
) -> None:
    """Report costly requests of a trace or Darshan log."""
    from headrace.profile import trace_findings

    table = trace_findings.load_rules(rules)
    with counted("trace findings", "records") as on_progress:
        found = trace_findings.findings(trace, format=format, rules=table, on_progress=on_progress)
    report = trace_findings.TraceFindings(str(trace), found)
    if as_json:
        print_json(report, "trace-findings")
        return
    from headrace.views.trace_findings import view

    show_view(view(report, str(trace)))
