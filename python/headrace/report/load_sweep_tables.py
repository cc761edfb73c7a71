"""Load sweeps as tables for a terminal."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.plain_text import plain
from headrace.quantities import duration, figure, milliseconds, percent, whole
from headrace.report.client_host_curves import curves
from headrace.report.fitted_table import FittedTable
from headrace.report.measurement_tables import with_spread

Document = Mapping[str, Any]

LESS = ("read ahead %", "unfinished", "offered", "service p99 ms", "p50 ms", "service ms")
"""Columns that narrow terminals omit, in this order."""
ENDS = {
    "interrupted": "Interrupted: partial steps.",
    "failed": "An operation failed: partial steps.",
    "unfinished": "Not complete: partial steps.",
}


def load_sweep(document: Document) -> RenderableType:
    """Return the tables of a sweep."""
    return OF[document["of"]](document)


def loads(document: Document) -> RenderableType:
    """Return the tables of a load sweep."""
    heading = _heading(document)
    parts: list[RenderableType] = [heading, *_repeats(document), _steps(document)]
    parts.append(Text(_findings(document)))
    return Group(*parts, *_ending(document))


def clients(document: Document) -> RenderableType:
    """Return the tables of a client sweep."""
    heading = _heading(document)
    columns = ["processes", "operations/s", "times the first", "efficiency %"]
    columns += ["mean ms", "p99 ms", "cache hits %", "read ahead %"]
    made = FittedTable(
        "Operations a second, and service time",
        0,
        columns,
        ("read ahead %", "cache hits %", "p99 ms"),
    )
    for step in document["steps"]:
        many = ", oversubscribed" if step["oversubscribed"] else ""
        service = step["service"] or {"mean": None, "p99": None}
        made.add_row(
            f"{step['processes']}{many}",
            with_spread(step, ("operations_per_second",), step["operations_per_second"], figure),
            with_spread(step, ("speedup",), step["speedup"], figure),
            percent(step["efficiency"]),
            with_spread(step, ("service", "mean"), service["mean"], milliseconds),
            milliseconds(service["p99"]),
            *_cache(step["cache"]),
        )
    parts: list[RenderableType] = [heading, *_repeats(document), made]
    if any(step["oversubscribed"] for step in document["steps"]):
        cores = document["cores"]
        text = f"\nOversubscribed: more processes than the {cores} processors that there are."
        parts.append(Text(text))
    return Group(*parts, *_ending(document))


def client_hosts(document: Document) -> RenderableType:
    """Return the tables of a client-host sweep."""
    parts: list[RenderableType] = [_heading(document), *_repeats(document), _steps(document)]
    parts += [_curves(document), Text(f"\n{_criteria(document)}")]
    if left := _left(document):
        parts.append(Text(left))
    return Group(*parts, *_ending(document))


def _curves(document: Document) -> FittedTable:
    """Return the findings of the curve of each number of client hosts."""
    columns = ("hosts", "knee", "kept up with", "cut-off", "achieved at most", "overall ms")
    made = FittedTable("By the number of client hosts, in operations a second", 1, columns)
    for count, curve in curves(document).items():
        points = (curve[key] for key in ("knee", "kept_up", "cut_off"))
        overall = curve["overall_response_s"]
        most = curve["achieved_at_most_per_second"]
        made.add_row(
            str(count),
            *("-" if it is None else figure(it["requested_per_second"]) for it in points),
            "-" if most is None else figure(most),
            "-" if overall is None else milliseconds(overall),
        )
    return made


def _heading(document: Document) -> Text:
    text = Text(plain(str(document["scenario"].get("name", ""))), style="bold")
    # Results of earlier versions do not say it.
    match document.get("calls", "posix"):
        case "posix":
            pass
        case "null":
            text.append(
                ": no calls were made: figures show the benchmark's own cost", style="not bold"
            )
        case calls:
            text.append(f": by {plain(calls)} calls", style="not bold")
    return text


def _repeats(document: Document) -> list[Text]:
    """Return the number of repetitions of each step in words, if there are several."""
    wanted = document.get("wanted_repeats", 1)
    if wanted == 1:
        return []
    done = [len(step.get("repetitions", ())) for step in document["steps"]]
    least, most = min(done, default=0), max(done, default=0)
    many = f"{most}" if least == most else f"{least} to {most}"
    text = f"{many} repeats" if least == wanted else f"{many} of {wanted} repeats"
    if any(step.get("intervals") for step in document["steps"]):
        text += ", ± half the width of the 95 % interval of their mean (t)"
    return [Text(f"{text}; percentiles are over all operations")]


def _cache(cache: Document) -> tuple[str, str]:
    """Return the hit and read-ahead shares of reads in words."""
    ahead = cache.get("read_ahead_bytes")
    return percent(cache["hit_rate"]), percent(
        ahead / cache["asked_bytes"] if ahead is not None else None
    )


def _ending(document: Document) -> list[Text]:
    """Return how the sweep ended, if it ended early, and what it left."""
    left = document.get("warnings", ())
    notes = [Text(f"Note: {plain(it['message'])}.", style="yellow") for it in left]
    ends = ENDS.get(document["stop"]["reason"])
    return [*([Text(ends)] if ends else []), *notes]


def _steps(document: Document) -> FittedTable:
    columns = ["requested", "offered", "achieved", "mean ms", "p50 ms", "p99 ms"]
    columns += ["unfinished", "service ms", "service p99 ms"]
    columns += ["cache hits %", "read ahead %", "keeps up"]
    by_hosts = any("client_hosts" in step for step in document["steps"])
    made = FittedTable(
        "Operations a second, and response time from the intended start",
        int(by_hosts),
        [*(["hosts"] if by_hosts else []), *columns],
        LESS,
    )
    count = None
    for step in document["steps"]:
        if count is not None and step["client_hosts"] != count:
            made.add_section()
        count = step.get("client_hosts")
        response, service = step["response"], step["service"]
        made.add_row(
            *([str(count)] if by_hosts else []),
            figure(step["requested_per_second"]),
            figure(step["offered_per_second"]),
            with_spread(step, ("achieved_per_second",), step["achieved_per_second"], figure),
            with_spread(step, ("response", "mean"), response["mean"], milliseconds),
            *(milliseconds(response[key]) for key in ("p50", "p99")),
            _unfinished(step),
            *(milliseconds(service[key]) for key in ("mean", "p99")),
            *_cache(step["cache"]),
            "ended early" if step.get("partial") else "yes" if step["keeps_up"] else "no",
        )
    return made


def _unfinished(step: Document) -> str:
    """Return the number of requests that were due and never issued. Results of earlier versions
    lack it."""
    found = step.get("unfinished")
    return "" if found is None else whole(found["count"])


def _left(document: Document) -> str:
    """Return the steps with requests that were due and never issued, in words."""
    found = [(step, step.get("unfinished") or {"count": 0}) for step in document["steps"]]
    left = [
        f"{whole(it['count'])} at {step['name']} (up to {duration(it['max'])} late by then)"
        for step, it in found
        if it["count"]
    ]
    if not left:
        return ""
    return (
        f"Due before the end of a step and not issued: {', '.join(left)}. Response times contain"
        " them, as lower bounds."
    )


def _findings(document: Document) -> str:
    lines = [f"\n{_criteria(document)}"]
    if knee := document["knee"]:
        lines.append(f"Knee: {_point(knee)}{_of_each(document, 'knee')}.")
    if kept := document["kept_up"]:
        best = f"{_point(kept)}{_of_each(document, 'kept_up')}"
        lines.append(f"Highest sustained load: {best}.")
    if cut_off := document["cut_off"]:
        lines.append(
            f"Cut-off: from {figure(cut_off['requested_per_second'])} operations/s on the load is"
            f" not sustained ({figure(cut_off['achieved_per_second'])} achieved)."
        )
    else:
        lines.append("All loads tried were sustained: there is no knee.")
    # Results of earlier versions have none.
    if (overall := document.get("overall_response_s")) is not None:
        lines.append(
            f"Overall response time: {duration(overall)} (area under the curve of sustained"
            " loads, divided by the largest achieved load)."
        )
    if left := _left(document):
        lines.append(left)
    return "\n".join(lines)


def _criteria(document: Document) -> str:
    criteria = document["criteria"]
    return (
        f"A load is sustained if at least {100 * criteria['achieved']:g} % of the offered load is"
        f" achieved and the mean response time is {duration(criteria['response_s'])} at most."
    )


def _of_each(document: Document, which: str) -> str:
    """Return the range of a point over the repetitions, if they differ."""
    found = [it.get(which) for it in document.get("repetitions", ())]
    loads = [it["requested_per_second"] for it in found if it]
    if not loads or min(loads) == max(loads):
        return ""
    return f" (over the repetitions {figure(min(loads))} to {figure(max(loads))})"


def _point(point: Mapping[str, Any]) -> str:
    return (
        f"{figure(point['requested_per_second'])} operations/s,"
        f" mean response {duration(point['response_mean_s'])}"
    )


OF = {"loads": loads, "clients": clients, "client-hosts": client_hosts}
"""Tables by the variable of the sweep."""
