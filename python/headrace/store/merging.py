"""What several measurements say together, from the histograms that the store has of each."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import polars as pl

from headrace.histograms import LATENCIES, By, percentiles
from headrace.store.figures import group

if TYPE_CHECKING:
    from headrace.store.catalogue import Store
    from headrace.store.samples import Key

TABLE = "histograms"


def merged(store: "Store", ids: Sequence[str], step: str | None = None) -> "dict[Key, float]":
    """Percentiles of service time over all operations of these results, by operation and by group
    of operations, of ladders at a step; nothing if there is one result, or one of them has no
    histograms."""
    if len(ids) < 2 or not all(TABLE in {it.name for it in store.contents(one)} for one in ids):
        return {}
    tables = [_of_step(store.table(one, TABLE), step) for one in ids]
    names = {quantile: f"latency_{name}_s" for name, quantile in LATENCIES.items()}
    found: dict[Key, float] = {}
    ways: tuple[tuple[By, Callable[[str], str]], ...] = (("group", group), ("operation", str))
    for by, named in ways:
        rows = percentiles(tables, by=by).filter(time="service")
        for name, quantile, value in rows.select(by, "quantile", "time_s").iter_rows():
            found[named(name), names[quantile]] = float(value)
    return found


def _of_step(histograms: pl.DataFrame, step: str | None) -> pl.DataFrame:
    if step is None:
        return histograms
    # Only those of ladders have the column.
    return histograms.filter(step=step) if "step" in histograms.columns else histograms.head(0)
