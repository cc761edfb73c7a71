"""Figures of results as texts of a table."""

from collections.abc import Mapping

from headrace.render.echarts import number_text

FACTORS = {"throughput_bytes_per_s": 1e-6, "operations_per_s": 1.0}
"""Factor to the unit in which a figure is shown. Times are shown in ms."""


def shown_value(figure: str, value: float) -> float:
    """Return a figure in the unit in which pages show it: MB/s, operations/s, ms."""
    return value * FACTORS.get(figure, 1e3)


def title(figure: str) -> str:
    """Return the name of a figure with its unit."""
    names = {"throughput_bytes_per_s": "throughput (MB/s)", "operations_per_s": "operations/s"}
    return names.get(figure) or figure.removesuffix("_s").replace("_", " ") + " (ms)"


def figure_text(figures: Mapping[str, Mapping[str, float]], figure: str) -> str:
    """Return a figure of all operations, or the sum or largest of each if there is none of all.

    Throughputs and rates of single operations are added, latencies are not: the largest stands for
    them.
    """
    of_all = figures.get("all", {}).get(figure)
    single = [row[figure] for name, row in figures.items() if figure in row and " " not in name]
    if of_all is None:
        if not single:
            return ""
        of_all = sum(single) if figure in FACTORS else max(single)
    return number_text(shown_value(figure, of_all))
