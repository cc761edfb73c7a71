"""A result as tables for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.report.fitted_table import FittedTable
from headrace.report.left_out_table import left_out_line, left_out_table
from headrace.report.plain_text import plain
from headrace.report.units import (
    duration,
    figure,
    megabytes,
    milliseconds,
    percent,
    size,
    whole,
)

Document = Mapping[str, Any]

LATENCIES = ("mean", "p50", "p95", "p99", "max")
LESS_TO_PERFORMANCE = (
    "p50 ms",
    "p95 ms",
    "max ms",
    "data",
    "requests",
    "share %",
    "p99 ms",
    "operations/s",
)
"""Columns that narrow terminals omit, in this order; the same below."""
LESS_TO_STATIONS = ("servers", "copies", "visits", "busiest %", "service ms", "queue")
ENDS = {
    "workload": "with its workload",
    "time": "at run.stop.time",
    "requests": "after run.stop.requests",
    "precision": "with run.stop.precision",
    None: "by a condition of its own",
}
"""Descriptions of a run's end by its reason; none if replications ended differently."""
PLACES = 10
"""Rows of the breakdown that are shown."""


def result(document: Document) -> RenderableType:
    """Return the tables of a simulation's result."""
    parts: list[RenderableType] = [_heading(document), _performance(document)]
    if synced := document.get("synced_writes"):
        rate = megabytes(synced["throughput"])
        parts.append(Text(f"write and sync together: {rate} MB/s"))
    if document.get("latency_from_intended"):
        parts.append(_from_intended(document))
    if document["stations"]:
        parts.append(_stations(document))
    if document["breakdown"]:
        parts.append(_breakdown(document))
    if failures := document.get("failures"):
        parts.append(_failures(failures))
        if failed := sum(it.get("failed", 0) for it in document["operations"].values()):
            parts.append(Text(f"\n{whole(failed)} requests failed without an answer."))
    if packets := document.get("packets"):
        parts.append(Text("\n" + _packets(packets)))
    if text := unfinished(document):
        parts.append(Text("\n" + text))
    parts += left_out_table(document)
    parts.append(Text("\n" + plain(document["bottleneck"]["sentence"]), style="bold"))
    parts.append(Text(_end(document)))
    for warning in document.get("warnings", ()):
        parts.append(Text(f"Note: {plain(warning['message'])}.", style="yellow"))
    return Group(*parts, *left_out_line(document))


def _end(document: Document) -> str:
    """Return why the run ended, and the precision of the mean latency if one was requested."""
    runs = document.get("replications")
    stop = document["stop"]
    end = f"{'Each run' if runs else 'The run'} ended {ENDS[stop['reason']]}"
    precision = stop.get("precision")
    if precision is None:
        return f"{end}."
    verdict = "was reached" if precision["reached"] else "was not reached"
    width = "there were too few requests for an interval"
    if precision["got"] is not None:
        width = (
            f"half the {100 * precision['confidence']:g} % interval of the mean latency is"
            f" {figure(100 * precision['got'])} % of it"
        )
    if drifts := precision.get("drifts"):
        return (
            f"{end}. run.stop.precision = {precision['wanted']:g} was not reached: {drifts} still"
            f" drifts{' in some of them' if runs else ''}, so the precision of the mean latency"
            " is unknown; expected a longer run, or a run.warm_up that ends in the steady state."
        )
    return (
        f"{end}. run.stop.precision = {precision['wanted']:g} {verdict}"
        f"{' in all of them' if runs and precision['reached'] else ''}: {width}"
        f"{' where it is worst' if runs and precision['got'] is not None else ''}."
    )


def _heading(document: Document) -> Text:
    scenario = document["scenario"]
    text = Text(plain(scenario["name"]), style="bold")
    if scenario["description"]:
        text.append(f": {plain(scenario['description'])}", style="not bold")
    runs = document.get("replications")
    seeds = f"seed {document['seed']}"
    if runs:
        seeds = f"{len(runs)} replications, seeds {runs[0]['seed']} to {runs[-1]['seed']}"
    text.append(
        f"\n{seeds}; {duration(document['simulated_seconds'])} simulated"
        f" in {duration(document['wall_seconds'])}, {whole(document['events'])} events",
        style="not bold",
    )
    return text


def _performance(document: Document) -> FittedTable:
    groups = document["groups"]
    several = len(groups) > 1
    shared = any(group.get("share") for group in groups.values()) and several
    columns = ["group"] * several + ["operation", "requests", "data", "MB/s", "operations/s"]
    columns += [f"{name} ms" for name in LATENCIES] + ["share %"] * shared
    made = FittedTable("Throughput and latency", several + 1, columns, LESS_TO_PERFORMANCE)
    intervals = document.get("intervals", {})
    for cells in _operations(document, intervals):
        made.add_row(*([""] * several), *cells, *([""] * shared))
    for name, group in groups.items() if several else ():
        made.add_section()
        part = intervals.get("groups", {}).get(name, {})
        share = group.get("share")
        for number, cells in enumerate(_operations(group, part)):
            cell = ""
            if number == 0 and share:
                cell = _with_interval(percent(share["mean"]), part.get("share"), "mean", percent)
            made.add_row(name if number == 0 else "", *cells, *([cell] * shared))
    if intervals:
        made.caption = "means over the replications \N{PLUS-MINUS SIGN} their 95 % intervals"
    return made


def _operations(part: Document, intervals: Document) -> Iterator[list[str]]:
    """The cells of each operation, and of all if there are several."""
    names = [name for name in part["latency"] if name != "all"]
    for name in names + ["all"] * (len(names) != 1 and "all" in part["latency"]):
        latency = part["latency"][name]
        rates = part["operations"].get(name, {})
        throughput = part["throughput"].get(name)
        near = intervals.get("latency", {}).get(name, {})
        yield [
            name,
            whole(latency["count"]),
            size(rates["bytes"]) if rates.get("bytes") else "",
            ""
            if throughput is None
            else _with_interval(
                megabytes(throughput), intervals.get("throughput"), name, megabytes
            ),
            _with_interval(
                figure(rates["per_second"]),
                intervals.get("operations", {}).get(name),
                "per_second",
                figure,
            )
            if rates.get("per_second") is not None
            else "",
            *(
                _with_interval(milliseconds(latency[key]), near, key, milliseconds)
                for key in LATENCIES
            ),
        ]


def _from_intended(document: Document) -> FittedTable:
    """Return the response times of a timed trace, from the intended start of requests."""
    columns = ["operation", "requests", *(f"{name} ms" for name in LATENCIES)]
    made = FittedTable("Latency from the intended start", 1, columns, LESS_TO_PERFORMANCE)
    late = document["latency_from_intended"]
    names = [name for name in late if name != "all"]
    for name in names + ["all"] * (len(names) > 1):
        figures = (milliseconds(late[name][key]) for key in LATENCIES)
        made.add_row(name, whole(late[name]["count"]), *figures)
    return made


def unfinished(document: Document) -> str:
    """Return the number of requests that were due before the end of the run and not done, if
    any."""
    found = document.get("unfinished")
    if not found or not found["count"]:
        return ""
    issued = found.get("in_flight", 0)
    what = f"{whole(found['count'])} requests were due before the end of the run and not"
    what += f" done, {whole(issued)} of them issued" if "in_flight" in found else " issued"
    return (
        f"{what}: their latency was {duration(found['mean'])} on"
        f" average and {duration(found['max'])} at most by then,"
        " and counts, as a lower bound, from the intended start."
    )


def _with_interval(text: str, intervals: Document | None, key: str, format: Any) -> str:
    if not intervals or not intervals.get(key):
        return text
    return f"{text} \N{PLUS-MINUS SIGN} {format(intervals[key])}"


def _stations(document: Document) -> FittedTable:
    columns: tuple[str, ...] = (
        "station",
        "copies",
        "servers",
        "busy %",
        "busiest %",
        "queue",
        "service ms",
        "visits",
    )
    lost = any(station.get("lost") for station in document["stations"])
    columns += ("lost",) * lost
    made = FittedTable("Stations", 1, columns, LESS_TO_STATIONS)
    for station in sorted(document["stations"], key=lambda it: -it["utilisation"]):
        if not station["visits"]:
            continue
        # With unlimited servers there is no queue.
        counted = station["servers"] is not None
        made.add_row(
            station["station"],
            whole(station["copies"]),
            whole(station["servers"]) if counted else "any",
            percent(station["utilisation"]) if counted else "",
            percent(station["most_utilisation"]) if counted else "",
            figure(station["queue"]),
            milliseconds(station["service"]),
            whole(station["visits"]),
            *(("" if station.get("lost") is None else whole(station["lost"]),) * lost),
        )
    return made


def _failures(failures: Sequence[Document]) -> FittedTable:
    columns = ("server", "at", "back", "noticed", "forgotten", "copied anew", "whole again")
    made = FittedTable("Failures", 1, columns, ("forgotten", "noticed"))

    def when(seconds: float | None) -> str:
        return "never" if seconds is None else duration(seconds)

    for failure in failures:
        metadata, repair = failure.get("metadata"), failure.get("repair")
        made.add_row(
            f"metadata {metadata}" if "metadata" in failure else f"{failure['server']}",
            duration(failure["at_s"]),
            when(failure["until_s"]),
            when(failure["noticed_s"]),
            size(failure["forgotten_bytes"]),
            size(repair["copied_bytes"]) if repair else "",
            when(repair["whole_s"]) if repair else "",
        )
    return made


def _packets(packets: Document) -> str:
    return (
        f"Packets: {whole(packets['sent'])} sent, {whole(packets['lost'])} lost at full queues;"
        f" {whole(packets['sent_again'])} segments sent again,"
        f" {whole(packets['timeouts'])} timers run out."
    )


def _breakdown(document: Document) -> FittedTable:
    columns = ("place", "share %", "ms", "waiting ms")
    made = FittedTable("Time breakdown of a request", 1, columns, ("waiting ms",))
    entries = document["breakdown"]
    for entry in entries[:PLACES]:
        made.add_row(
            entry["place"],
            percent(entry["share"]),
            milliseconds(entry["seconds"]),
            milliseconds(entry["waiting"]),
        )
    if rest := entries[PLACES:]:
        sums = {key: sum(it[key] for it in rest) for key in ("share", "seconds", "waiting")}
        made.add_row(
            f"{len(rest)} more",
            percent(sums["share"]),
            milliseconds(sums["seconds"]),
            milliseconds(sums["waiting"]),
        )
    return made
