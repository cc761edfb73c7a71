"""A figure of a scenario over versions and dates."""

import asyncio
from urllib.parse import urlencode

import polars as pl
from nicegui import ui

from headrace.render.echarts import Series
from headrace.store import StoreError, StoreFailure, make_filter
from headrace.store.figures import FIGURES
from headrace.web.access.users import User
from headrace.web.charts import Chart
from headrace.web.pages.results.figures import shown_value, title
from headrace.web.site import site

MOST = 2000
"""Newest results that are drawn."""


async def build(
    user: User, name: str = "", result: str = "", operation: str = "", figure: str = ""
) -> None:
    """Draw a figure of the results with a name over time."""
    try:
        if result:
            name = await asyncio.to_thread(lambda: site().store().shown(result).name)
        names = await asyncio.to_thread(lambda: list(site().store().names()))
        wanted = make_filter(name=name or None, limit=MOST)
        pairs = await asyncio.to_thread(lambda: site().store().operations(wanted)) if name else ()
    except (StoreError, StoreFailure) as error:
        ui.label(str(error)).props('role="alert"').classes("text-negative")
        return
    if name not in names:
        ui.label("Choose a scenario." if not name else f"There is no result named {name}.")
    operations = sorted({it for it, _ in pairs})
    operation = operation if operation in operations else next(iter(operations), "")
    figures = [it for one, it in pairs if one == operation]
    if figure not in figures:
        figure = next((it for it in FIGURES if it in figures), "")

    def go() -> None:
        values = {"name": scenario.value, "operation": what.value, "figure": shown.value}
        ui.navigate.to("/results/history?" + urlencode({k: it for k, it in values.items() if it}))

    with ui.row().classes("w-full items-end"):
        scenario = ui.select(
            names, label="Scenario", value=name if name in names else None, on_change=go
        ).classes("min-w-64")
        what = ui.select(operations, label="Operation", value=operation or None, on_change=go)
        what.classes("min-w-32")
        shown = ui.select(
            {it: title(it) for it in figures}, label="Figure", value=figure or None, on_change=go
        ).classes("min-w-48")
    if not figure:
        return
    found = await asyncio.to_thread(lambda: site().store().history(wanted, operation, figure))
    _draw(found, figure, f"{name}: {operation}")
    ui.link("Compare by version", "/results/compare?" + urlencode({"name": name, "by": "version"}))


def _draw(found: pl.DataFrame, figure: str, of: str) -> None:
    series = []
    for (kind, version), rows in found.group_by(["kind", "version"], maintain_order=True):
        times = [it.strftime("%Y-%m-%d %H:%M:%S") for it in rows["started"]]
        values = [shown_value(figure, it) for it in rows["value"]]
        series.append(Series(f"{kind}, version {version}", times, values, "scatter"))
    Chart(f"{of}, {title(figure)}", "start of the run (UTC)", title(figure), series, x_kind="time")
