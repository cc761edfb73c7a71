"""Histograms of service and response times: kept whole, so that results can be put together.

Each is text as HdrHistogram's logs have it (its version 2, deflated, in base64), of nanoseconds,
so that other tools read it as well.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias

import polars as pl

from headrace import _core

SCHEMA = pl.Schema({"operation": pl.String, "time": pl.String, "histogram": pl.String})
"""Columns of a measurement's histograms; `time` is `service` or `response`."""
ALL = "all"
"""In the place of an operation: all of them together."""
By: TypeAlias = Literal["operation", "group"]
"""What is put together: each operation, or each group of operations."""
LATENCIES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


def percentiles(
    histograms: Sequence[pl.DataFrame],
    quantiles: Sequence[float] = tuple(LATENCIES.values()),
    *,
    by: By = "operation",
) -> pl.DataFrame:
    """The quantiles of several results' histograms together: each operation counts as often as
    it was carried out, which a mean of percentiles does not do.

    Times in seconds by operation, or by group of operations, and of all of them (`all`). Raises
    ValueError if what is given is no histogram.
    """
    rows = [
        {by: name, "time": time, "count": found[0], "quantile": at, "time_s": value}
        for name, time, texts in _together(pl.concat([_columns(it) for it in histograms]), by)
        for found in [_core.merged_histograms(texts, list(quantiles))]
        for at, value in zip(quantiles, found[3], strict=True)
    ]
    schema = {by: pl.String, "time": pl.String, "count": pl.UInt64}
    return pl.DataFrame(rows, schema=schema | {"quantile": pl.Float64, "time_s": pl.Float64})


def latencies(
    histograms: pl.DataFrame, time: str, *, by: By = "operation"
) -> dict[str, dict[str, Any]]:
    """Latency of each operation, or group of operations, and of all, as a measurement's document
    has it."""
    found = {}
    for name, of, texts in _together(histograms, by):
        if of == time:
            count, mean, longest, values = _core.merged_histograms(texts, [*LATENCIES.values()])
            at = dict(zip(LATENCIES, values, strict=True))
            found[name] = {"count": count, "mean": mean, **at, "max": longest}
    return found


def _together(histograms: pl.DataFrame, by: By) -> Iterator[tuple[str, str, list[str]]]:
    """Operations or groups, and all of them, by time, with the histograms of each."""
    if by == "group":
        groups = {name: group for name, group, _ in _core.operations()}
        # Operations of later versions are in no group that this one knows.
        group = pl.col("operation").replace_strict(groups, default=None)
        histograms = histograms.with_columns(group=group)
    for (time,), part in histograms.group_by("time", maintain_order=True):
        for (name,), own in part.group_by(by, maintain_order=True):
            if name is not None:
                yield str(name), str(time), own["histogram"].to_list()
        yield ALL, str(time), part["histogram"].to_list()


def check(histograms: pl.DataFrame) -> None:
    """Raises ValueError, which names the first row that is no histogram."""
    for name in SCHEMA.names():
        if histograms.schema.get(name) != SCHEMA[name]:
            raise ValueError(f"{name}: expected a column of text")
    for number, text in enumerate(histograms["histogram"]):
        try:
            _core.merged_histograms([text], [])
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"histogram.{number}: {error}") from None


def _columns(histograms: pl.DataFrame) -> pl.DataFrame:
    return histograms.select(SCHEMA.names())
