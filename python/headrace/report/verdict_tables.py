"""Phases of a profile with their verdicts, evidence and advice, as tables for a terminal."""

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.plain_text import plain, plain_line
from headrace.quantities import duration, figure, percent
from headrace.render.fitted_table import FittedTable
from headrace.report.profile_values import (
    NO_VERDICT,
    Document,
    changes,
    host_row,
    share_of,
    times,
    with_unit,
)
from headrace.report.verdict_words import verdict_words

REDIRECTED_WIDTH = 80
"""Columns of a file or pipe that shows the figures of the evidence."""


def verdict_tables(document: Document) -> RenderableType:
    """Return verdict, phases, evidence, advice and notes of a profile."""
    parts: list[RenderableType] = [heading(document)]
    if document.get("host_verdicts"):
        parts.append(hosts(document))
    parts.append(phases(document))
    if any(it.get("evidence") for it in document["phases"]):
        parts.append(evidence(document))
    advised = changes(document["phases"])
    if advised:
        parts.append(advice(document))
    elif document["phases"]:
        parts.append(Text("\nNo change has a predicted gain that is large enough to be advised."))
    lines = [
        f"phase {number}: {plain_line(note)}"
        for number, phase in enumerate(document["phases"], 1)
        for note in phase.get("notes") or []
    ]
    lines += [plain_line(it) for it in document.get("notes") or []]
    if lines:
        parts.append(Text("\n" + "\n".join(lines), style="dim"))
    return Group(*parts)


def heading(document: Document) -> Text:
    """Return the name, the verdict and the duration of the run."""
    text = Text(plain_line(document["name"]), style="bold")
    verdict = document.get("verdict")
    if verdict is not None:
        what = f"limited by {verdict_words(verdict).limit} ({plain(verdict)})"
        if len(document.get("hosts") or []) > 1 and document.get("host"):
            what += f" on {plain_line(document['host'])}"
    else:
        what = f"{verdict_words(None).limit} ({NO_VERDICT})" if document["phases"] else "no verdict"
    status = document.get("exit_status")
    text.append(f": {what}\n")
    ended = "" if status is None else f", exit status {status}"
    text.append(f"{duration(document['duration_s'])}{ended}", style="not bold")
    return text


def hosts(document: Document) -> RenderableType:
    """Return the table of the hosts' verdicts: each with its share of the run."""
    table = FittedTable("Hosts", 3, ("host", "verdict", "others", "phases", "share %"), ("others",))
    for it in document["host_verdicts"]:
        row = host_row(it)
        table.add_row(*map(plain_line, row[:3]), *row[3:])
    shown = plain_line(document.get("host") or "")
    table.caption = f"phases, evidence and advice below: {shown}, which is limited longest"
    return table


def phases(document: Document) -> RenderableType:
    """Return the table of phases."""
    columns = ("phase", "verdict", "best advice", "from s", "to s", "share %", "predicted speed")
    table = FittedTable("Phases", 3, columns, ("share %",))
    total = document["duration_s"] or 1.0
    for number, phase in enumerate(document["phases"], 1):
        best = max(phase.get("advice") or [], key=lambda it: it["predicted_gain"], default=None)
        table.add_row(
            str(number),
            phase["verdict"] or NO_VERDICT,
            "" if best is None else best["change"],
            figure(phase["from_s"]),
            figure(phase["to_s"]),
            percent((phase["to_s"] - phase["from_s"]) / total),
            "" if best is None else times(best["predicted_gain"]),
        )
    return table


def evidence(document: Document) -> RenderableType:
    """Return the table of figures that support the verdicts."""
    columns = ("phase", "figure", "value", "baseline", "of it", "rule")
    table = FittedTable("Evidence", 2, columns, ("rule",), REDIRECTED_WIDTH)
    decided = []
    for number, phase in enumerate(document["phases"], 1):
        rules = dict.fromkeys(plain_line(it["rule"]) for it in phase.get("evidence") or [])
        if rules:
            decided.append(f"phase {number}: {', '.join(rules)}")
        for it in phase.get("evidence") or []:
            baseline = it.get("baseline")
            table.add_row(
                str(number),
                plain_line(it["figure"]),
                with_unit(it["value"], it["unit"]),
                "" if baseline is None else with_unit(baseline, it["unit"]),
                "" if baseline is None else share_of(it["value"], baseline),
                plain_line(it["rule"]),
            )
    table.left_out_caption = "rules of " + "; ".join(decided)
    return table


def advice(document: Document) -> RenderableType:
    """Return the table of changes by the time that they save, and each change in words."""
    columns = ("change", "predicted speed", "phase", "saves", "kind")
    table = FittedTable("Advice", 1, columns, ("kind",))
    lines = []
    for it in changes(document["phases"]):
        phase, gain = max(it.gains, key=lambda gain: gain[1])
        table.add_row(plain_line(it.name), times(gain), str(phase), duration(it.saved_s), it.kind)
        lines.append(f"{plain_line(it.name)}: {plain_line(it.description)}")
    table.caption = "simulated, each change alone; saves: of the whole run"
    return Group(table, Text("\n" + "\n".join(lines)))
