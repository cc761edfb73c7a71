"""Results side by side, simulated and measured ones too."""

import asyncio
from collections.abc import Mapping
from typing import Any

from nicegui import ui

from headrace import kinds
from headrace.render.echarts import Series
from headrace.store import StoreError, StoreFailure
from headrace.store.filters import By
from headrace.views.comparison import group_names
from headrace.web.access.users import User
from headrace.web.charts import Chart
from headrace.web.layout import when_opened
from headrace.web.page import address_of
from headrace.web.pages.results.figures import shown_value, title
from headrace.web.site import site

MOST_CHARTS = 2
"""Charts that are open: with some hundred results they take long to draw."""


async def build(user: User, ids: str = "", by: str = "", name: str = "", step: str = "") -> None:
    """Draw a comparison of results, or of a scenario's results by version or date."""
    with ui.row().classes("w-full items-end"):
        chosen = ui.input("Results", value=ids, placeholder="identifiers, the baseline first")
        chosen.classes("grow")
        scenario = ui.input("Or all of the scenario", value=name)
        key = ui.select(
            {"": "", **{str(way): str(way) for way in By}},
            label="by",
            value=by if by in list(By) else "",
        ).classes("min-w-24")

        def go() -> None:
            values = {"ids": chosen.value, "name": scenario.value, "by": key.value, "step": step}
            ui.navigate.to(address_of("/results/compare", values))

        ui.button("Compare", on_click=go)
    identifiers = [word.strip() for word in ids.split(",") if word.strip()]
    if not identifiers and not (name and by):
        ui.label("Select results in the list, or name a scenario and version or date.")
        ui.link("All results", "/results")
        return
    try:
        compared = await asyncio.to_thread(
            lambda: (
                site()
                .store()
                .compare(identifiers, by=by or None, name=name or None, step=step or None)
                .json()
            )
        )
    except (StoreError, StoreFailure, ValueError) as error:
        ui.label(str(error)).props('role="alert"').classes("text-negative")
        return
    # It escapes all texts of results.
    ui.html(kinds.html("comparison", compared), sanitize=False).classes("hr-tables q-mt-md")
    _charts(compared)


def _charts(compared: Mapping[str, Any]) -> None:
    """Draw a chart for each figure that more than one group has."""
    by_figure: dict[str, dict[str, dict[str, float]]] = {}
    for row in compared["figures"]:
        of_it = by_figure.setdefault(row["figure"], {}).setdefault(row["group"], {})
        of_it[row["operation"]] = shown_value(row["figure"], row["value"])
    names = group_names(compared)

    def draw(figures: list[str]) -> None:
        with ui.element("div").classes("grid grid-cols-1 lg:grid-cols-2 gap-4 w-full"):
            for figure in figures:
                _chart(figure, by_figure[figure], names)

    shown = [figure for figure, groups in by_figure.items() if len(groups) > 1]
    draw(shown[:MOST_CHARTS])
    if len(shown) > MOST_CHARTS:
        rest = ", ".join(title(figure) for figure in shown[MOST_CHARTS:])
        with ui.expansion("Further charts", caption=rest).classes("w-full") as box:
            when_opened(box, lambda: draw(shown[MOST_CHARTS:]))


def _chart(
    figure: str, groups: Mapping[str, Mapping[str, float]], names: Mapping[str, str]
) -> None:
    operations = list(dict.fromkeys(name for values in groups.values() for name in values))
    series = [
        Series(names[group], operations, [values.get(key) for key in operations], "bar")
        for group, values in groups.items()
    ]
    Chart(title(figure), "operation", title(figure), series, x_kind="category")
