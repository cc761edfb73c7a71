"""Figures of results as texts of a table."""

import re
from collections.abc import Mapping

from headrace.render.echarts import number_text

FACTORS = {"throughput_bytes_per_s": 1e-6, "operations_per_s": 1.0}
"""Factor to the unit in which a figure is shown. Times are shown in ms."""
POINT = re.compile(r"[ =/]")
"""Part of the name of a point, step or job, which no operation has."""


def shown_value(figure: str, value: float) -> float:
    """Return a figure in the unit in which pages show it: MB/s, operations/s, ms."""
    return value * FACTORS.get(figure, 1e3)


def title(figure: str) -> str:
    """Return the name of a figure with its unit."""
    names = {"throughput_bytes_per_s": "throughput (MB/s)", "operations_per_s": "operations/s"}
    return names.get(figure) or figure.removesuffix("_s").replace("_", " ") + " (ms)"


def figure_text(figures: Mapping[str, Mapping[str, float]], figure: str) -> str:
    """Return a figure of all operations, or what stands for those of each.

    Throughputs and rates of operations are added, and the largest latency is shown. Points of a
    range and jobs did not run together: their highest throughput or rate is shown.
    """
    summed = figures.get("all", {}).get(figure, figures.get("kept up", {}).get(figure))
    values = {name: row[figure] for name, row in figures.items() if figure in row}
    single = [value for name, value in values.items() if not POINT.search(name)]
    if summed is None and single:
        summed = sum(single) if figure in FACTORS else max(single)
    elif summed is None and figure in FACTORS:
        summed = max(values.values(), default=None)
    return "" if summed is None else number_text(shown_value(figure, summed))
