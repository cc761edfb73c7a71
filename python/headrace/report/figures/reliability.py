"""Figure of the loss probability over years."""

import numpy as np
from matplotlib.figure import Figure

from headrace.design.reliability.answer import Answer
from headrace.quantities import YEAR
from headrace.report.figures.style import COLOURS, nothing, sheet


def draw(what: str, answer: Answer) -> Figure:
    """Draw the loss probability over the horizons, with its 95 % interval, on a log axis."""
    figure, axes = sheet("Probability of a data loss", f"{what}; {answer.method}")
    horizons = sorted(answer.horizons, key=lambda it: it.horizon_seconds)
    years = np.array([it.horizon_seconds for it in horizons]) / YEAR
    loss = np.array([it.loss_probability for it in horizons])
    if not (loss > 0).any():
        nothing(axes, "no loss")
        return figure
    shown = loss > 0
    axes.plot(years[shown], loss[shown], color=COLOURS[0], label="loss of any data")
    low = np.array([it.low for it in horizons])
    high = np.array([it.high for it in horizons])
    if (high > low).any():
        least = np.where(low > 0, low, loss * 1e-3)
        axes.fill_between(
            years[shown],
            least[shown],
            high[shown],
            color=COLOURS[0],
            alpha=0.2,
            linewidth=0,
            label="95 % interval",
        )
    errors = np.array([it.read_error_loss_probability or 0.0 for it in horizons])
    if (errors > 0).any():
        axes.plot(
            years[errors > 0],
            errors[errors > 0],
            color=COLOURS[1],
            linestyle="dashed",
            label="of it by read errors in a rebuild",
        )
    axes.set_yscale("log")
    axes.set_xlim(left=0)
    axes.set_xlabel("years")
    axes.set_ylabel("probability")
    axes.legend(frameon=False, loc="lower right")
    return figure
