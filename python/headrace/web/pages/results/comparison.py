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
from headrace.web.page import address_of
from headrace.web.pages.results.figures import shown_value, title
from headrace.web.site import site


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
    with ui.element("div").classes("grid grid-cols-1 lg:grid-cols-2 gap-4 w-full"):
        for figure, groups in by_figure.items():
            if len(groups) < 2:
                continue
            operations = list(dict.fromkeys(name for of_it in groups.values() for name in of_it))
            Chart(
                title(figure),
                "operation",
                title(figure),
                [
                    Series(names[group], operations, [of_it.get(key) for key in operations], "bar")
                    for group, of_it in groups.items()
                ],
                x_kind="category",
            )
