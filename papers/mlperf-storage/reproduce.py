"""Results of MLPerf Storage v1.0, predicted: published | predicted | error.

Run it by `headrace papers mlperf-storage`.
"""

import sys

from headrace import interruption

if __name__ == "__main__":
    interruption.end_at_once()

from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from statistics import median

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from predict import DESCRIPTION, Prediction, closest, predict
from published import Published, rows

from headrace.report.paper import Paper, Row, main

ROWS = Path(__file__).with_name("rows.csv")
AU_POINTS = 3.0
"""Error of the utilisation up to which a row holds, in points."""
LARGEST = 0.25
"""Relative error of the largest number up to which a row holds."""


@dataclass(frozen=True)
class Pair:
    """A published row and its predictions."""

    row: Published
    ours: Prediction
    is_largest: bool
    """If true, the row has the largest published number of its system."""
    fitted: tuple[tuple[bool, Prediction], ...]
    """Predictions with another row given; true if that has the same workload."""

    @property
    def held_out(self) -> bool:
        """If true, the row's system is in the half on which no range was set."""
        return int(sha256(self.row["system"].encode()).hexdigest(), 16) % 2 == 1


def reproduce(paper: Paper) -> list[Row]:
    """Predict every row, plot the errors, and return the rows of the table."""
    published = list(rows(ROWS, DESCRIPTION))
    largest = _largest_of_systems(published)
    pairs = []
    for row in published:
        ours = paper.step(row["id"], partial(predict, row))
        fitted = []
        for same in (True, False) if row["id"] in largest else ():
            some = [
                one
                for one in published
                if one["id"] in largest and (one["workload"] == row["workload"]) is same
            ]
            given = closest(row, some)
            if given is not None:
                name = f"{row['id']}, {given['id']} given"
                fitted.append((same, paper.step(name, partial(predict, row, given))))
        pairs.append(Pair(row, ours, row["id"] in largest, tuple(fitted)))
    table: list[Row] = []
    for pair in pairs:
        table.append(_utilisation(pair.row, pair.ours))
        if pair.is_largest:
            table.append(_number("", pair.row, pair.ours))
        for same, ours in pair.fitted:
            which = "same workload" if same else "another workload"
            table.append(_number(f", {which} given", pair.row, ours))
    _plot(paper, pairs)
    return [*_summary(pairs), *table]


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


def _number(given: str, row: Published, ours: Prediction) -> Row:
    error = _relative(row, ours)
    low, high = ours.accelerators_largest_interval
    return Row(
        f"{row['id']}: accelerators{given}",
        row["accelerators"],
        f"{ours.accelerators_largest} ({low} to {high}; {ours.limited_by})",
        f"{100 * error:+.0f} %",
        abs(error) <= LARGEST,
    )


def _summary(pairs: list[Pair]) -> list[Row]:
    """Return the medians of the errors, and how often intervals hold."""
    table: list[Row] = []
    storage = [one for one in pairs if one.row["limited_by_reading"] == "storage or network"]
    halves = [[one for one in pairs if one.held_out is held] for held in (False, True)]
    for name, some, points, part in (
        ("storage or network", storage, 3.0, 0.1),
        ("all", pairs, 5.0, 0.25),
        ("half with ranges set on it", halves[0], 5.0, 0.25),
        ("other half", halves[1], 5.0, 0.25),
    ):
        au = median(abs(one.ours.au_percent - float(one.row["au_mean_percent"])) for one in some)
        table.append(Row(f"{name}: AU", "", "", f"{au:.1f} points", au <= points))
        own = [(one.row, one.ours) for one in some if one.is_largest]
        table += _of_largest(name, own, part)
    for is_same, name in ((True, "same workload given"), (False, "another workload given")):
        own = [(one.row, ours) for one in pairs for same, ours in one.fitted if same is is_same]
        table += _of_largest(name, own, 0.1)
    return table


def _of_largest(name: str, own: list[tuple[Published, Prediction]], part: float) -> list[Row]:
    error = median(abs(_relative(*pair)) for pair in own)
    intervals = [ours.accelerators_largest_interval for _, ours in own]
    within = [
        low <= int(row["accelerators"]) <= high
        for (row, _), (low, high) in zip(own, intervals, strict=True)
    ]
    share = sum(within) / len(within)
    width = median(high / low for low, high in intervals)
    return [
        Row(f"{name}: accelerators ({len(own)})", "", "", f"{100 * error:.0f} %", error <= part),
        Row(
            f"{name}: in the interval",
            "80 %",
            f"{100 * share:.0f} % (of a factor {width:.1f})",
            "",
            share >= 0.8,
        ),
    ]


def _plot(paper: Paper, pairs: list[Pair]) -> None:
    """Plot predicted over published numbers of accelerators."""
    figure, axes = plt.subplots(figsize=(5, 5))
    for workload in ("unet3d", "resnet50", "cosmoflow"):
        own = [
            (int(one.row["accelerators"]), one.ours.accelerators_largest)
            for one in pairs
            if one.row["workload"] == workload and one.is_largest
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
