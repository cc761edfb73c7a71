"""Weibull lifetimes fitted to failure records by maximum likelihood (lifelines)."""

import math
import warnings
from collections.abc import Callable, Iterator, Sequence

import msgspec
import numpy as np
import polars as pl
from scipy.stats import chi2

from headrace.design.lifetimes.records import ALL, Records
from headrace.late_imports import imports_of
from headrace.quantities import HOUR, YEAR

LEAST_FAILURES = 5
"""Failures below which no lifetime is fitted: its intervals would say nothing (declared)."""
FEW_FAILURES = 20
"""Failures below which the fit's note warns."""
CONFIDENCE = 0.95
NORMAL_QUANTILE = 1.959964
"""Half of the 95 % interval of a normal distribution, in standard deviations."""
EXTRAPOLATED = 2.0
"""Ratio of the scale to the oldest age above which the note warns."""

Interval = tuple[float, float]


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """Lifetimes of a disk model."""

    model: str
    disks: int
    failures: int
    disk_years: float
    oldest: float
    """Hours of the highest age seen."""
    annual_rate: float
    """Failures a disk-year."""
    annual_rate_interval: Interval
    """95 %, exact for a Poisson count."""
    shape: float | None = None
    """Weibull β; below 1 the rate falls with age, above 1 it rises. None: not fitted."""
    shape_interval: Interval | None = None
    scale: float | None = None
    """Weibull η in hours: the age by which 63 % have failed."""
    scale_interval: Interval | None = None
    lifetime: str | None = None
    """The fit as --lifetime takes it: `weibull:1.12,222314h`."""
    note: str = ""


class Lifetimes(msgspec.Struct, frozen=True, kw_only=True):
    """Fitted lifetimes of all models in the records."""

    fits: tuple[Fit, ...]
    """By number of disks; last all disks together, if there are several models."""
    rows: int
    bad_rows: dict[str, int]
    left_truncated: int
    """Disks whose observation began after their start."""
    assumptions: tuple[str, ...]


class Curve(msgspec.Struct, frozen=True):
    """Share of failed disks over age: Kaplan-Meier's estimate."""

    model: str
    ages: Sequence[float]
    """Hours."""
    failed: Sequence[float]
    lower: Sequence[float]
    upper: Sequence[float]


def groups(records: Records) -> list[tuple[str, pl.DataFrame]]:
    """Return the disks of each model, most first, and all together if there are several."""
    groups_ = [(str(key[0]), part) for key, part in records.disks.group_by("model")]
    groups_.sort(key=lambda pair: (-pair[1].height, pair[0]))
    if len(groups_) > 1:
        groups_.append((ALL, records.disks))
    return groups_


def fit_lifetimes(
    records: Records, on_progress: Callable[[int, int, str], None] | None = None
) -> Lifetimes:
    """Fit a Weibull lifetime to each model.

    Args:
        records: The disks.
        on_progress: Called with the models done, their total and the next one's name.
    """
    parts = groups(records)
    fits = []
    for number, (model, disks) in enumerate(parts):
        if on_progress is not None:
            on_progress(number, len(parts), model)
        fits.append(fit_model(model, disks))
    truncated = int((records.disks["entry"] > 0).sum())
    return Lifetimes(
        fits=tuple(fits),
        rows=records.rows,
        bad_rows=records.bad,
        left_truncated=truncated,
        assumptions=(
            "Disks of a model have one Weibull lifetime and fail independently.",
            "A disk counts from the age at which its observation began (left truncation) to the"
            " age at which it ended; disks that did not fail are right-censored.",
            "Intervals of shape and scale are 95 %, from the likelihood's curvature, symmetric in"
            " the logarithm; those of the annual rate are exact for a Poisson count.",
            "A year has 8760 h of power-on time.",
        ),
    )


def fit_model(model: str, disks: pl.DataFrame) -> Fit:
    """Fit the lifetimes of one model. Too few failures give a rate only."""
    failures = int(disks["failed"].sum())
    years = float((disks["age"] - disks["entry"]).sum()) * HOUR / YEAR
    oldest = float(disks["age"].max() or 0.0)  # type: ignore[arg-type]
    plain = Fit(
        model=model,
        disks=disks.height,
        failures=failures,
        disk_years=years,
        oldest=oldest,
        annual_rate=failures / years,
        annual_rate_interval=poisson_interval(failures, years),
    )
    if failures < LEAST_FAILURES:
        note = f"fewer than {LEAST_FAILURES} failures: no lifetime fitted"
        return msgspec.structs.replace(plain, note=note)
    fitted = _weibull(disks)
    if fitted is None:
        return msgspec.structs.replace(plain, note="the fit did not converge")
    shape, shape_interval, scale, scale_interval = fitted
    notes = []
    if failures < FEW_FAILURES:
        notes.append("few failures: wide intervals")
    if scale > EXTRAPOLATED * oldest:
        notes.append("scale extrapolated beyond the oldest disk")
    if shape_interval[0] <= 1 <= shape_interval[1]:
        notes.append("a constant rate is compatible")
    return msgspec.structs.replace(
        plain,
        shape=shape,
        shape_interval=shape_interval,
        scale=scale,
        scale_interval=scale_interval,
        lifetime=f"weibull:{shape:.4g},{scale:.6g}h",
        note="; ".join(notes),
    )


def _weibull(disks: pl.DataFrame) -> tuple[float, Interval, float, Interval] | None:
    """Return shape and scale in hours with their intervals; None if the fit does not converge."""
    with imports_of("lifetimes"):
        from lifelines import WeibullFitter  # type: ignore[import-untyped]
        from lifelines.exceptions import (  # type: ignore[import-untyped]
            ConvergenceError,
            StatisticalWarning,
        )

    years = HOUR / YEAR
    fitter = WeibullFitter(alpha=1 - CONFIDENCE)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", StatisticalWarning)
            warnings.simplefilter("ignore", RuntimeWarning)
            fitter.fit(
                disks["age"].to_numpy() * years,
                disks["failed"].to_numpy(),
                # Ages of years keep the optimiser's steps of order one.
                entry=disks["entry"].to_numpy() * years,
            )
    except (ConvergenceError, ValueError, np.linalg.LinAlgError):
        return None
    summary = fitter.summary
    shape, scale, shape_error, scale_error = (
        float(summary.loc[name, column])
        for column in ("coef", "se(coef)")
        for name in ("rho_", "lambda_")
    )
    if not all(math.isfinite(x) and x > 0 for x in (shape, scale, shape_error, scale_error)):
        return None
    scale_interval = positive_interval(scale / years, scale_error / years)
    return shape, positive_interval(shape, shape_error), scale / years, scale_interval


def positive_interval(value: float, error: float) -> Interval:
    """Return the 95 % interval of a positive parameter, symmetric in its logarithm."""
    ratio = math.exp(min(NORMAL_QUANTILE * error / value, 300.0))
    return value / ratio, value * ratio


def poisson_interval(count: int, exposure: float) -> Interval:
    """Return the exact 95 % interval of a rate from a count (Garwood 1936)."""
    part = (1 - CONFIDENCE) / 2
    low = float(chi2.ppf(part, 2 * count)) / 2 if count else 0.0
    return low / exposure, float(chi2.ppf(1 - part, 2 * count + 2)) / 2 / exposure


def curves(records: Records, most: int) -> Iterator[Curve]:
    """Yield Kaplan-Meier's curves of the `most` largest models that have failures."""
    with imports_of("lifetimes"):
        from lifelines import KaplanMeierFitter

    shown = [group for group in groups(records) if group[1]["failed"].any()]
    several = len(shown) > 1
    for model, disks in [pair for pair in shown if not several or pair[0] != ALL][:most]:
        fitter = KaplanMeierFitter(alpha=1 - CONFIDENCE)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitter.fit(
                disks["age"].to_numpy(), disks["failed"].to_numpy(), entry=disks["entry"].to_numpy()
            )
        failed = 1 - fitter.survival_function_.iloc[:, 0]
        interval = 1 - fitter.confidence_interval_
        yield Curve(
            model,
            [float(time) for time in failed.index],
            failed.tolist(),
            interval.iloc[:, 1].tolist(),
            interval.iloc[:, 0].tolist(),
        )
