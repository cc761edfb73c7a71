"""Figure of fitted lifetimes: the share of failed disks over age."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from headrace.design.lifetimes.fits import Curve, Lifetimes
from headrace.quantities import HOUR, YEAR
from headrace.report.figures.style import COLOURS, nothing, sheet, short

MOST = len(COLOURS)
"""Models that are shown, those with the most disks."""


def draw(found: Lifetimes, curves: Sequence[Curve]) -> Figure:
    """Draw Kaplan-Meier's steps with their 95 % intervals, and the Weibull fits as dashed lines."""
    # The last fit has the disks of all models.
    name = f"{found.fits[-1].disks:,} disks; steps: Kaplan-Meier with 95 %, dashed: Weibull fit"
    figure, axes = sheet("Failed disks over age", name)
    if not curves:
        nothing(axes, "no disk failed")
        return figure
    years = HOUR / YEAR
    fits = {it.model: it for it in found.fits}
    highest = 0.0
    for colour, curve in zip(COLOURS, curves, strict=False):
        ages = np.asarray(curve.ages) * years
        fit = fits[curve.model]
        axes.step(
            ages, 100 * np.asarray(curve.failed), where="post", color=colour, label=short(fit.model)
        )
        lower, upper = (100 * np.asarray(it) for it in (curve.lower, curve.upper))
        axes.fill_between(ages, lower, upper, step="post", color=colour, alpha=0.15, linewidth=0)
        highest = max(highest, 100 * max(curve.failed))
        if fit.shape is not None and fit.scale is not None:
            line = np.linspace(0, fit.oldest, 200)
            share = -100 * np.expm1(-((line / fit.scale) ** fit.shape))
            axes.plot(line * years, share, color=colour, linestyle="dashed", linewidth=1)
            highest = max(highest, share[-1])
    axes.set_xlim(left=0)
    axes.set_ylim(0, min(105, 1.15 * highest))
    axes.set_xlabel("age, years of power-on time")
    axes.set_ylabel("failed, %")
    axes.legend(frameon=False, loc="upper left")
    return figure
