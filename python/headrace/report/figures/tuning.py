"""Figure of a tuned mix: wanted against measured protocol operations."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from headrace.quantities import figure
from headrace.report.figures.style import COLOURS, sheet


def draw(document: Mapping[str, Any]) -> Figure:
    """Draw bars for each protocol operation: its wanted share, and that of each method's mix."""
    wanted: Mapping[str, float] = document["wanted"]
    bars = {"wanted": wanted} | {
        f"{method}, measured": mix["measured"]
        for method, mix in document["mixes"].items()
        if mix["measured"] is not None
    }
    names = {name for shares in bars.values() for name in shares}
    order = sorted(names, key=lambda name: (-wanted.get(name, 0.0), name))
    off = ", ".join(
        f"{method} {_percentage_points(mix['largest_difference'])}"
        for method, mix in document["mixes"].items()
    )
    subtitle = f"off at the most, percentage points: {off}"
    figure, axes = sheet("A tuned mix", subtitle)
    width = 0.8 / len(bars)
    for number, (label, shares) in enumerate(bars.items()):
        axes.bar(
            np.arange(len(order)) + width * (number - (len(bars) - 1) / 2),
            [100 * shares.get(name, 0.0) for name in order],
            width=width,
            color=COLOURS[number],
            label=label,
        )
    axes.set_ylabel("share of protocol operations, %")
    axes.set_xticks(range(len(order)), order, rotation=45, ha="right")
    axes.grid(visible=False, axis="x")
    axes.legend(frameon=False)
    return figure


def _percentage_points(difference: float | None) -> str:
    return "not measured" if difference is None else figure(100 * difference)
