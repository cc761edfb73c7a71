"""Figure of the measured and simulated time of cases, by component."""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from headrace.render.style import COLOURS, short

MANY = (*COLOURS, "#888888", "#bbbbbb")
SIDES = (("measured_s", -0.2, 1.0), ("simulated_s", 0.2, 0.55))
"""Each with its place in a case's row, and how dark it is."""


def draw(document: Mapping[str, Any]) -> Figure:
    """Two bars for each case, the upper measured and the lower simulated, in parts of the time
    that was measured."""
    cases = document["breakdowns"]
    named = dict.fromkeys(name for case in cases for name in case["difference_s"])
    every = [
        name for name in named if any(case[side].get(name) for case in cases for side, *_ in SIDES)
    ]
    drawn = Figure(figsize=(8.0, 1.6 + 0.3 * len(cases)), layout="constrained")
    source = cases[0]["source"]
    drawn.suptitle(f"Time breakdown by the {source}", x=0.01, ha="left", fontweight="bold")
    axes = drawn.subplots()
    axes.set_title("upper bar measured, lower bar simulated", loc="left", fontsize="medium")
    axes.grid(axis="x", color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    for side, place, dark in SIDES:
        rows = [number + place for number in range(len(cases))]
        left = [0.0] * len(cases)
        for number, name in enumerate(every):
            wide = [_part(case, side, name) for case in cases]
            axes.barh(
                rows,
                wide,
                left=left,
                height=0.36,
                color=MANY[number % len(MANY)],
                alpha=dark,
                label=name if side == "measured_s" else None,
            )
            left = [one + more for one, more in zip(left, wide, strict=True)]
    axes.axvline(1.0, color="#444444", linewidth=1)
    axes.set_yticks(range(len(cases)), [short(case["name"], 48) for case in cases])
    axes.tick_params(axis="y", labelsize=8)
    axes.set_ylim(len(cases) - 0.5, -0.5)
    axes.set_xlim(0, 2)
    axes.set_xlabel("part of the time measured (what is longer than twice that is cut)")
    drawn.legend(frameon=False, fontsize=8, loc="outside lower center", ncols=4)
    return drawn


def _part(case: Mapping[str, Any], side: str, name: str) -> float:
    """Return a component's share of the measured time. Negative shares, as of a device that worked
    on afterwards, are 0."""
    whole = sum(case["measured_s"].values())
    return max(case[side].get(name, 0.0), 0.0) / whole if whole > 0 else 0.0
