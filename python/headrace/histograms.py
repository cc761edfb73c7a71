"""Histograms of service and response times, which can be merged over results.

Each is text in the format of HdrHistogram's logs (version 2, deflated, base64), in nanoseconds,
which other tools read as well. The table also has the exact sum, minimum and maximum of its values.
Results of earlier versions lack them; there the histogram's buckets give them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import polars as pl

from headrace import _core

TEXTS = pl.Schema({"operation": pl.String, "time": pl.String, "histogram": pl.String})
EXACT = pl.Schema({"sum_ns": pl.UInt64, "least_ns": pl.UInt64, "most_ns": pl.UInt64})
SCHEMA = pl.Schema([*TEXTS.items(), *EXACT.items()])
"""Columns of a measurement's histograms; `time` is `service` or `response`."""
Part: TypeAlias = tuple[str, tuple[int, int, int] | None]
"""Histogram, and the exact sum, minimum and maximum of its values."""
ALL = "all"
"""Name under which all operations are merged."""
By: TypeAlias = Literal["operation", "group"]
"""Key by which histograms are merged: each operation, or each group of operations."""
LATENCIES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


def percentiles(
    histograms: Sequence[pl.DataFrame],
    quantiles: Sequence[float] = tuple(LATENCIES.values()),
    *,
    by: By = "operation",
) -> pl.DataFrame:
    """Return quantiles over the merged histograms of several results. Each operation has the same
    weight, unlike in a mean of percentiles.

    Times are in seconds, by operation or by group of operations, and of all of them (`all`). Raises
    ValueError for a malformed histogram.

    Examples:
        >>> sets = {"clients.count": 2, "workload.files": 4}
        >>> workload = hr.measure.load("scenarios/striped-read.toml", sets)
        >>> measured = [hr.measure.measure(workload, ".") for _ in range(2)]
        >>> hr.measure.percentiles([one.histograms for one in measured], [0.99])["count"].to_list()
        [16, 16]
    """
    rows = [
        {by: name, "time": time, "count": row[0], "quantile": at, "time_s": value}
        for name, time, parts in _together(
            pl.concat([_columns(histogram).select(SCHEMA.names()) for histogram in histograms]), by
        )
        for row in [_core.merged_histograms(parts, list(quantiles))]
        for at, value in zip(quantiles, row[3], strict=True)
    ]
    schema = {by: pl.String, "time": pl.String, "count": pl.UInt64}
    return pl.DataFrame(rows, schema=schema | {"quantile": pl.Float64, "time_s": pl.Float64})


def latencies(
    histograms: pl.DataFrame, time: str, *, by: By = "operation"
) -> dict[str, dict[str, Any]]:
    """Latency of each operation, or group of operations, and of all, as a measurement's document
    has it."""
    columns = {}
    for name, key, parts in _together(_columns(histograms), by):
        if key == time:
            count, mean, longest, values = _core.merged_histograms(parts, [*LATENCIES.values()])
            at = dict(zip(LATENCIES, values, strict=True))
            columns[name] = {"count": count, "mean": mean, **at, "max": longest}
    return columns


def _together(histograms: pl.DataFrame, by: By) -> Iterator[tuple[str, str, list[Part]]]:
    """Yield each operation or group, and `all`, by kind of time, with its histograms."""
    if by == "group":
        groups = {name: group for name, group, _ in _core.operations()}
        # Operations of later versions are in no group that this one knows.
        group = pl.col("operation").replace_strict(groups, default=None)
        histograms = histograms.with_columns(group=group)
    for (time,), part in histograms.group_by("time", maintain_order=True):
        for (name,), own in part.group_by(by, maintain_order=True):
            if name is not None:
                yield str(name), str(time), _parts(own)
        yield ALL, str(time), _parts(part)


def _parts(histograms: pl.DataFrame) -> list[Part]:
    """Return each histogram with its exact figures where it has all of them."""
    rows = histograms.select("histogram", *EXACT.names()).iter_rows()
    return [
        (text, None if None in (total, least, most) else (total, least, most))
        for text, total, least, most in rows
    ]


def check(histograms: pl.DataFrame) -> None:
    """Raise ValueError, which names the first row that is no histogram."""
    for name in TEXTS.names():
        if histograms.schema.get(name) != TEXTS[name]:
            raise ValueError(f"{name}: expected a column of text")
    try:
        parts = _parts(_columns(histograms))
    except pl.exceptions.PolarsError:
        raise ValueError(f"{', '.join(EXACT.names())}: expected columns of whole numbers") from None
    for number, part in enumerate(parts):
        try:
            _core.merged_histograms([part], [])
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(f"histogram.{number}: {error}") from None


def with_exact(columns: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """The columns of a saved table of histograms, with nulls for those that it lacks."""
    if not isinstance(columns, Mapping):
        raise TypeError("expected columns by their names")
    rows = len(next(iter(columns.values()), ()))
    return {name: [None] * rows for name in EXACT.names()} | dict(columns) if columns else {}


def _columns(histograms: pl.DataFrame) -> pl.DataFrame:
    """The columns that histograms have, with nulls for those that they lack."""
    there = histograms.columns
    exact = [
        pl.col(name).cast(kind) if name in there else pl.lit(None, dtype=kind).alias(name)
        for name, kind in EXACT.items()
    ]
    return histograms.with_columns(exact)
