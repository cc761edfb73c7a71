"""Figures of a search: its history, the front of two objectives, and the importance of axes."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from headrace.optimisation.candidate import Candidate
from headrace.optimisation.goals import UNITS, Objective
from headrace.optimisation.optimum import Optimum
from headrace.render.style import (
    COLOURS,
    WIDTH,
    NotebookFigure,
    grid,
    legend_below,
    sheet,
    short,
)

GREY = "#999999"
SCALES = {"B/s": (1e-6, " (MB/s)"), "s": (1e3, " (ms)"), "": (1.0, "")}


def drawings(optimum: Optimum) -> Mapping[str, Callable[[], Figure]]:
    """Return the figures that an optimum has, by name, as functions that draw them."""
    kinds: dict[str, Callable[[], Figure]] = {"history": partial(history, optimum)}
    if len(optimum.goals.objectives) > 1:
        kinds["front"] = partial(front, optimum)
    if optimum.importances:
        kinds["importance"] = partial(importance, optimum)
    return kinds


def history(optimum: Optimum) -> Figure:
    """Draw each trial and the best so far, for each objective."""
    objectives = optimum.goals.objectives
    height = 1.4 + 2.8 * len(objectives)
    figure = NotebookFigure(figsize=(WIDTH, height), layout="constrained")
    every = figure.subplots(len(objectives), 1, sharex=True, squeeze=False)[:, 0]
    every[0].set_title(
        short(f"Search: {optimum.name}"), loc="left", fontsize="large", fontweight="bold"
    )
    by_number = {it.number: it for it in optimum.candidates}
    trials = [by_number[number] for number in optimum.candidate_of_trial]
    for axes, objective in zip(every, objectives, strict=True):
        grid(axes)
        axes.set_ylabel(_label(objective))
        met, missed, on_front, path = (list[tuple[int, float]]() for _ in range(4))
        best: float | None = None
        for at, candidate in enumerate(trials, 1):
            value = _value(candidate, objective)
            if value is not None:
                is_met = optimum.goals.violation(candidate.means(optimum.goals.figures)) == 0
                is_front = len(objectives) > 1 and candidate in optimum.front
                (on_front if is_front else met if is_met else missed).append((at, value))
                if is_met and (best is None or objective.sign * (value - best) > 0):
                    best = value
            if best is not None:
                path.append((at, best))
        for points, colour, label in (
            (missed, GREY, "misses a constraint"),
            (met, COLOURS[0], "trial"),
            (on_front, COLOURS[1], "front"),
        ):
            if points:
                axes.plot(*zip(*points, strict=True), "o", markersize=4, color=colour, label=label)
        if path and len(objectives) == 1:
            axes.step(*zip(*path, strict=True), where="post", color=COLOURS[1], label="best so far")
    every[-1].set_xlabel("trial")
    legend_below(every[0], 3)
    return figure


def front(optimum: Optimum) -> Figure:
    """Draw the first two objectives of all points, and the front."""
    across, up = optimum.goals.objectives[1], optimum.goals.objectives[0]
    figure, axes = sheet("Front", optimum.name, 5.0)
    axes.set_xlabel(_label(across))
    axes.set_ylabel(_label(up))
    known = [it for it in optimum.candidates if not it.error and it.by_replication]
    on_front = set(optimum.front)
    equal = set(optimum.equals)
    rest = [it for it in known if it not in on_front | equal]
    missed = [it for it in rest if optimum.verdict(it) == "infeasible"]
    beaten = [it for it in rest if optimum.verdict(it) != "infeasible"]
    for those, colour, marker, label in (
        (missed, GREY, "x", "misses a constraint"),
        (beaten, COLOURS[5], "o", "other points"),
        ([it for it in known if it in equal], COLOURS[4], "o", "not distinguished"),
    ):
        points = [(_value(it, across), _value(it, up)) for it in those]
        if points:
            axes.plot(
                *zip(*points, strict=True),
                marker,
                markersize=4,
                color=colour,
                label=label,
            )
    ordered = sorted(optimum.front, key=lambda it: (_value(it, across) or 0, _value(it, up) or 0))
    axes.errorbar(
        [_value(it, across) or 0.0 for it in ordered],
        [_value(it, up) or 0.0 for it in ordered],
        xerr=_widths(ordered, across),
        yerr=_widths(ordered, up),
        marker="o",
        capsize=2,
        color=COLOURS[1],
        # More objectives make no line in two.
        linestyle="solid" if len(optimum.goals.objectives) == 2 else "none",
        label="front",
    )
    legend_below(axes, 4)
    return figure


def importance(optimum: Optimum) -> Figure:
    """Draw the importance of each axis for each objective as bars."""
    found = optimum.importances
    paths = list(next(iter(found.values())))
    figure, axes = sheet("Importance", optimum.name, 1.7 + 0.5 * max(len(paths), 3))
    rows = np.arange(len(paths))
    height = 0.8 / len(found)
    for number, (name, parts) in enumerate(found.items()):
        axes.barh(
            rows + height * (number - (len(found) - 1) / 2),
            [parts.get(path, 0.0) for path in paths],
            height=0.9 * height,
            color=COLOURS[number % len(COLOURS)],
            label=name,
        )
    axes.set_yticks(rows, [short(path, 40) for path in paths])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("importance (PED-ANOVA: what distinguishes the best tenth)")
    legend_below(axes, 3)
    return figure


def _label(objective: Objective) -> str:
    return objective.figure.replace("_", " ") + SCALES[UNITS.get(objective.figure, "s")][1]


def _value(candidate: Candidate, objective: Objective) -> float | None:
    mean = None if candidate.error else candidate.mean(objective.figure)
    return None if mean is None else mean * SCALES[UNITS.get(objective.figure, "s")][0]


def _widths(candidates: Sequence[Candidate], objective: Objective) -> list[float]:
    factor = SCALES[UNITS.get(objective.figure, "s")][0]
    return [(it.half_width(objective.figure) or 0.0) * factor for it in candidates]
