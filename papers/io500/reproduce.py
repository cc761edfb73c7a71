"""Results of IO500, predicted: published | predicted | error.

Run it by `headrace papers io500`. Rows of the half that sets costs are not reported.
"""

import sys

from headrace import interruption

if __name__ == "__main__":
    interruption.end_at_once()

import math
from collections.abc import Iterable
from functools import partial
from statistics import median

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from fit import ROWS, fitted
from predict import DESCRIPTION, EASY, FIND, HARD, OPERATIONS, Phase, predict
from published import Published, rows

from headrace.report.paper import Paper, Row, main

WITHIN = 0.1
"""Relative error of ior-easy up to which a row holds."""
FACTOR = 2.0
"""Factor up to which the other phases of a row hold."""
SHARE = 0.8
"""Share of results that intervals are to hold."""
GROUPS = {"ior-easy": EASY, "ior-hard": HARD, "mdtest": tuple(OPERATIONS), "find": (FIND,)}
Result = tuple[Published, str, Phase]
"""A row, one of its phases, and the prediction of that."""


def reproduce(paper: Paper) -> list[Row]:
    """Predict the rows that set no cost, plot them, and return the rows of the table."""
    results: list[Result] = []
    for row in rows(ROWS, DESCRIPTION):
        if not fitted(row):
            ours = paper.step(row["submission"], partial(predict, row))
            results += [(row, name, phase) for name, phase in ours.phases.items()]
    for group, phases in GROUPS.items():
        _plot(paper, group, [one for one in results if one[1] in phases])
    return [*_summary(results), *(_row(*one) for one in results)]


def _row(row: Published, name: str, ours: Phase) -> Row:
    published = float(row[name])
    title = f"{row['submission']}, {row['predictable']}: {name}"
    low, high = ours.interval
    return Row(
        title,
        f"{published:.0f}",
        f"{ours.predicted:.0f} ({low:.0f} to {high:.0f}; {ours.limited_by})",
        f"{100 * (ours.predicted / published - 1):+.0f} %",
        _error(row, name, ours) <= (WITHIN if name in EASY else FACTOR - 1),
    )


def _error(row: Published, name: str, ours: Phase) -> float:
    """Return the relative error of ior-easy, or the factor less one of another phase."""
    ratio = ours.predicted / float(row[name])
    return abs(ratio - 1) if name in EASY else math.exp(abs(math.log(ratio))) - 1


def _holds(row: Published, name: str, ours: Phase) -> bool:
    low, high = ours.interval
    return low <= float(row[name]) <= high


def _summary(results: Iterable[Result]) -> list[Row]:
    """Return medians of errors and shares of intervals, by the facts that rows have."""
    known = list(results)
    families = {row["family"] for row in rows(ROWS, DESCRIPTION) if fitted(row)}
    facts = {
        "complete facts": [one for one in known if one[0]["predictable"] == "yes"],
        "some facts": [one for one in known if one[0]["predictable"] == "partly"],
        "no facts": [one for one in known if one[0]["predictable"] == "no"],
        "all": known,
    }
    facts["complete facts, family not fitted"] = [
        one for one in facts["complete facts"] if one[0]["family"] not in families
    ]
    table: list[Row] = []
    for title, some in facts.items():
        for group, phases in GROUPS.items():
            own = [one for one in some if one[1] in phases]
            error = median(_error(*one) for one in own)
            if group == "ior-easy":
                text, good = f"{100 * error:.0f} %", error <= WITHIN
            else:
                text, good = f"factor {1 + error:.2f}", 1 + error <= FACTOR
            count = len({one[0]["submission"] for one in own})
            table.append(Row(f"{title} ({count}): {group}, median", "", "", text, good))
        share = sum(_holds(*one) for one in some) / len(some)
        text = f"{100 * share:.0f} %"
        table.append(Row(f"{title}: in the interval", "80 %", text, "", share >= SHARE))
    return table


def _plot(paper: Paper, group: str, results: Iterable[Result]) -> None:
    """Plot predicted over published results, with their intervals."""
    figure, axes = plt.subplots(figsize=(5.5, 5))
    largest, smallest = 0.0, math.inf
    for facts, label, alpha in (
        ("no", "no facts of servers", 0.25),
        ("partly", "some facts", 0.6),
        ("yes", "complete facts", 0.9),
    ):
        own = [one for one in results if one[0]["predictable"] == facts]
        x = [float(row[name]) / 1e3 for row, name, _ in own]
        y = [ours.predicted / 1e3 for *_, ours in own]
        below = [(ours.predicted - ours.interval[0]) / 1e3 for *_, ours in own]
        above = [(ours.interval[1] - ours.predicted) / 1e3 for *_, ours in own]
        axes.errorbar(
            x, y, (below, above), fmt="o", markersize=3, linewidth=0.6, alpha=alpha, label=label
        )
        largest, smallest = max([largest, *x, *y]), min([smallest, *x, *y])
    axes.plot([smallest, largest], [smallest, largest], color="grey", linewidth=0.8)
    unit = "GB/s" if group.startswith("ior") else "1,000 operations/s"
    axes.set(
        xscale="log", yscale="log", xlabel=f"published, {unit}", ylabel="predicted", title=group
    )
    axes.legend()
    figure.tight_layout()
    paper.save(figure, group)
    plt.close(figure)


if __name__ == "__main__":
    sys.exit(main("io500", "Results of IO500, predicted", reproduce))
