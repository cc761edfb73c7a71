"""Histograms of service and response times: kept whole, so that results can be put together.

Each is text as HdrHistogram's logs have it (its version 2, deflated, in base64), of nanoseconds,
so that other tools read it as well.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from headrace import _core

SCHEMA = pl.Schema({"operation": pl.String, "time": pl.String, "histogram": pl.String})
"""Columns of a measurement's histograms; `time` is `service` or `response`."""
ALL = "all"
"""In the place of an operation: all of them together."""
LATENCIES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


def percentiles(
    histograms: Sequence[pl.DataFrame], quantiles: Sequence[float] = tuple(LATENCIES.values())
) -> pl.DataFrame:
    """The quantiles of several results' histograms together: each operation counts as often as
    it was carried out, which a mean of percentiles does not do.

    Times in seconds by operation, and of all of them (`all`). Raises ValueError if what is given
    is no histogram.
    """
    rows = [
        {"operation": operation, "time": time, "count": found[0], "quantile": at, "time_s": value}
        for operation, time, texts in _groups(pl.concat([_columns(it) for it in histograms]))
        for found in [_core.merged_histograms(texts, list(quantiles))]
        for at, value in zip(quantiles, found[3], strict=True)
    ]
    schema = {"operation": pl.String, "time": pl.String, "count": pl.UInt64}
    return pl.DataFrame(rows, schema=schema | {"quantile": pl.Float64, "time_s": pl.Float64})


def latencies(histograms: pl.DataFrame, time: str) -> dict[str, dict[str, Any]]:
    """Latency of each operation and of all, as a measurement's document has it."""
    found = {}
    for operation, of, texts in _groups(histograms):
        if of == time:
            count, mean, longest, values = _core.merged_histograms(texts, [*LATENCIES.values()])
            at = dict(zip(LATENCIES, values, strict=True))
            found[operation] = {"count": count, "mean": mean, **at, "max": longest}
    return found


def _groups(histograms: pl.DataFrame) -> Iterator[tuple[str, str, list[str]]]:
    """Operations and all of them, by time, with the histograms of each."""
    for (time,), part in histograms.group_by("time", maintain_order=True):
        for (operation,), own in part.group_by("operation", maintain_order=True):
            yield str(operation), str(time), own["histogram"].to_list()
        yield ALL, str(time), part["histogram"].to_list()


def _columns(histograms: pl.DataFrame) -> pl.DataFrame:
    return histograms.select(SCHEMA.names())
