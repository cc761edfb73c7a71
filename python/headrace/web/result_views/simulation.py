"""View of a simulation."""

from collections.abc import Mapping
from typing import Any

import polars as pl
from nicegui import ui

from headrace.kinds import SIMULATED, read
from headrace.simulate.frames import SERVER_SERIES, over_time
from headrace.simulate.report import Report
from headrace.views.simulated import main_figures, tables
from headrace.views.simulation_charts import charts, server_map, utilisation
from headrace.web.charts import Chart, show_chart
from headrace.web.layout import heading, when_opened
from headrace.web.result_views import show_blocks
from headrace.web.result_views.figure_cards import show_figures
from headrace.web.result_views.origin import note

Document = Mapping[str, Any]

WINDOWS, SERVERS = 30, 40
"""Most columns and rows of the map of servers."""


def show(document: Document) -> None:
    """Show figures, charts and tables. Charts over time need the tables of a saved result."""
    report: Report = read(SIMULATED, document)
    _heading("Summary")
    show_figures(main_figures(document))
    ui.label(report.bottleneck.sentence).classes("text-lg q-mb-sm").props(
        'data-testid="bottleneck"'
    )
    for left in report.left_out:
        note(f"left out: {left.count:,} {left.what}: {left.reason}")
    for warning in report.warnings:
        note(f"{warning.message}.")
    _heading("Charts")
    frames = {
        name: pl.DataFrame(document[name])
        for name in ("series", "latency_distribution")
        if document.get(name)
    }
    if document.get("over_time"):
        frames["over_time"] = over_time(dict(document))
    drawn = charts(report, **frames)
    if servers := document.get("server_series"):
        columns = {name: servers[name] for name in SERVER_SERIES}
        drawn += server_map(pl.DataFrame(columns, schema=SERVER_SERIES), WINDOWS, SERVERS)
    show_blocks(drawn)
    with ui.expansion("All tables").classes("w-full") as box:
        when_opened(box, lambda: show_blocks(tables(report)))


def show_utilisation(document: Document, base: Document | None = None) -> Chart:
    """Show the utilisation of the busiest stations, with those of another run."""
    before = None if base is None else read(SIMULATED, base)
    return show_chart(utilisation(read(SIMULATED, document), before))


def _heading(text: str) -> None:
    heading(text, 3)
