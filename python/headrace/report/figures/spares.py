"""Figure of hot spares: the probability that a failed disk finds none."""

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from headrace.design.spares import SpareAdvice
from headrace.report.figures.style import COLOURS, sheet


def draw(advice: SpareAdvice, other: SpareAdvice | None) -> Figure:
    """Draw the probability of finding no spare over their total number, on a log axis."""
    name = f"{advice.spares} spares: {advice.probability:.4g} (wanted {advice.wanted:g})"
    figure, axes = sheet("Failed disks that find no hot spare", name)
    for colour, it in zip(COLOURS, (advice, other), strict=False):
        if it is None:
            continue
        rows = [row for row in it.rows if row.probability < 1]
        axes.plot(
            [row.total for row in rows],
            [1 - row.probability for row in rows],
            color=colour,
            marker="o",
            markersize=4,
            label=it.pooling,
        )
        simulated = [row for row in it.rows if row.simulated is not None and row.simulated < 1]
        if simulated:
            axes.errorbar(
                [row.total for row in simulated],
                [1 - (row.simulated or 0.0) for row in simulated],
                yerr=[1.96 * (row.standard_error or 0.0) for row in simulated],
                color="#000000",
                linestyle="none",
                marker="x",
                capsize=3,
                label=f"{it.pooling}, simulated",
            )
    axes.axhline(1 - advice.wanted, color="#444444", linewidth=1, linestyle="dashed")
    axes.set_yscale("log")
    axes.set_xlabel("hot spares in all")
    axes.set_ylabel("probability of finding none")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(frameon=False)
    return figure
