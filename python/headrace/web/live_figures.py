"""Charts of a job that runs: its figures over time, and those of its finished steps."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from nicegui import ui

from headrace.progress_events import STEP, Progress
from headrace.render.echarts import Series
from headrace.web.charts import Chart
from headrace.web.jobs import Job
from headrace.web.jobs.watch import JobView

Show = Callable[[JobView], object]
"""Shows the state of a job."""

LIVE: dict[tuple[str, ...], Callable[[Job], Show]] = {}
"""Charts of commands that have charts of their own."""

REDRAW_S = 1.0
"""Seconds between two drawings, at least."""
NOT_DRAWN = frozenset({"seconds", "simulated seconds", STEP, "name", "repetition"})
STEP_FIGURES = ("throughput", "operations", "achieved", "MB/s", "latency")
"""Figures of finished steps that are drawn if none has a unit in its name."""
UNIT = re.compile(r"(.*) \(([^()]*/s)\)")
"""Name of a figure with its unit, such as `create (operations/s)`."""
RATES = ("throughput", "synced_writes")
"""Figures in bytes a second, which are drawn in MB/s."""
SECONDS = ("latency",)
"""How the names of figures in seconds begin. They are drawn in milliseconds."""


def live_figures(job: Job) -> Show:
    """Draw the charts of a job and return what shows its state in them."""
    draw = LIVE.get(job.request.command)
    return GenericFigures().show if draw is None else draw(job)


class GenericFigures:
    """A chart of each figure over time, and charts of the finished steps."""

    def __init__(self) -> None:
        self._place = ui.element("div").classes("hr-live")
        ui.add_css(
            ".hr-live { display: grid; gap: 16px; width: 100%;"
            " grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); }"
        )
        self._charts: dict[str, Chart] = {}
        self._drawn = 0.0
        self._counts = (0, 0.0)

    def show(self, view: JobView) -> None:
        """Show the figures of a job."""
        counts = (len(view.steps), view.moments[-1].time if view.moments else 0.0)
        now = time.monotonic()
        is_soon = now - self._drawn < REDRAW_S and not view.job.state.ended
        if counts == self._counts or (is_soon and counts[0] == self._counts[0]):
            return
        self._counts, self._drawn = counts, now
        for title, (x, y, series, kind) in charts_of(view.moments, view.steps).items():
            chart = self._charts.get(title)
            if chart is None:
                with self._place:
                    chart = Chart(title, x, y, series, x_kind=kind, height=280)
                self._charts[title] = chart
            else:
                chart.show(series)


Drawn = tuple[str, str, Sequence[Series], str]
"""The x axis, the y axis, the series and the kind of the x axis of a chart."""


def charts_of(moments: Sequence[Progress], steps: Sequence[Progress]) -> dict[str, Drawn]:
    """Return the charts of figures by title."""
    drawn: dict[str, Drawn] = {}
    if steps:
        drawn |= _of_steps(steps)
    if moments:
        begun = moments[0].time
        for name in _numeric(moments):
            points = [(moment.time - begun, moment.figures.get(name)) for moment in moments]
            title, factor = _scaled(name)
            series = _series(title, points, factor)
            drawn[f"{title} over time"] = ("time (s)", title, [series], "value")
    return drawn


def _of_steps(steps: Sequence[Progress]) -> dict[str, Drawn]:
    figures = [step.figures for step in steps]
    # Steps of a sweep are points of one curve; jobs and points of a study are not.
    if all({"achieved", "latency", "processes"} <= figure.keys() for figure in figures):
        return _of_loads(figures)
    by_unit: dict[str, list[Series]] = {}
    labels = [f"{step.figures[STEP]}: {step.text}" for step in steps]
    numeric = _numeric(steps)
    measured = [text for text in numeric if UNIT.fullmatch(text)] or [
        it for it in numeric if it in STEP_FIGURES
    ]
    for name in measured:
        match = UNIT.fullmatch(name)
        title, factor = (match[1], 1.0) if match else _scaled(name)
        points = list(zip(labels, (figure.get(name) for figure in figures), strict=True))
        bars = msgspec.structs.replace(_series(title, points, factor), kind="bar")
        by_unit.setdefault(match[2] if match else title, []).append(bars)
    return {
        f"Finished steps: {unit}": ("step", unit, series, "category")
        for unit, series in by_unit.items()
    }


def _of_loads(figures: Sequence[Mapping[str, Any]]) -> dict[str, Drawn]:
    points = sorted((figure["achieved"], 1e3 * figure["latency"]) for figure in figures)
    x, y = zip(*points, strict=True)
    plots: dict[str, Drawn] = {
        "Latency against load": (
            "achieved load (operations/s)",
            "latency (ms)",
            [Series("latency", x, y)],
            "value",
        )
    }
    requested = sorted((it["requested"], it["achieved"]) for it in figures if it.get("requested"))
    if requested:
        x, y = zip(*requested, strict=True)
        plots["Achieved against requested load"] = (
            "requested load (operations/s)",
            "achieved load (operations/s)",
            [Series("achieved", x, y), Series("requested", x, x)],
            "value",
        )
    return plots


def _numeric(progress: Sequence[Progress]) -> list[str]:
    """Return the names of figures that are numbers, in their first order."""
    return list(
        dict.fromkeys(
            name
            for one in progress
            for name, value in one.figures.items()
            if isinstance(value, int | float) and name not in NOT_DRAWN
        )
    )


def _scaled(name: str) -> tuple[str, float]:
    if name in RATES:
        return f"{name} (MB/s)", 1e-6
    if name == "operations":
        return "operations/s", 1.0
    return (f"{name} (ms)", 1e3) if name.startswith(SECONDS) else (name, 1.0)


def _series(title: str, points: Sequence[tuple[Any, Any]], factor: float) -> Series:
    known = [(x, factor * y) for x, y in points if isinstance(y, int | float)]
    return Series(title, [x for x, _ in known], [y for _, y in known])
