"""Results of MLPerf Storage v1.0, predicted: published | predicted | error.

Run it by `headrace papers mlperf-storage`.
"""

import sys

from headrace import interruption

if __name__ == "__main__":
    interruption.end_at_once()

from functools import partial
from pathlib import Path
from statistics import median

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from predict import DESCRIPTION, Prediction, predict
from published import Published, rows

from headrace.report.paper import Paper, Row, main

ROWS = Path(__file__).with_name("rows.csv")
AU_POINTS = 3.0
"""Error of the utilisation up to which a row holds, in points."""
LARGEST = 0.25
"""Relative error of the largest number up to which a row holds."""


def reproduce(paper: Paper) -> list[Row]:
    """Predict every row, plot the errors, and return the rows of the table."""
    pairs = [(row, paper.step(row["id"], partial(predict, row))) for row in rows(ROWS, DESCRIPTION)]
    largest = _largest_of_systems([row for row, _ in pairs])
    table: list[Row] = []
    for row, ours in pairs:
        table.append(_utilisation(row, ours))
        if row["id"] in largest:
            table.append(_number(row, ours))
    _plot(paper, pairs, largest)
    return [*_summary(pairs, largest), *table]


def _largest_of_systems(all_rows: list[Published]) -> set[str]:
    """Return the rows with the largest published number of a system, its hosts and a workload."""
    best: dict[tuple[str, ...], Published] = {}
    for row in all_rows:
        key = tuple(row[name] for name in ("system", "hosts", "workload", "accelerator"))
        if key not in best or int(row["accelerators"]) > int(best[key]["accelerators"]):
            best[key] = row
    return {row["id"] for row in best.values()}


def _utilisation(row: Published, ours: Prediction) -> Row:
    published = float(row["au_mean_percent"])
    error = ours.au_percent - published
    return Row(
        f"{row['id']}: AU",
        f"{published:.1f} %",
        f"{ours.au_percent:.1f} %",
        f"{error:+.1f} points",
        abs(error) <= AU_POINTS,
    )


def _relative(row: Published, ours: Prediction) -> float:
    published = int(row["accelerators"])
    return (ours.accelerators_largest - published) / published


def _number(row: Published, ours: Prediction) -> Row:
    error = _relative(row, ours)
    low, high = ours.accelerators_largest_interval
    return Row(
        f"{row['id']}: accelerators",
        row["accelerators"],
        f"{ours.accelerators_largest} ({low} to {high}; {ours.limited_by})",
        f"{100 * error:+.0f} %",
        abs(error) <= LARGEST,
    )


def _summary(pairs: list[tuple[Published, Prediction]], largest: set[str]) -> list[Row]:
    """Return the medians of the errors, of all rows and of those limited by storage or network."""
    found: list[Row] = []
    limited = [pair for pair in pairs if pair[0]["limited_by_reading"] == "storage or network"]
    for name, some, points, part in (
        ("storage or network, median", limited, 3.0, 0.1),
        ("all, median", pairs, 5.0, 0.25),
    ):
        au = median(abs(ours.au_percent - float(row["au_mean_percent"])) for row, ours in some)
        of_largest = [pair for pair in some if pair[0]["id"] in largest]
        number = median(abs(_relative(*pair)) for pair in of_largest)
        found.append(Row(f"{name}: AU", "", "", f"{au:.1f} points", au <= points))
        found.append(Row(f"{name}: accelerators", "", "", f"{100 * number:.0f} %", number <= part))
    within = [
        low <= int(row["accelerators"]) <= high
        for row, ours in pairs
        if row["id"] in largest
        for low, high in [ours.accelerators_largest_interval]
    ]
    share = sum(within) / len(within)
    found.append(Row("all: in the interval", "80 %", f"{100 * share:.0f} %", "", share >= 0.8))
    return found


def _plot(paper: Paper, pairs: list[tuple[Published, Prediction]], largest: set[str]) -> None:
    """Plot predicted over published numbers of accelerators."""
    figure, axes = plt.subplots(figsize=(5, 5))
    for workload in ("unet3d", "resnet50", "cosmoflow"):
        own = [
            (int(row["accelerators"]), ours.accelerators_largest)
            for row, ours in pairs
            if row["workload"] == workload and row["id"] in largest
        ]
        axes.plot(*zip(*own, strict=True), "o", label=workload, alpha=0.7)
    axes.plot([1, 1000], [1, 1000], color="grey", linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlabel="published accelerators", ylabel="predicted")
    axes.legend()
    figure.tight_layout()
    paper.save(figure, "accelerators")
    plt.close(figure)


if __name__ == "__main__":
    sys.exit(main("mlperf-storage", "MLPerf Storage v1.0, predicted", reproduce))
