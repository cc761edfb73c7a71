"""Ladders as tables for a terminal."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.report.fitted_table import FittedTable
from headrace.report.plain import plain
from headrace.report.units import duration, figure, milliseconds, percent

Document = Mapping[str, Any]

LESS = ("read ahead %", "offered", "service p99 ms", "p50 ms", "service ms")
"""What narrow terminals go without, the first first."""
ENDS = {
    "interrupted": "It was interrupted: these are the steps until then.",
    "failed": "An operation failed: these are the steps until then.",
    "unfinished": "It did not come to its end: these are the steps until then.",
}


def ladder(document: Document) -> RenderableType:
    """All of a ladder that people look at first."""
    return OF[document["of"]](document)


def loads(document: Document) -> RenderableType:
    """All of a ladder of loads that people look at first."""
    heading = _heading(document)
    parts: list[RenderableType] = [heading, _steps(document), Text(_findings(document))]
    return Group(*parts, *_ending(document))


def clients(document: Document) -> RenderableType:
    """All of a ladder of clients that people look at first."""
    heading = _heading(document)
    columns = ["processes", "operations/s", "times the first", "efficiency %"]
    columns += ["mean ms", "p99 ms", "cache hits %", "read ahead %"]
    made = FittedTable("Operations a second, and service time", 0, columns, ("read ahead %",))
    for step in document["steps"]:
        many = ", oversubscribed" if step["oversubscribed"] else ""
        service = step["service"] or {"mean": None, "p99": None}
        made.add_row(
            f"{step['processes']}{many}",
            figure(step["operations_per_second"]),
            figure(step["speedup"]),
            percent(step["efficiency"]),
            *(milliseconds(service[key]) for key in ("mean", "p99")),
            *_cache(step["cache"]),
        )
    parts: list[RenderableType] = [heading, made]
    if any(step["oversubscribed"] for step in document["steps"]):
        cores = document["cores"]
        text = f"\nOversubscribed: more processes than the {cores} processors that there are."
        parts.append(Text(text))
    return Group(*parts, *_ending(document))


def _heading(document: Document) -> Text:
    text = Text(plain(str(document["scenario"].get("name", ""))), style="bold")
    # Results of earlier versions do not say it.
    match document.get("calls", "posix"):
        case "posix":
            pass
        case "null":
            text.append(": no calls were made: figures of the benchmark itself", style="not bold")
        case calls:
            text.append(f": by {plain(calls)} calls", style="not bold")
    return text


def _cache(cache: Document) -> tuple[str, str]:
    """Which part of what was read was in memory, and which had been read ahead."""
    ahead = cache.get("read_ahead_bytes")
    return percent(cache["hit_rate"]), percent(
        ahead / cache["asked_bytes"] if ahead is not None else None
    )


def _ending(document: Document) -> list[Text]:
    """How it ended, if not as it should, and what is left of it."""
    left = document.get("warnings", ())
    notes = [Text(f"Note: {plain(it['message'])}.", style="yellow") for it in left]
    ends = ENDS.get(document["stop"]["reason"])
    return [*([Text(ends)] if ends else []), *notes]


def _steps(document: Document) -> FittedTable:
    columns = ["requested", "offered", "achieved", "mean ms", "p50 ms", "p99 ms"]
    columns += ["service ms", "service p99 ms", "cache hits %", "read ahead %", "keeps up"]
    made = FittedTable(
        "Operations a second, and response time from the intended start", 0, columns, LESS
    )
    for step in document["steps"]:
        response, service = step["response"], step["service"]
        made.add_row(
            figure(step["requested_per_second"]),
            figure(step["offered_per_second"]),
            figure(step["achieved_per_second"]),
            *(milliseconds(response[key]) for key in ("mean", "p50", "p99")),
            *(milliseconds(service[key]) for key in ("mean", "p99")),
            *_cache(step["cache"]),
            "ended early" if step.get("partial") else "yes" if step["keeps_up"] else "no",
        )
    return made


def _findings(document: Document) -> str:
    criteria = document["criteria"]
    lines = [
        f"\nA load is kept up with if {100 * criteria['achieved']:g} % of what is offered is"
        f" achieved and responses take {duration(criteria['response_s'])} at most on average."
    ]
    if knee := document["knee"]:
        lines.append(f"Knee: {_point(knee)}.")
    if kept := document["kept_up"]:
        lines.append(f"Largest load kept up with: {_point(kept)}.")
    if cut_off := document["cut_off"]:
        lines.append(
            f"Cut-off: from {figure(cut_off['requested_per_second'])} operations/s on it stays"
            f" behind ({figure(cut_off['achieved_per_second'])} achieved)."
        )
    else:
        lines.append("No load was tried that it does not keep up with: there is no knee to see.")
    return "\n".join(lines)


def _point(point: Mapping[str, Any]) -> str:
    return (
        f"{figure(point['requested_per_second'])} operations/s,"
        f" mean response {duration(point['response_mean_s'])}"
    )


OF = {"loads": loads, "clients": clients}
"""Of what a ladder may be."""
