"""Charts of a simulation."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from headrace.quantities import duration, figure, percent
from headrace.render import units
from headrace.render.blocks import Axis, Chart, HeatMap, Line, Span, bars
from headrace.simulate.report import BreakdownEntry, GroupReport, Report

if TYPE_CHECKING:
    import polars as pl

MOST_PLACES = 12
"""Bars of the breakdown that are shown."""
WIDE = 50.0
"""Values whose ratio is larger are drawn on a logarithmic axis."""
MOST_STATIONS = 30
"""Stations that are drawn."""
UNEQUAL = 0.005
"""Difference of utilisations from which the busiest copy is drawn."""
MARKED = (0.50, 0.95, 0.99)
MOST_RECORDED = 8
"""Lines of what is recorded over time: those with the largest means."""
RECORDED = {
    "dirty": ("dirty_bytes", "Dirty data over time", Axis("dirty data", units.MEGABYTES)),
    "hits": (
        "hit_ratio",
        "Cache hits over time",
        Axis("hits of pages asked for", units.SHARE, most=1.0),
    ),
    "queues": ("queue", "Queues over time", Axis("mean number waiting in one copy")),
}
"""Figures that are recorded over time, by the names of their pictures."""


def charts(report: Report, **frames: "pl.DataFrame") -> list[Chart | HeatMap]:
    """Return the charts of a simulation; `view` explains its parameters."""
    drawn: list[Chart | HeatMap] = [*_throughput(report)]
    if (series := frames.get("series")) is not None:
        drawn.append(_over_time(report, series))
    drawn += _latency(report)
    if (distribution := frames.get("latency_distribution")) is not None:
        drawn.append(_distribution(distribution))
    drawn.append(utilisation(report))
    if (servers := frames.get("server_series")) is not None:
        drawn += server_map(servers)
    drawn += _places(report.breakdown)
    if (recorded := frames.get("over_time")) is not None:
        drawn += _recorded(recorded)
    return drawn


def _scale(values: Iterable[float | None]) -> Literal["linear", "log"]:
    """Return the scale that shows values which may be far apart."""
    known = [value for value in values if value is not None]
    return "log" if known and 0 < min(known) * WIDE < max(known) else "linear"


def _throughput(report: Report) -> list[Chart]:
    """Return throughput and rates by operation and, of several, by group."""
    groups: Mapping[str, Report | GroupReport] = {"all": report}
    if len(report.groups) > 1:
        groups = report.groups
    moved = [name for name, rate in report.throughput.items() if rate]
    rates = {name: one.per_second for name, one in report.operations.items() if one.per_second}
    drawn = bars(
        "operations",
        "Throughput by operation" + (" and group" if len(groups) > 1 else ""),
        "operation",
        Axis("", units.THROUGHPUT),
        {
            name: {way: group.throughput.get(way) or 0.0 for way in moved}
            for name, group in groups.items()
        },
    )
    if len(rates) > 1 or not moved:
        drawn += bars(
            "operations",
            "Operations a second",
            "operation",
            Axis("", units.RATE, _scale(rates.values())),
            {
                name: {
                    rate: group.operations[rate].per_second if rate in group.operations else None
                    for rate in rates
                }
                for name, group in groups.items()
            },
        )
    return drawn


def _latency(report: Report) -> list[Chart]:
    known = {name: value for name, value in report.latency.items() if value.count}
    times = {
        label: {name: getattr(value, key) for name, value in known.items()}
        for key, label in {"p50": "median", "p95": "p95", "p99": "p99"}.items()
    }
    scale = _scale(time for each in times.values() for time in each.values())
    y = Axis("", units.MILLISECONDS, scale)
    return bars("operations", "Latency by operation", "operation", y, times)


def utilisation(report: Report, base: Report | None = None) -> Chart:
    """Return the utilisation of the busiest stations, with that of another run."""
    counted = [
        station
        for station in report.stations
        if station.servers is not None and (station.visits or station.unfinished)
    ]
    shown = sorted(counted, key=lambda node: (-node.utilisation, node.station))[:MOST_STATIONS]
    names = [station.station for station in shown]
    busy = [station.utilisation for station in shown]
    texts = [f"{percent(node.utilisation)} %, {figure(node.queue)} waiting" for node in shown]
    lines = [Line("mean" if base is None else "now", names, busy, shape="bar", texts=texts)]
    if base is not None:
        before = {station.station: station.utilisation for station in base.stations}
        lines.append(Line("base", names, [before.get(name) for name in names], shape="bar"))
    elif any(station.most_utilisation > station.utilisation + UNEQUAL for station in shown):
        most = [station.most_utilisation for station in shown]
        lines.append(Line("busiest copy", names, most, shape="mark"))
    y = Axis("time that servers are busy", units.SHARE, most=1.0)
    empty = "no station was visited"
    return Chart(
        "utilisation",
        "Utilisation of stations",
        Axis("station", scale="names"),
        y,
        lines,
        empty=empty,
    )


def first_places(entries: Sequence[BreakdownEntry], most: int) -> list[BreakdownEntry]:
    """Return the first places of a breakdown, and the others together."""
    shown, rest = list(entries[:most]), entries[most:]
    if rest:
        shares, seconds, waiting = (
            sum(getattr(row, key) for row in rest) for key in ("share", "seconds", "waiting")
        )
        shown.append(BreakdownEntry(f"{len(rest)} more", shares, seconds, waiting))
    return shown


def _places(entries: Sequence[BreakdownEntry]) -> list[Chart]:
    shown = first_places(entries, MOST_PLACES)
    times = {
        "service": {entry.place: entry.seconds - entry.waiting for entry in shown},
        "waiting": {entry.place: entry.waiting for entry in shown},
    }
    title, y = "Time breakdown of a request", Axis("", units.MILLISECONDS)
    return bars("breakdown", title, "place", y, times, is_stacked=True)


def _distribution(points: "pl.DataFrame") -> Chart:
    """Return the share of requests that took no longer, over all requests."""
    times, shares = points["latency_s"].to_list(), points["share"].to_list()
    lines = []
    if any(times):
        marked = [times[min(bisect_left(shares, part), len(times) - 1)] for part in MARKED]
        texts = [
            f"p{100 * part:.0f}  {duration(time)}"
            for part, time in zip(MARKED, marked, strict=True)
        ]
        across = [times[0], *times]
        lines = [
            Line("requests that took no longer", across, [0.0, *shares], shape="level"),
            Line("percentiles", marked, list(MARKED), shape="mark", texts=texts),
        ]
    return Chart(
        "latency",
        "Distribution of latency",
        Axis("latency", units.MILLISECONDS, "log"),
        Axis("requests that took no longer", units.SHARE, most=1.0),
        lines,
        empty="no request took any time",
    )


def _over_time(report: Report, series: "pl.DataFrame") -> Chart:
    """Return a line for each group and operation, the mean over replications."""
    title = "Throughput over time"
    x, y = Axis("simulated time", units.TIME), Axis("throughput", units.THROUGHPUT)
    if series.is_empty():
        return Chart("throughput", title, x, y, [], empty="no bytes were moved")
    from headrace.simulate.frames import mean_rates

    ends = [run.simulated_seconds for run in report.replications] or [report.simulated_seconds]
    requests = report.latency["all"].count if "all" in report.latency else 0
    edges, rates = mean_rates(series, ends, requests)
    several, many = (len({key[at] for key in rates}) > 1 for at in (0, 1))
    lines = []
    for (group, operation), values in rates.items():
        names = [group] * several + [operation] * many
        lines.append(
            Line(
                ", ".join(names) or operation,
                edges,
                [*values, values[-1]],
                shape="level",
                group=group if several else "",
            )
        )
    away = [
        Span("a server is down", one.at_s, edges[-1] if one.until_s is None else one.until_s)
        for one in report.failures
    ]
    return Chart("throughput", title, x, y, lines, spans=away)


def server_map(
    series: "pl.DataFrame", windows: int | None = None, most: int | None = None
) -> list[HeatMap]:
    """Return how busy each data server's busiest station was, window after window.

    Parameters:
        series: Columns of `Result.server_series`. The first replication is shown.
        windows: Most windows; longer ones are made if there are more.
        most: Most servers, those that are busiest.
    """
    from headrace.simulate.frames import busy_servers

    times, servers = busy_servers(series, windows)
    # Of cards and devices that are links of the network, nothing is known by server.
    if len(servers) < 2 or not any(any(server.busy) for server in servers):
        return []
    title = "Data servers over time"
    if most is not None and len(servers) > most:
        title += f": the {most} busiest of {len(servers)}"
        kept = sorted(servers, key=lambda server: -sum(busy or 0.0 for busy in server.busy))[:most]
        servers = [server for server in servers if server in kept]
    return [
        HeatMap(
            "servers",
            title,
            Axis("start of the window", units.TIME),
            Axis("server"),
            [f"{time:.4g}" for time in times],
            [server.name for server in servers],
            [server.busy for server in servers],
            units.BUSY,
            most=1.0,
            downwards=True,
        )
    ]


def _recorded(table: "pl.DataFrame") -> list[Chart]:
    """Return dirty bytes, hit ratios and queues over time, the largest of each."""
    import polars as pl

    drawn = []
    for picture, (column, title, y) in RECORDED.items():
        known = table.filter(pl.col("figure") == column, pl.col("value").is_not_null())
        if column not in table["figure"]:
            continue
        means = known.group_by("of", maintain_order=True).agg(pl.col("value").mean())
        largest = means.sort("value", descending=True, maintain_order=True).head(MOST_RECORDED)
        if (largest["value"] > 0).any():
            largest = largest.filter(pl.col("value") > 0)
        lines = []
        for name in largest["of"]:
            part = known.filter(pl.col("of") == name)
            lines.append(Line(name, part["time_s"].to_list(), part["value"].to_list()))
        x, empty = Axis("simulated time", units.TIME), "nothing was recorded"
        drawn.append(Chart(picture, title, x, y, lines, empty=empty))
    return drawn
