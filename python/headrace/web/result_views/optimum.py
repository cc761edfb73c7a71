"""View of `optimise`."""

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

from headrace.render.echarts import Series
from headrace.web.charts import Chart, horizontal_bars
from headrace.web.result_views.figure_cards import show_figures
from headrace.web.tables import show_table

Document = Mapping[str, Any]

MOST_ROWS = 200


def show(document: Document) -> None:
    """Show the best point, the front or the history, and all points."""
    # It imports Optuna, which would make every start of the server longer.
    from headrace.optimisation.goals import text
    from headrace.optimisation.optimum import COLUMNS

    best = document["best"]
    if best is None:
        ui.label("No point meets the constraints.")
    else:
        with ui.element("h3").classes("text-lg"):
            ui.label("Best point")
        show_figures({path: str(value) for path, value in best["set"].items()})
        show_figures(
            {
                name: text(name, best[name], best.get(f"{name}_half_width"))
                for name in COLUMNS
                if best.get(name) is not None
            }
        )
    objectives = [it["figure"] for it in document["objectives"]]
    points = document["points"]
    if len(objectives) > 1:
        _front(document, objectives[0], objectives[1])
    elif points:
        _history(points, objectives[0])
    for name, parts in document["importance"].items():
        if parts:
            horizontal_bars(
                f"Importance for {name}",
                "field",
                "part",
                [Series("importance", list(parts), list(parts.values()), "bar")],
            )
    _table(document)


def _mean(entry: Document, name: str) -> float | None:
    mean = entry.get(name)
    return None if mean is None else float(mean)


def _front(document: Document, x: str, y: str) -> None:
    sets = {
        "all points": document["points"],
        "front": document["front"],
    }
    Chart(
        "Pareto front",
        x,
        y,
        [
            Series(name, [_mean(it, x) for it in found], [_mean(it, y) for it in found], "scatter")
            for name, found in sets.items()
        ],
    )


def _history(points: Sequence[Document], objective: str) -> None:
    ordered = sorted(points, key=lambda it: it["trial"])
    Chart(
        "Points in the order of their trials",
        "trial",
        objective,
        [
            Series(
                objective,
                [it["trial"] for it in ordered],
                [_mean(it, objective) for it in ordered],
                "scatter",
            )
        ],
    )


def _table(document: Document) -> None:
    from headrace.optimisation.goals import text
    from headrace.optimisation.optimum import COLUMNS

    points = document["points"][:MOST_ROWS]
    paths = list(dict.fromkeys(path for it in points for path in it["set"]))
    names = [name for name in COLUMNS if any(it.get(name) is not None for it in points)]
    rows = [
        [
            *(str(it["set"].get(path, "")) for path in paths),
            *(text(name, _mean(it, name), None) for name in names),
        ]
        for it in points
    ]
    show_table("Points", [*paths, *names], rows, left=set(range(len(paths))))
    for it in document["failed"]:
        ui.label(f"failed: {it['set']}: {it['error']}")
