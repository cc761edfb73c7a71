"""A result as tables for a terminal."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.fields import convert
from headrace.plain_text import plain
from headrace.quantities import (
    duration,
    figure,
    megabytes,
    milliseconds,
    percent,
    size,
    whole,
)
from headrace.render.fitted_table import FittedTable
from headrace.simulate.report import (
    BreakdownEntry,
    Cache,
    GroupReport,
    HalfWidths,
    Latency,
    Outage,
    Packets,
    RateWidth,
    Replay,
    Report,
    Server,
    Station,
    Stop,
    Unfinished,
    Unwritten,
    Warned,
    report_of,
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
LESS_TO_CACHES = ("copies", "evicted", "misses", "read ahead", "hits")
LESS_TO_STATIONS = (
    "servers",
    "copies",
    "unfinished",
    "visits",
    "busiest %",
    "service ms",
    "queue",
)
LESS_TO_SERVERS = ("requests", "jobs", "busiest station")
UNEVEN = 0.1
"""Utilisation of the busiest server above the mean from which the servers are shown."""
SERVERS = 8
"""Rows of the table of servers."""
ENDS = {
    "workload": "with its workload",
    "time": "at run.stop.time",
    "requests": "after run.stop.requests",
    "precision": "with run.stop.precision",
    None: "by a condition of its own",
}
"""Descriptions of a run's end by its reason; none if replications ended differently."""
ZERO_DEFAULT = "zero-default"
"""Condition of warnings about times that are 0 by default; they come first."""
NONE = "-"
"""Cell of a figure that does not exist, such as the data of operations that move none."""
NO_TIME = "no time"
"""Rate of an operation that took no time."""
KINDS = 6
"""Kinds that the line names; the table and the document have all."""
PLACES = 10
"""Rows of the breakdown that are shown."""


def result(document: Document) -> RenderableType:
    """Return the tables of a simulation's result."""
    report = report_of(document)
    first = [it for it in report.warnings if it.condition == ZERO_DEFAULT]
    parts: list[RenderableType] = [_heading(report), *map(_note, first), _performance(report)]
    if report.unwritten is not None:
        parts.append(Text(_unwritten(report.unwritten)))
    if report.latency_from_intended:
        parts.append(_from_intended(report.latency_from_intended))
    if report.stations:
        parts.append(_stations(report.stations))
    if _uneven(report.servers):
        parts.append(_servers(report.servers))
    if asked := [it for it in report.caches if it.hit_ratio is not None and _is_shown(it)]:
        parts.append(_caches(asked))
    if report.breakdown:
        parts.append(_breakdown(report.breakdown))
    if report.failures:
        parts.append(_failures(report.failures))
        if failed := sum(it.failed for it in report.operations.values()):
            parts.append(Text(f"\n{whole(failed)} requests failed without an answer."))
    if report.packets is not None:
        parts.append(Text("\n" + _packets(report.packets)))
    if text := unfinished(document):
        parts.append(Text("\n" + text))
    parts += [Text("\n" + line) for line in map(_replay, report.replays) if line]
    parts += left_out_table(document)
    parts.append(Text("\n" + plain(report.bottleneck.sentence), style="bold"))
    if report.stop is not None:
        parts.append(Text(_end(report, report.stop)))
    parts += [_note(it) for it in report.warnings if it not in first]
    return Group(*parts, *left_out_line(document))


def _note(warning: Warned) -> Text:
    return Text(f"Note: {plain(warning.message)}.", style="yellow")


def _replay(replay: Replay) -> str:
    """Return the use of open flags in a replayed trace; empty if it has none."""
    parts = []
    if replay.direct:
        counts = f"{whole(replay.direct)} of {whole(replay.requests)} reads and writes"
        parts.append(f"{counts} bypass the page cache (O_DIRECT)")
    if replay.synchronous:
        counts = f"{whole(replay.synchronous)} of {whole(replay.writes)} writes"
        parts.append(f"{counts} wait for the device (O_SYNC)")
    return f"Trace of workload {replay.workload}: {', '.join(parts)}." if parts else ""


def _end(report: Report, stop: Stop) -> str:
    """Return why the run ended, and the precision of the mean latency if one was requested."""
    several = bool(report.replications)
    end = f"{'Each run' if several else 'The run'} ended {ENDS[stop.reason]}"
    precision = stop.precision
    if precision is None:
        return f"{end}."
    verdict = "was reached" if precision.reached else "was not reached"
    width = "there were too few requests for an interval"
    if precision.got is not None:
        width = (
            f"half the {100 * precision.confidence:g} % interval of the mean latency is"
            f" {figure(100 * precision.got)} % of it"
        )
    if precision.drifts:
        return (
            f"{end}. run.stop.precision = {precision.wanted:g} was not reached: {precision.drifts}"
            f" still drifts{' in some of them' if several else ''}, so the precision of the mean"
            " latency is unknown; expected a longer run, or a run.warm_up that ends in the steady"
            " state."
        )
    return (
        f"{end}. run.stop.precision = {precision.wanted:g} {verdict}"
        f"{' in all of them' if several and precision.reached else ''}: {width}"
        f"{' where it is worst' if several and precision.got is not None else ''}."
    )


def _heading(report: Report) -> Text:
    text = Text(plain(report.scenario.name), style="bold")
    if report.scenario.description:
        text.append(f": {plain(report.scenario.description)}", style="not bold")
    runs = report.replications
    seeds = f"seed {report.seed}"
    if runs:
        seeds = f"{len(runs)} replications of seed {runs[0].seed}"
    cost = "" if report.wall_seconds is None else f" in {duration(report.wall_seconds)}"
    cost += "" if report.events is None else f", {whole(report.events)} events"
    text.append(
        f"\n{seeds}; {duration(report.simulated_seconds)} simulated{cost}", style="not bold"
    )
    return text


def _performance(report: Report) -> FittedTable:
    groups = report.groups
    several = len(groups) > 1
    shared = any(group.share for group in groups.values()) and several
    columns = ["group"] * several + ["operation", "requests", "data", "MB/s", "operations/s"]
    columns += [f"{name} ms" for name in LATENCIES] + ["share %"] * shared
    made = FittedTable("Throughput and latency", several + 1, columns, LESS_TO_PERFORMANCE)
    widths = report.intervals or HalfWidths()
    if (both := report.synced_writes) is not None:
        moved = NONE if both.bytes is None else size(both.bytes)
        cells = ["write and sync together", NONE, moved, megabytes(both.throughput)]
        cells += [NONE] * (1 + len(LATENCIES))
        made.add_row(*([""] * several), *cells, *([""] * shared))
    for cells in _operations(report, widths):
        made.add_row(*([""] * several), *cells, *([""] * shared))
    for name, group in groups.items() if several else ():
        made.add_section()
        of_group = widths.groups.get(name, HalfWidths())
        for number, cells in enumerate(_operations(group, of_group)):
            cell = ""
            if number == 0 and group.share:
                width = None if of_group.share is None else of_group.share.mean
                cell = _with_interval(percent(group.share.mean), width, percent)
            made.add_row(name if number == 0 else "", *cells, *([cell] * shared))
    if report.intervals is not None:
        made.caption = "means over the replications \N{PLUS-MINUS SIGN} their 95 % intervals"
    return made


def _operations(part: Report | GroupReport, widths: HalfWidths) -> Iterator[list[str]]:
    """The cells of each operation, and of all if there are several."""
    names = [name for name in part.latency if name != "all"]
    for name in names + ["all"] * (len(names) != 1 and "all" in part.latency):
        latency = part.latency[name]
        rates = part.operations.get(name)
        throughput = part.throughput.get(name)
        rate = None if rates is None else rates.per_second
        near = widths.latency.get(name)
        moved = 0.0 if rates is None else rates.bytes
        yield [
            name if rates is None or rates.into is None else f"{name} into {rates.into}",
            whole(latency.count),
            size(moved) if moved else NONE,
            (NO_TIME if moved else NONE)
            if throughput is None
            else _with_interval(megabytes(throughput), widths.throughput.get(name), megabytes),
            (NO_TIME if rates is not None and rates.count else NONE)
            if rate is None
            else _with_interval(
                figure(rate), widths.operations.get(name, RateWidth()).per_second, figure
            ),
            *(
                _with_interval(
                    milliseconds(getattr(latency, key)), getattr(near, key, None), milliseconds
                )
                for key in LATENCIES
            ),
        ]


def _from_intended(late: Mapping[str, Latency]) -> FittedTable:
    """Return the response times of a timed trace, from the intended start of requests."""
    columns = ["operation", "requests", *(f"{name} ms" for name in LATENCIES)]
    made = FittedTable("Latency from the intended start", 1, columns, LESS_TO_PERFORMANCE)
    names = [name for name in late if name != "all"]
    for name in names + ["all"] * (len(names) > 1):
        figures = (milliseconds(getattr(late[name], key)) for key in LATENCIES)
        made.add_row(name, whole(late[name].count), *figures)
    return made


def unfinished(document: Document) -> str:
    """Return the number of requests that were due before the end of the run and not done, if
    any."""
    of_document = document.get("unfinished")
    found = None if of_document is None else convert(of_document, Unfinished)
    if found is None or found.mean is None or found.max is None:
        return ""
    what = f"{whole(found.count)} requests were due before the end of the run and not"
    what += "" if found.in_flight is None else f" done, {whole(found.in_flight)} of them"
    what += " issued"
    return (
        f"{what}: their latency was {duration(found.mean)} on"
        f" average and {duration(found.max)} at most by then,"
        " and counts, as a lower bound, from the intended start."
    )


def _unwritten(unwritten: Unwritten) -> str:
    """Return the data that is not on devices at the end of the run."""
    places = (("client", unwritten.client_bytes), ("server", unwritten.server_bytes))
    named = [f"{size(amount)} in {place} caches" for place, amount in places if amount]
    return (
        f"not written at the end of the run: {' and '.join(named)}; a phase"
        ' "sync" would add the time that takes'
    )


def _with_interval(text: str, width: float | None, format: Callable[[float], str]) -> str:
    return f"{text} \N{PLUS-MINUS SIGN} {format(width)}" if width else text


def _stations(stations: Sequence[Station]) -> FittedTable:
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
    lost = any(station.lost for station in stations)
    unfinished = any(station.unfinished for station in stations)
    columns += ("unfinished",) * unfinished + ("lost",) * lost
    made = FittedTable("Stations", 1, columns, LESS_TO_STATIONS)
    for station in sorted(stations, key=lambda it: -it.utilisation):
        if not station.visits and not station.unfinished:
            continue
        # With unlimited servers there is no queue.
        counted = station.servers is not None
        made.add_row(
            station.station,
            whole(station.copies),
            whole(station.servers) if counted else "any",
            percent(station.utilisation) if counted else "",
            percent(station.most_utilisation) if counted else "",
            figure(station.queue),
            "" if station.service is None else milliseconds(station.service),
            whole(station.visits),
            *((whole(station.unfinished),) * unfinished),
            *(("" if station.lost is None else whole(station.lost),) * lost),
        )
    return made


def _uneven(servers: Sequence[Server]) -> bool:
    """Return whether servers are unlike, or one is much busier than the mean."""
    if len(servers) < 2:
        return False
    busy = [server.utilisation for server in servers]
    return any(it.group for it in servers) or max(busy) > sum(busy) / len(busy) + UNEVEN


def _servers(servers: Sequence[Server]) -> FittedTable:
    columns = ("server", "group", "busy %", "busiest station", "jobs", "MB/s", "requests", "ms")
    made = FittedTable("Data servers", 2, columns, LESS_TO_SERVERS)
    ranked = sorted(servers, key=lambda it: -it.utilisation)
    for server in ranked[:SERVERS]:
        made.add_row(
            whole(server.server),
            plain(server.group or ""),
            percent(server.utilisation),
            (server.busiest or "").split("/", 2)[-1],
            figure(server.in_progress),
            megabytes(server.throughput),
            whole(server.requests),
            "" if server.latency is None else milliseconds(server.latency),
        )
    if rest := ranked[SERVERS:]:
        made.caption = f"the busiest {SERVERS}; {len(rest)} more, the least busy"
        made.caption += f" {percent(rest[-1].utilisation)} %"
    return made


def _is_shown(cache: Cache) -> bool:
    """Return whether a cache is in the table: a client knows nearly all layouts it needs."""
    return not cache.cache.endswith("/layout cache")


def _caches(caches: Sequence[Cache]) -> FittedTable:
    counts = ("hits", "read ahead", "misses")
    data = ("hit data", "data read ahead", "miss data")
    columns = ("cache", "copies", "hit %", *counts, *data, "evicted")
    made = FittedTable("Caches", 1, columns, LESS_TO_CACHES)
    for it in caches:
        moved = (it.hit_bytes, it.read_ahead_bytes, it.miss_bytes)
        made.add_row(
            it.cache,
            whole(it.copies),
            NONE if it.hit_ratio is None else percent(it.hit_ratio),
            *map(whole, (it.hits, it.read_ahead, it.misses)),
            *(size(amount) if amount else NONE for amount in moved),
            size(it.evicted_bytes) if it.evicted_bytes else whole(it.evictions),
        )
    return made


def _failures(failures: Sequence[Outage]) -> FittedTable:
    columns = ("server", "at", "back", "noticed", "forgotten", "copied anew", "whole again")
    made = FittedTable("Failures", 1, columns, ("forgotten", "noticed"))

    def when(seconds: float | None) -> str:
        return "never" if seconds is None else duration(seconds)

    for failure in failures:
        repair = failure.repair
        made.add_row(
            f"{failure.server}" if failure.metadata is None else f"metadata {failure.metadata}",
            duration(failure.at_s),
            when(failure.until_s),
            when(failure.noticed_s),
            size(failure.forgotten_bytes),
            size(repair.copied_bytes) if repair else "",
            when(repair.whole_s) if repair else "",
        )
    return made


def _packets(packets: Packets) -> str:
    if packets.without_credits is not None:
        return (
            f"Packets: {whole(packets.sent)} sent; links waited"
            f" {figure(packets.without_credits)} s for credits, all together."
        )
    losses = f"{whole(packets.lost)} lost at full queues"
    if packets.corrupted:
        losses += f", {whole(packets.corrupted)} corrupted by links"
    return (
        f"Packets: {whole(packets.sent)} sent, {losses};"
        f" {whole(packets.sent_again)} segments sent again,"
        f" {whole(packets.timeouts)} timers run out."
    )


def _breakdown(entries: Sequence[BreakdownEntry]) -> FittedTable:
    columns = ("place", "share %", "ms", "waiting ms")
    made = FittedTable("Time breakdown of a request", 1, columns, ("waiting ms",))
    for entry in entries[:PLACES]:
        made.add_row(
            entry.place,
            percent(entry.share),
            milliseconds(entry.seconds),
            milliseconds(entry.waiting),
        )
    if rest := entries[PLACES:]:
        made.add_row(
            f"{len(rest)} more",
            percent(sum(it.share for it in rest)),
            milliseconds(sum(it.seconds for it in rest)),
            milliseconds(sum(it.waiting for it in rest)),
        )
    return made


def left_out_table(document: Mapping[str, Any]) -> list[RenderableType]:
    """The table of what was left out; none if nothing was."""
    entries = document.get("left_out", ())
    if not entries:
        return []
    made = FittedTable("Left out", 1, ["what", "count", "by", "why"], ("by",))
    for entry in entries:
        made.add_row(
            plain(entry["what"]), whole(entry["count"]), plain(entry["by"]), plain(entry["reason"])
        )
    return [made]


def left_out_line(document: Mapping[str, Any]) -> list[RenderableType]:
    """Return the unsupported operations in one line, most frequent first; empty if there are
    none."""
    counts: dict[str, int] = {}
    for entry in document.get("left_out", ()):
        counts[entry["what"]] = counts.get(entry["what"], 0) + entry["count"]
    if not counts:
        return []
    ranked = sorted(counts.items(), key=lambda it: -it[1])
    named = [f"{whole(count)} {plain(what)}" for what, count in ranked[:KINDS]]
    if more := len(ranked) - KINDS:
        named += [f"{more} further kinds"] if more > 0 else []
    return [Text(f"Not supported, or only in part: {', '.join(named)}.", style="yellow")]
