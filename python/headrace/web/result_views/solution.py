"""View of `design solve`."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from nicegui import run, ui

from headrace.design.evaluation import Solution
from headrace.fields import convert
from headrace.web.design.design_panel import show_design
from headrace.web.design.figures import DesignView
from headrace.web.design.front_chart import FrontChart


def show(document: Mapping[str, Any]) -> None:
    """Show the designs, and the one that is picked."""
    SolutionView(convert(document, Solution))


class SolutionView:
    """A solution: its summary, its front and the design that is picked."""

    def __init__(self, solution: Solution) -> None:
        self._solution = solution
        self._picked: int | None = None
        _summary(solution)
        self._front = FrontChart(solution, self._pick)
        self._place = (
            ui.element("section").classes("w-full").props('aria-label="Design" aria-live="polite"')
        )
        if self._front.points:
            ui.timer(0, partial(self._pick, solution.chosen or 0), once=True)
        _discarded(solution)

    async def _pick(self, place: int) -> None:
        # Drawn twice, a design would lose clicks on its figures.
        if place == self._picked:
            return
        self._picked = place
        self._front.mark(place)
        view = await run.io_bound(DesignView, self._solution, place)
        if view is None or place != self._picked:
            return
        self._place.clear()
        with self._place:
            show_design(view, self._front.points[place])


def _summary(solution: Solution) -> None:
    if solution.chosen is None:
        text = "No design meets all requirements. These miss the least:"
    else:
        text = (
            f"{solution.front[solution.chosen].design.name} is the cheapest design that meets"
            " every known requirement."
        )
    ui.label(text).classes("text-subtitle1").props('data-testid="summary"')
    ui.label(
        f"{solution.enumerated:,} designs enumerated in {solution.seconds:.0f} s, seed"
        f" {solution.seed}"
    ).classes("text-caption")


def _discarded(solution: Solution) -> None:
    lines = [f"{field}: {count:,} designs" for field, count in solution.discarded.items()]
    with ui.expansion("Discarded designs and unknown answers").classes("w-full"), ui.element("ul"):
        for line in (*lines, *solution.unsure):
            with ui.element("li"):
                ui.label(line)
