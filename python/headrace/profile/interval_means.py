"""Means of figures over intervals of different lengths."""

import polars as pl


def mean_over_time(rates: pl.DataFrame, column: str) -> float | None:
    """Return the mean of a figure over the time in which it is known.

    Args:
        rates: Frame of `headrace.profile.recording.rates`.
        column: Name of the figure.

    Returns:
        The mean, weighted with the lengths of the intervals; None if the figure is unknown.
    """
    return None if column not in rates.columns else weighted_mean(rates[column], lengths(rates))


def lengths(rates: pl.DataFrame) -> pl.Series:
    """Return the length of each interval in seconds."""
    return rates["to_s"] - rates["from_s"]


def weighted_mean(values: pl.Series, weights: pl.Series) -> float | None:
    """Return the mean of the known values with their weights; None if there is none."""
    numbers = values.cast(pl.Float64)
    known = numbers.is_not_null() & numbers.is_not_nan()
    total = float(weights.filter(known).sum())
    if total <= 0:
        return None
    return float((numbers.filter(known) * weights.filter(known)).sum()) / total
