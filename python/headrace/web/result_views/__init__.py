"""Results as pages show them."""

import itertools
import pkgutil
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nicegui import ui

from headrace import kinds
from headrace.environment import of_document
from headrace.plain_text import plain
from headrace.render.blocks import Block, Chart, Headline, HeatMap, Note, Table, View
from headrace.web.charts import show_chart
from headrace.web.heat_map import show_heat_map
from headrace.web.layout import when_opened
from headrace.web.result_views.figure_cards import show_figures
from headrace.web.result_views.generic import show_document
from headrace.web.result_views.origin import show_origin
from headrace.web.tables import show_table

if TYPE_CHECKING:
    import polars as pl

MOST_CHARTS = 8
"""Charts in a row that are all shown."""


def show_result(document: Any, frames: Mapping[str, "pl.DataFrame"] | None = None) -> None:
    """Draw a result with its tables: by its view, or as tables of all its fields."""
    if not isinstance(document, Mapping):
        ui.label("There is no result." if document is None else str(document))
        return
    kind = kinds.KINDS.get(kinds.kind_of(document))
    if kind is None or not (kind.view or kind.page):
        show_document(document)
        return
    with ui.element("div").classes("w-full") as place:
        try:
            if kind.page:
                pkgutil.resolve_name(kind.page)(document)
            else:
                show_blocks(kinds.blocks(kind.name, document, **(frames or {})))
                if of_document(document):
                    show_origin(document)
        except kinds.UNSHOWN:
            # A document of another version, or damaged.
            place.clear()
            with place:
                ui.label("This result lacks fields of its kind: all its fields follow.")
    with ui.expansion("All fields").classes("w-full") as fields:
        when_opened(fields, lambda: show_document(document))


def show_blocks(view: View) -> None:
    """Draw the blocks of a view. If many charts are in a row, those of one topic are shown."""
    for drawings, group in itertools.groupby(view, lambda part: isinstance(part, Chart | HeatMap)):
        if drawings:
            _show_charts([part for part in group if isinstance(part, Chart | HeatMap)])
        else:
            for block in group:
                _show_text(block)


def _show_text(block: Block) -> None:
    match block:
        case Table():
            names = [column.name for column in block.columns]
            title = block.title.strip() or "Figures"
            show_table(title, names, block.rows(), left=set(range(block.names)) or {0})
            if block.caption:
                ui.label(block.caption).classes("text-sm")
        case Headline() if block.figures:
            show_figures(block.figures)
        case Note() if text := plain(f"{block.name}{block.text}").strip():
            label = ui.label(text).classes("whitespace-pre-line")
            if block.name:
                label.classes("font-bold")


def single_bar(chart: Chart | HeatMap) -> tuple[str, str] | None:
    """Return the name and figure of a chart with one bar; None for any other."""
    if isinstance(chart, HeatMap) or len(chart.lines) != 1 or len(chart.lines[0].x) != 1:
        return None
    (line,) = chart.lines
    if line.shape != "bar" or line.y[0] is None:
        return None
    return f"{chart.title}, {chart.x.unit.text(line.x[0])}", chart.y.unit.full(line.y[0])


def _show_charts(charts: Sequence[Chart | HeatMap]) -> None:
    single = dict(filter(None, map(single_bar, charts)))
    if single:
        show_figures(single)
        charts = [chart for chart in charts if single_bar(chart) is None]
    if len(charts) <= MOST_CHARTS or not all(chart.topic for chart in charts):
        for chart in charts:
            show_chart(chart) if isinstance(chart, Chart) else show_heat_map(chart)
        return
    topics = list(dict.fromkeys(chart.topic for chart in charts))

    def draw(topic: str) -> None:
        place.clear()
        with place:
            _show_charts([chart for chart in charts if chart.topic == topic])

    ui.select(
        topics, value=topics[0], label="Charts", on_change=lambda event: draw(str(event.value))
    ).classes("w-64")
    place = ui.element("div").classes("w-full")
    draw(topics[0])
