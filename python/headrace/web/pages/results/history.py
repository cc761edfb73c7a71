"""A figure of a scenario over versions and dates."""

import asyncio
from urllib.parse import urlencode

import polars as pl
from nicegui import ui

from headrace.render.echarts import Series
from headrace.store import StoreError, StoreFailure, make_filter
from headrace.store.figures import chosen_pair
from headrace.web.access.users import User
from headrace.web.charts import Chart
from headrace.web.page import address_of
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
        chosen = make_filter(name=name or None, limit=MOST)
        pairs = await asyncio.to_thread(lambda: site().store().operations(chosen)) if name else ()
    except (StoreError, StoreFailure) as error:
        ui.label(str(error)).props('role="alert"').classes("text-negative")
        return
    if name not in names:
        ui.label("Choose a scenario." if not name else f"There is no result named {name}.")
    operations = sorted({pair for pair, _ in pairs})
    operation, figure = chosen_pair(pairs, operation, figure) or ("", "")
    figures = [figure_ for one, figure_ in pairs if one == operation]

    def go() -> None:
        values = {"name": scenario.value, "operation": choice.value, "figure": shown.value}
        ui.navigate.to(address_of("/results/history", values))

    with ui.row().classes("w-full items-end"):
        scenario = ui.select(
            names, label="Scenario", value=name if name in names else None, on_change=go
        ).classes("min-w-64")
        choice = ui.select(operations, label="Operation", value=operation or None, on_change=go)
        choice.classes("min-w-32")
        shown = ui.select(
            {key: title(key) for key in figures}, label="Figure", value=figure or None, on_change=go
        ).classes("min-w-48")
    if not figure:
        return
    rows = await asyncio.to_thread(lambda: site().store().history(chosen, operation, figure))
    _draw(rows, figure, f"{name}: {operation}")
    ui.link("Compare by version", "/results/compare?" + urlencode({"name": name, "by": "version"}))


def _draw(frame: pl.DataFrame, figure: str, of: str) -> None:
    series = []
    for (kind, version), rows in frame.group_by(["kind", "version"], maintain_order=True):
        times = [time.strftime("%Y-%m-%d %H:%M:%S") for time in rows["started"]]
        values = [shown_value(figure, value) for value in rows["value"]]
        series.append(Series(f"{kind}, version {version}", times, values, "scatter"))
    Chart(f"{of}, {title(figure)}", "start of the run (UTC)", title(figure), series, x_kind="time")
