"""`headrace trace findings`."""

from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.options import AsJson
from headrace.cli.screen import print_json, records, show_view

TRACE = "The trace or Darshan log to read; - is standard input."


def findings(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help=TRACE)],
    format: Annotated[
        str | None, typer.Option("--format", help="Format of the trace; by default detected.")
    ] = None,
    rules: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Table of rules to use instead.")
    ] = None,
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
