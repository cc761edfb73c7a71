"""View of a simulation."""

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from headrace.report import tables
from headrace.web.charts import Chart, Series, horizontal_bars
from headrace.web.rendered import show_rendered
from headrace.web.result_views.figure_cards import show_figures
from headrace.web.result_views.operation_charts import (
    known_latency,
    latency_chart,
    operation_chart,
    rates,
)
from headrace.web.result_views.origin import note
from headrace.web.result_views.servers import show_servers
from headrace.web.simulation_figures import busiest_stations, main_figures

Document = Mapping[str, Any]

PLACES = 12
"""Places of the breakdown that are shown by name."""


def show(document: Document) -> None:
    """Show figures, charts and tables. Charts over time need the tables of a saved result."""
    _heading("Summary")
    show_figures(main_figures(document))
    ui.label(document["bottleneck"]["sentence"]).classes("text-lg q-mb-sm").props(
        'data-testid="bottleneck"'
    )
    for it in document.get("left_out") or ():
        note(f"left out: {it['count']:,} {it['what']}: {it['reason']}")
    for it in document.get("warnings") or ():
        note(f"{it['message']}.")
    _heading("Throughput and latency")
    _throughput(document)
    if series := document.get("series"):
        _over_time(series)
    _latency(document)
    if distribution := document.get("latency_distribution"):
        _distribution(distribution)
    _heading("Stations and time")
    show_utilisation(document)
    if servers := document.get("server_series"):
        show_servers(servers)
    _breakdown(document)
    with ui.expansion("All tables").classes("w-full"):
        show_rendered(tables.result(document))


def show_utilisation(document: Document, base: Document | None = None) -> Chart:
    """Show the utilisation of the busiest stations, with those of another run."""
    loads = busiest_stations(document)
    names = [it.station for it in loads]
    series = [Series("mean", names, [100 * it.utilisation for it in loads], "bar")]
    if base is not None:
        before = {it["station"]: 100 * it["utilisation"] for it in base["stations"]}
        series[0] = Series("now", names, series[0].y, "bar")
        series.append(Series("base", names, [before.get(it) for it in names], "bar"))
    elif any(it.busiest > it.utilisation + 0.005 for it in loads):
        series.append(Series("busiest copy", names, [100 * it.busiest for it in loads], "bar"))
    return horizontal_bars("Utilisation of stations", "station", "%", series, most=100.0)


def _heading(text: str) -> None:
    with ui.element("h3").classes("text-lg q-mt-md q-mb-sm"):
        ui.label(text)


def _throughput(document: Document) -> None:
    groups = document["groups"] if len(document["groups"]) > 1 else {"all": document}
    moved = [it for it, rate in document["throughput"].items() if rate]
    operation_chart(
        "Throughput by operation" + (" and group" if len(groups) > 1 else ""),
        "MB/s",
        {
            name: {it: 1e-6 * (group["throughput"].get(it) or 0.0) for it in moved}
            for name, group in groups.items()
        },
    )
    every = rates(document)
    if len(every) > 1 or not moved:
        known = {
            name: {it: group["operations"].get(it, {}).get("per_second") for it in every}
            for name, group in groups.items()
        }
        is_wide = bool(every) and max(every.values()) > 50 * min(every.values())
        operation_chart("Operations a second", "operations/s", known, "log" if is_wide else "value")


def _over_time(series: Mapping[str, Sequence[Any]]) -> None:
    lines: dict[str, dict[float, float]] = {}
    several = len(set(series["group"])) > 1
    # Of several replications the first is drawn.
    first = series["seed"][0] if series["seed"] else 0
    keys = ("seed", "time_s", "group", "operation", "throughput_bytes_per_s")
    for seed, at, group, operation, rate in zip(*(series[it] for it in keys), strict=True):
        if seed == first:
            name = f"{group}: {operation}" if several else str(operation)
            lines.setdefault(name, {})[at] = 1e-6 * rate
    if lines:
        Chart(
            "Throughput over time",
            "simulated time (s)",
            "MB/s",
            [Series(name, list(it), list(it.values())) for name, it in lines.items()],
        )


def _latency(document: Document) -> None:
    latency = known_latency(document)
    figures = {"p50": "median", "p95": "p95", "p99": "p99"}
    kind = "log" if _spans_decades(latency) else "value"
    latency_chart("Latency by operation", latency, figures, kind)


def _spans_decades(latency: Mapping[str, Any]) -> bool:
    values = [it[key] for it in latency.values() for key in ("p50", "p99") if it[key]]
    return bool(values) and min(values) > 0 and max(values) > 50 * min(values)


def _distribution(distribution: Mapping[str, Sequence[float]]) -> None:
    latencies = [1e3 * it for it in distribution["latency_s"]]
    shares = [100 * it for it in distribution["share"]]
    if latencies:
        is_wide = min(latencies) > 0 and max(latencies) > 50 * min(latencies)
        Chart(
            "Distribution of latency",
            "latency (ms)",
            "% of requests",
            [Series("requests that took no longer", latencies, shares)],
            x_kind="log" if is_wide else "value",
        )


def _breakdown(document: Document) -> None:
    entries = document["breakdown"]
    if not entries:
        return
    shown = list(entries[:PLACES])
    if rest := entries[PLACES:]:
        more = {key: sum(it[key] for it in rest) for key in ("seconds", "waiting")}
        shown.append({"place": f"{len(rest)} more", **more})
    names = [it["place"] for it in shown]
    waiting = [1e3 * it["waiting"] for it in shown]
    service = [1e3 * (it["seconds"] - it["waiting"]) for it in shown]
    horizontal_bars(
        "Time breakdown of a request",
        "place",
        "ms",
        [Series("service", names, service, "bar"), Series("waiting", names, waiting, "bar")],
        stacked=True,
    )
