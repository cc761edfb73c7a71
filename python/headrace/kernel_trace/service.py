"""Service times of the device by direction, size and order."""

import polars as pl

SCHEMA = pl.Schema(
    {
        "direction": pl.String,
        "bytes": pl.UInt32,
        "in_order": pl.Boolean,
        "depth": pl.UInt32,
        "count": pl.UInt32,
        "p5_s": pl.Float64,
        "median_s": pl.Float64,
        "p95_s": pl.Float64,
        "queued_median_s": pl.Float64,
    }
)


def service(requests: pl.DataFrame) -> pl.DataFrame:
    """A row for each direction, size, order and number of requests in the device; those of which
    there were most first."""
    groups = ["direction", "bytes", "in_order", "depth"]
    rows = requests.group_by(groups).agg(
        pl.len().alias("count"),
        pl.col("service_s").quantile(0.05).alias("p5_s"),
        pl.col("service_s").median().alias("median_s"),
        pl.col("service_s").quantile(0.95).alias("p95_s"),
        pl.col("queued_s").median().alias("queued_median_s"),
    )
    found = rows.sort(["count", *groups], descending=[True, False, False, False, False])
    return found.select(SCHEMA.names()).cast(SCHEMA)
