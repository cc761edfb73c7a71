"""A simulation: throughput and latency, stations, servers, caches, and what limits it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from headrace.fields import to_document
from headrace.io500 import Io500
from headrace.quantities import duration, figure, megabytes, milliseconds, percent, size, whole
from headrace.render import units
from headrace.render.blocks import Block, Column, Note, Table, View
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
)
from headrace.training import Training
from headrace.views import io500, training
from headrace.views.parts import left_out_line, left_out_table, warning_note
from headrace.views.simulation_charts import charts, first_places

if TYPE_CHECKING:
    import polars as pl

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
LESS_TO_STATIONS = ("servers", "copies", "unfinished", "visits", "busiest %", "service ms", "queue")
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
PLACES = 10
"""Rows of the breakdown that are shown."""


def view(report: Report, **frames: "pl.DataFrame") -> View:
    """Return the tables of a simulation, and its charts.

    Parameters:
        report: The simulation.
        frames: Its tables `series`, `latency_distribution`, `server_series` and `over_time`, as
            far as there are any, for charts of them.
    """
    heading, *blocks = tables(report)
    return [heading, *charts(report, **frames), *blocks]


def tables(report: Report) -> list[Block]:
    """Return the heading, the tables and the notes of a simulation."""
    first = [warning for warning in report.warnings if warning.condition == ZERO_DEFAULT]
    blocks: list[Block] = [
        _heading(report),
        *map(warning_note, first),
        *training.tables(report.trainings, to_document(report.intervals)),
        *io500.tables(report.io500),
        _performance(report),
    ]
    if report.unwritten is not None:
        blocks.append(Note(_unwritten(report.unwritten)))
    if report.latency_from_intended:
        blocks.append(_from_intended(report.latency_from_intended))
    if report.stations:
        blocks.append(_stations(report.stations))
    if _uneven(report.servers):
        blocks.append(_servers(report.servers))
    if asked := [one for one in report.caches if one.hit_ratio is not None and _is_shown(one)]:
        blocks.append(_caches(asked))
    if report.breakdown:
        blocks.append(_breakdown(report.breakdown))
    if report.failures:
        blocks.append(_failures(report.failures))
        if failed := sum(operation.failed for operation in report.operations.values()):
            blocks.append(Note(f"\n{whole(failed)} requests failed without an answer."))
    if report.packets is not None:
        blocks.append(Note("\n" + _packets(report.packets)))
    if text := unfinished(report.unfinished):
        blocks.append(Note("\n" + text))
    blocks += [Note("\n" + line) for line in map(_replay, report.replays) if line]
    blocks += left_out_table(report.left_out)
    blocks.append(Note("", "\n" + report.bottleneck.sentence))
    if report.stop is not None:
        blocks.append(Note(_end(report, report.stop)))
    blocks += [warning_note(warning) for warning in report.warnings if warning not in first]
    return [*blocks, *left_out_line(report.left_out)]


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


def _heading(report: Report) -> Note:
    description = report.scenario.description
    runs = report.replications
    seeds = f"seed {report.seed}"
    if runs:
        seeds = f"{len(runs)} replications of seed {runs[0].seed}"
    cost = "" if report.wall_seconds is None else f" in {duration(report.wall_seconds)}"
    cost += "" if report.events is None else f", {whole(report.events)} events"
    line = f"{seeds}; {duration(report.simulated_seconds)} simulated{cost}"
    return Note(f"{f': {description}' if description else ''}\n{line}", report.scenario.name)


def _performance(report: Report) -> Table:
    groups = report.groups
    several = len(groups) > 1
    shared = any(group.share for group in groups.values()) and several
    columns = ["group"] * several + ["operation", "requests", "data", "MB/s", "operations/s"]
    columns += [f"{name} ms" for name in LATENCIES] + ["share %"] * shared
    widths = report.intervals or HalfWidths()
    rows: list[list[str]] = []
    sections = []

    def add(cells: list[str], name: str = "", share: str = "") -> None:
        rows.append([*([name] * several), *cells, *([share] * shared)])

    if (both := report.synced_writes) is not None:
        moved = NONE if both.bytes is None else size(both.bytes)
        cells = ["write and sync together", NONE, moved, megabytes(both.throughput)]
        add([*cells, *([NONE] * (1 + len(LATENCIES)))])
    for cells in _operations(report, widths):
        add(cells)
    for name, group in groups.items() if several else ():
        sections.append(len(rows))
        of_group = widths.groups.get(name, HalfWidths())
        share = ""
        if group.share:
            width = None if of_group.share is None else of_group.share.mean
            share = _with_interval(percent(group.share.mean), width, percent)
        for cells in _operations(group, of_group):
            first = len(rows) == sections[-1]
            add(cells, name if first else "", share if first else "")
    caption = ""
    if report.intervals is not None:
        caption = "means over the replications \N{PLUS-MINUS SIGN} their 95 % intervals"
    return Table.of_rows(
        "Throughput and latency",
        columns,
        rows,
        several + 1,
        LESS_TO_PERFORMANCE,
        sections,
        caption=caption,
    )


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


def _from_intended(late: Mapping[str, Latency]) -> Table:
    """Return the response times of a timed trace, from the intended start of requests."""
    columns = ["operation", "requests", *(f"{name} ms" for name in LATENCIES)]
    names = [name for name in late if name != "all"]
    rows = [
        [
            name,
            whole(late[name].count),
            *(milliseconds(getattr(late[name], key)) for key in LATENCIES),
        ]
        for name in names + ["all"] * (len(names) > 1)
    ]
    title = "Latency from the intended start"
    return Table.of_rows(title, columns, rows, 1, LESS_TO_PERFORMANCE)


def unfinished(left: Unfinished | None) -> str:
    """Return the number of requests that were due before the end of the run and not done, if
    any."""
    if left is None or left.mean is None or left.max is None:
        return ""
    text = f"{whole(left.count)} requests were due before the end of the run and not"
    text += "" if left.in_flight is None else f" done, {whole(left.in_flight)} of them"
    return (
        f"{text} issued: their latency was {duration(left.mean)} on"
        f" average and {duration(left.max)} at most by then,"
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


def _stations(stations: Sequence[Station]) -> Table:
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
    rows = []
    for station in sorted(stations, key=lambda server: -server.utilisation):
        if not station.visits and not station.unfinished:
            continue
        # With unlimited servers there is no queue.
        counted = station.servers is not None
        rows.append(
            [
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
            ]
        )
    return Table.of_rows("Stations", columns, rows, 1, LESS_TO_STATIONS)


def _uneven(servers: Sequence[Server]) -> bool:
    """Return whether servers are unlike, or one is much busier than the mean."""
    if len(servers) < 2:
        return False
    busy = [server.utilisation for server in servers]
    return any(server.group for server in servers) or max(busy) > sum(busy) / len(busy) + UNEVEN


def _servers(servers: Sequence[Server]) -> Table:
    columns = ("server", "group", "busy %", "busiest station", "jobs", "MB/s", "requests", "ms")
    rows: list[list[str]] = []
    ranked = sorted(servers, key=lambda row: -row.utilisation)
    for server in ranked[:SERVERS]:
        rows.append(
            [
                whole(server.server),
                server.group or "",
                percent(server.utilisation),
                (server.busiest or "").split("/", 2)[-1],
                figure(server.in_progress),
                megabytes(server.throughput),
                whole(server.requests),
                "" if server.latency is None else milliseconds(server.latency),
            ]
        )
    caption = ""
    if rest := ranked[SERVERS:]:
        caption = f"the busiest {SERVERS}; {len(rest)} more, the least busy"
        caption += f" {percent(rest[-1].utilisation)} %"
    return Table.of_rows("Data servers", columns, rows, 2, LESS_TO_SERVERS, caption=caption)


def _is_shown(cache: Cache) -> bool:
    """Return whether a cache is in the table: a client knows nearly all layouts it needs."""
    return not cache.cache.endswith("/layout cache")


def _caches(caches: Sequence[Cache]) -> Table:
    counts = ("hits", "read ahead", "misses")
    data = ("hit data", "data read ahead", "miss data")
    columns = ("cache", "copies", "hit %", *counts, *data, "evicted")
    rows = [
        (
            cache.cache,
            whole(cache.copies),
            NONE if cache.hit_ratio is None else percent(cache.hit_ratio),
            *map(whole, (cache.hits, cache.read_ahead, cache.misses)),
            *(
                size(amount) if amount else NONE
                for amount in (cache.hit_bytes, cache.read_ahead_bytes, cache.miss_bytes)
            ),
            size(cache.evicted_bytes) if cache.evicted_bytes else whole(cache.evictions),
        )
        for cache in caches
    ]
    return Table.of_rows("Caches", columns, rows, 1, LESS_TO_CACHES)


def _failures(failures: Sequence[Outage]) -> Table:
    columns = ("server", "at", "back", "noticed", "forgotten", "copied anew", "whole again")

    def when(seconds: float | None) -> str:
        return "never" if seconds is None else duration(seconds)

    rows = [
        (
            f"{outage.server}" if outage.metadata is None else f"metadata {outage.metadata}",
            duration(outage.at_s),
            when(outage.until_s),
            when(outage.noticed_s),
            size(outage.forgotten_bytes),
            size(outage.repair.copied_bytes) if outage.repair else "",
            when(outage.repair.whole_s) if outage.repair else "",
        )
        for outage in failures
    ]
    return Table.of_rows("Failures", columns, rows, 1, ("forgotten", "noticed"))


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


def _breakdown(entries: Sequence[BreakdownEntry]) -> Table:
    shown = first_places(entries, PLACES)
    return Table(
        "Time breakdown of a request",
        [
            Column("place", [entry.place for entry in shown]),
            Column("share %", [entry.share for entry in shown], units.SHARE),
            Column("ms", [entry.seconds for entry in shown], units.MILLISECONDS),
            Column("waiting ms", [entry.waiting for entry in shown], units.MILLISECONDS, 1),
        ],
    )


def main_figures(document: Mapping[str, Any]) -> dict[str, str]:
    """Return the figures that a reader looks at first, with their units, by name."""
    latency = document["latency"].get("all", {})
    figures: dict[str, str] = {}
    for one in document.get("trainings", [])[:1]:
        figures |= training.main_figures(msgspec.convert(one, Training))
    if document.get("io500"):
        figures |= io500.main_figures(msgspec.convert(document["io500"], Io500))
    if both := document.get("synced_writes"):
        figures["write and sync together"] = f"{megabytes(both['throughput'])} MB/s"
    for name, rate in document["throughput"].items():
        if rate:
            into = document["operations"].get(name, {}).get("into")
            label = f"{name} into {into}" if into else f"{name} throughput"
            figures[label] = f"{megabytes(rate)} MB/s"
        elif document["operations"].get(name, {}).get("bytes"):
            figures[f"{name} throughput"] = "no time"
    if latency.get("count"):
        figures["requests"] = whole(latency["count"])
    for key, name in (
        ("mean", "mean latency"),
        ("p50", "median latency"),
        ("p95", "p95 latency"),
        ("p99", "p99 latency"),
        ("max", "highest latency"),
    ):
        if latency.get(key) is not None:
            figures[name] = f"{milliseconds(latency[key])} ms"
    if unwritten := document.get("unwritten"):
        figures["not written at the end"] = size(sum(unwritten.values()))
    figures["simulated time"] = duration(document["simulated_seconds"])
    return figures
