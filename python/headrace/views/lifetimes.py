"""Fitted lifetimes of disks: rates and Weibull laws by model."""

from collections.abc import Callable, Sequence

import numpy as np

from headrace.design.lifetimes.fits import Curve, Fit, Interval, Lifetimes
from headrace.quantities import HOUR, NOT_KNOWN, YEAR, numbered, whole
from headrace.render import units
from headrace.render.blocks import Axis, Chart, Column, Headline, Line, Note, Table, View
from headrace.views.parts import assumptions

MOST = 7
"""Models that are drawn, those with the most disks."""
COUNTED = ("disks", "failures")
POINTS = 200
"""Points of a fitted curve."""


def view(result: Lifetimes, curves: Sequence[Curve] = ()) -> View:
    """Return the table of all models, the rows that were left out, and the curves."""
    left_out = ", ".join(f"{whole(count)} x {reason}" for reason, count in result.bad_rows.items())
    disks, failures = (sum(getattr(fit, key) for fit in result.fits) for key in COUNTED)
    return [
        Headline({"disks": whole(disks), "failures": whole(failures)}),
        _chart(result, curves),
        _table(result.fits),
        *(Note(f"{fit.model}: {fit.note}.", style="warning") for fit in result.fits if fit.note),
        Note(
            f"\n{numbered(result.rows, 'row')} read; left out: {left_out or 'none'}."
            f" Observed from an age above 0: {numbered(result.left_truncated, 'disk')}."
        ),
        *assumptions(result.assumptions),
    ]


def _table(fits: Sequence[Fit]) -> Table:
    def of_law(text: Callable[[Fit], str | None]) -> list[str | None]:
        return [None if fit.shape is None or fit.scale is None else text(fit) for fit in fits]

    rates = [_interval(tuple(100 * end for end in fit.annual_rate_interval), ".2f") for fit in fits]
    columns: dict[str, list[str | None]] = {
        "AFR %": [f"{100 * fit.annual_rate:.2f}" for fit in fits],
        "AFR 95 %": rates,
        "shape": of_law(lambda fit: f"{fit.shape:.2f}"),
        "shape 95 %": of_law(lambda fit: _interval(fit.shape_interval, ".2f")),
        "scale h": of_law(lambda fit: f"{fit.scale:,.0f}"),
        "scale 95 % h": of_law(lambda fit: _interval(fit.scale_interval, ",.0f")),
        "--lifetime": of_law(lambda fit: fit.lifetime or None),
    }
    spare = ("shape 95 %", "scale h", "scale 95 % h", "disk-years", "AFR 95 %")
    return Table(
        "Lifetimes",
        [
            Column("model", [fit.model for fit in fits]),
            Column("disks", [fit.disks for fit in fits], units.COUNT),
            Column("failures", [fit.failures for fit in fits], units.COUNT),
            Column("disk-years", [fit.disk_years for fit in fits], units.FIGURE, 4),
            *(
                Column(
                    name,
                    values,
                    spare=1 + spare.index(name) if name in spare else 0,
                    absent=NOT_KNOWN,
                )
                for name, values in columns.items()
            ),
        ],
    )


def _interval(interval: Interval | tuple[float, ...] | None, form: str) -> str | None:
    return None if interval is None else f"{interval[0]:{form}} to {interval[1]:{form}}"


def _chart(result: Lifetimes, curves: Sequence[Curve]) -> Chart:
    """Return Kaplan-Meier's steps with their 95 % intervals, and the Weibull fits."""
    fits = {fit.model: fit for fit in result.fits}
    lines = []
    for curve in curves:
        fit = fits[curve.model]
        ages = [age * HOUR / YEAR for age in curve.ages]
        lines.append(
            Line(
                fit.model,
                ages,
                curve.failed,
                curve.lower,
                curve.upper,
                shape="level",
                group=fit.model,
            )
        )
        if fit.shape is not None and fit.scale is not None:
            across = np.linspace(0, fit.oldest, POINTS)
            share = -np.expm1(-((across / fit.scale) ** fit.shape))
            years = (across * HOUR / YEAR).tolist()
            lines.append(Line(f"{fit.model}, Weibull", years, share.tolist(), group=fit.model))
    return Chart(
        "lifetimes",
        "Failed disks over age",
        Axis("age, years of power-on time"),
        Axis("failed", units.SHARE),
        lines,
        empty="no disk failed",
        # The last fit has the disks of all models.
        statistic=f"{numbered(result.fits[-1].disks, 'disk')}; steps: Kaplan-Meier with 95 %",
    )
