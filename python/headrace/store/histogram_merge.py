"""Percentiles over several measurements, from the histograms in the store."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import polars as pl

from headrace.histograms import LATENCIES, By, check, percentiles
from headrace.store.errors import StoreError
from headrace.store.figures import group

if TYPE_CHECKING:
    from headrace.store.catalogue import Store
    from headrace.store.samples import Key

TABLE = "histograms"
TIMES = {"service": "latency", "response": "response"}
"""Prefixes of the catalogue's figures for each kind of time."""


def merge_histograms(
    store: "Store", ids: Sequence[str], step: str | None = None
) -> "dict[Key, float]":
    """Return percentiles of service and response times over all operations of these results, by
    operation and by group of operations. With `step`, use that step of load sweeps. Empty for one
    result, or if a result lacks histograms."""
    if len(ids) < 2 or not all(TABLE in {part.name for part in store.contents(one)} for one in ids):
        return {}
    tables = [_of_step(store.table(one, TABLE), step) for one in ids]
    names = {quantile: name for name, quantile in LATENCIES.items()}
    values: dict[Key, float] = {}
    ways: tuple[tuple[By, Callable[[str], str]], ...] = (("group", group), ("operation", str))
    for by, named in ways:
        try:
            rows = percentiles(tables, by=by).select(by, "time", "quantile", "time_s")
        except (ValueError, pl.exceptions.PolarsError):
            # Earlier versions took in what was damaged.
            raise _damaged(ids, tables) from None
        for name, time, quantile, value in rows.iter_rows():
            values[named(name), f"{TIMES[time]}_{names[quantile]}_s"] = float(value)
    return values


def _damaged(ids: Sequence[str], tables: Sequence[pl.DataFrame]) -> StoreError:
    """The error for the first table that is none of histograms."""
    for identifier, table in zip(ids, tables, strict=True):
        try:
            check(table)
        except ValueError as error:
            return StoreError(f"the histograms of {identifier} are damaged: {error}")
    return StoreError(f"the histograms of {', '.join(ids)} cannot be merged")


def _of_step(histograms: pl.DataFrame, step: str | None) -> pl.DataFrame:
    if "step" not in histograms.columns:
        return histograms if step is None else histograms.head(0)
    return histograms.head(0) if step is None else histograms.filter(step=step)
