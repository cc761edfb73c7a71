"""The device's requests: when each was queued, given to the device, and done."""

import polars as pl

from headrace.kernel_trace.recording import Recording

SCHEMA = pl.Schema(
    {
        "direction": pl.String,
        "bytes": pl.UInt32,
        "sector": pl.UInt64,
        "in_order": pl.Boolean,
        "depth": pl.UInt32,
        "issued_ns": pl.Int64,
        "queued_s": pl.Float64,
        "service_s": pl.Float64,
    }
)
"""`in_order`: it begins where the one before it, of the same direction, ended. `depth`: how many
the device had, this one among them. `queued_s`: from when it was put into a queue; null if it never
was. Those that were still under way at the end are left out."""

FLUSH = (1 << 64) - 1
"""The sector that a flush has when it is done; when it is issued, it is 0."""


def requests(recording: Recording) -> pl.DataFrame:
    """Return the device's requests in the order in which they were issued."""
    issued, completed = recording.of("block_rq_issue"), recording.of("block_rq_complete")
    if not issued.height or not completed.height:
        return pl.DataFrame(schema=SCHEMA)
    done = completed.select(
        pl.col("time_ns").alias("done_ns"),
        # A request that ends only when the flush behind it is done ends twice, then with sector 0.
        pl.when(_flush()).then(pl.lit(0, pl.UInt64)).otherwise("sector").alias("sector"),
        _direction(),
    ).sort("done_ns")
    issues = issued.select(
        pl.col("time_ns").alias("issued_ns"), "sector", "bytes", _direction()
    ).sort("issued_ns")
    pairs = issues.join_asof(
        done,
        left_on="issued_ns",
        right_on="done_ns",
        by=["sector", "direction"],
        strategy="forward",
        check_sortedness=False,
    ).drop_nulls("done_ns")
    pairs = _queued(pairs, recording)
    ended = pairs["done_ns"].sort()
    before = pairs["issued_ns"].rank("ordinal").cast(pl.Int64)
    finished = ended.search_sorted(pairs["issued_ns"], side="right").cast(pl.Int64)
    behind = pl.col("sector") + pl.col("bytes") // 512
    return pairs.select(
        "direction",
        "bytes",
        "sector",
        (pl.col("sector") == behind.shift(1).over("direction")).fill_null(False).alias("in_order"),
        (before - finished).clip(1).cast(pl.UInt32).alias("depth"),
        "issued_ns",
        ((pl.col("issued_ns") - pl.col("queued_ns")) * 1e-9).alias("queued_s"),
        ((pl.col("done_ns") - pl.col("issued_ns")) * 1e-9).alias("service_s"),
    )


def _queued(pairs: pl.DataFrame, recording: Recording) -> pl.DataFrame:
    """Add the time at which each request entered a queue."""
    inserted = recording.of("block_rq_insert")
    if not inserted.height:
        return pairs.with_columns(pl.lit(None, pl.Int64).alias("queued_ns"))
    puts = inserted.select(pl.col("time_ns").alias("queued_ns"), "sector", _direction()).sort(
        "queued_ns"
    )
    joined = pairs.join_asof(
        puts,
        left_on="issued_ns",
        right_on="queued_ns",
        by=["sector", "direction"],
        check_sortedness=False,
    )
    # A much earlier entry belongs to an earlier request of the same sector.
    earlier = pl.col("issued_ns").shift(1).over("sector", "direction").fill_null(0)
    late = pl.col("queued_ns") > earlier
    return joined.with_columns(pl.when(late).then("queued_ns").alias("queued_ns"))


def _flush() -> pl.Expr:
    return pl.col("rwbs").str.starts_with("FF") & (pl.col("sector") == FLUSH)


def _direction() -> pl.Expr:
    """Return the direction by the first letters of rwbs (Linux, kernel/trace/blktrace.c,
    blk_fill_rwbs)."""
    letters = pl.col("rwbs")
    return (
        pl.when(letters.str.starts_with("FF"))
        .then(pl.lit("flush"))
        .when(letters.str.contains(r"^F?W"))
        .then(pl.lit("write"))
        .when(letters.str.contains(r"^F?R"))
        .then(pl.lit("read"))
        .when(letters.str.contains(r"^F?D"))
        .then(pl.lit("discard"))
        .otherwise(pl.lit("other"))
        .alias("direction")
    )


SERVICE = pl.Schema(
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
"""Columns of `service`."""


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
    ordered = rows.sort(["count", *groups], descending=[True, False, False, False, False])
    return ordered.select(SERVICE.names()).cast(SERVICE)
