"""Results of a run as frames with SI units in the column names."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from headrace._core import TRACE_OPERATIONS
from headrace.simulate.outcome import Columns, Document, RunTables

OPERATION = pl.Enum(TRACE_OPERATIONS)

SERIES = pl.Schema(
    {
        "seed": pl.UInt64(),
        "time_s": pl.Float64(),
        "window_s": pl.Float64(),
        "group": pl.String(),
        "operation": OPERATION,
        "bytes": pl.UInt64(),
        "throughput_bytes_per_s": pl.Float64(),
    }
)
SERVER_SERIES = pl.Schema(
    {
        "seed": pl.UInt64(),
        "time_s": pl.Float64(),
        "window_s": pl.Float64(),
        "server": pl.UInt32(),
        "group": pl.String(),
        "utilisation": pl.Float64(),
        "in_progress": pl.Float64(),
    }
)
LATENCY_DISTRIBUTION = pl.Schema({"latency_s": pl.Float64(), "share": pl.Float64()})


MOST_POINTS = 500
"""Most points of the latency distribution over all replications."""


class Frames(NamedTuple):
    """The tables of a result that was loaded."""

    series: pl.DataFrame
    latency_distribution: pl.DataFrame
    server_series: pl.DataFrame = pl.DataFrame(schema=SERVER_SERIES)


def server_series(seed: int, columns: Columns | None) -> pl.DataFrame:
    """Return the utilisation of the data servers over time."""
    if columns is None:
        return pl.DataFrame(schema=SERVER_SERIES)
    servers, windows = columns["servers"], len(columns["start_s"])
    each = pl.DataFrame({"server": range(servers), "group": columns["groups"]})
    times = pl.DataFrame({"time_s": columns["start_s"], "window_s": columns["window_s"]})
    table = times.join(each, how="cross", maintain_order="left_right").with_columns(
        seed=pl.lit(seed, dtype=pl.UInt64),
        utilisation=pl.Series(columns["utilisation"], dtype=pl.Float64),
        in_progress=pl.Series(columns["in_progress"], dtype=pl.Float64),
    )
    assert table.height == servers * windows
    return table.select(list(SERVER_SERIES)).cast(SERVER_SERIES)


REQUESTS_IN_WINDOW = 10
"""Mean number of requests in a window. With fewer, a line would show single requests rather than a
rate."""
FEWEST_WINDOWS = 10
MOST_SAVED = 10_000
"""Most rows of the data servers over time that are saved with a result."""


def saved_server_series(table: pl.DataFrame) -> pl.DataFrame:
    """Return the part of the data servers over time that is saved with a result.

    Neighbouring windows are merged until the rows are few enough. Only the first replication is
    saved. One server has no heat map, and nothing is saved of it.
    """
    first = table.filter(pl.col("seed") == pl.col("seed").first())
    servers = first["server"].n_unique()
    return first.clear() if servers < 2 else merged_windows(first, MOST_SAVED // servers)


def mean_rates(
    table: pl.DataFrame, ends_s: Sequence[float], requests: float
) -> tuple[list[float], dict[tuple[str, str], list[float]]]:
    """Return bytes a second over time, means over replications.

    Parameters:
        table: A `series`, with a row at least.
        ends_s: End of each replication in seconds.
        requests: Number of completed requests; windows are so long that they hold enough of them.

    Returns:
        The edges of the windows in seconds, and by group and operation a value for each window.
    """
    # A command that keeps its result needs no numpy.
    import numpy as np

    groups, operations = (table[name].n_unique() for name in ("group", "operation"))
    window = _window(table, requests / (groups * operations))
    start, end = float(table["time_s"].to_numpy().min()), max(ends_s)
    number = pl.col("time_s").sub(start).truediv(window).add(1e-9).floor().cast(pl.Int64)
    table = table.with_columns(number.alias("window"))
    edges = start + window * np.arange(int(table["window"].to_numpy().max()) + 2)
    if end > edges[-1]:
        edges = np.append(edges, end)
    # A run covers only the part of a window before its own end.
    spent = sum((np.diff(np.minimum(edges, max(ends, start))) for ends in ends_s), np.zeros(1))
    edges[-1] = min(edges[-1], end)
    rates = {}
    for (group, operation), part in table.group_by("group", "operation", maintain_order=True):
        moved = np.zeros(len(edges) - 1)
        np.add.at(moved, part["window"].to_numpy(), part["bytes"].to_numpy())
        mean = np.divide(moved, spent, out=np.zeros_like(moved), where=spent > 0)
        rates[str(group), str(operation)] = mean.tolist()
    return edges.tolist(), rates


def _window(table: pl.DataFrame, requests: float) -> float:
    """Return the length of windows that hold enough requests: a multiple of the series' own."""
    longest, time = float(table["window_s"].to_numpy().max()), table["time_s"].to_numpy()
    windows = (time.max() - time.min()) / longest + 1
    number = max(requests / REQUESTS_IN_WINDOW, FEWEST_WINDOWS)
    return float(longest * max(1, math.ceil(windows / number)))


def merged_windows(table: pl.DataFrame, windows: int) -> pl.DataFrame:
    """Return the data servers of one run over time in no more windows: means of neighbours."""
    number = table["time_s"].rle_id()
    each = -(-(table["time_s"].n_unique()) // max(windows, 1))
    if each <= 1:
        return table
    length = pl.col("window_s").sum()
    mean = [
        (pl.col(key) * pl.col("window_s")).sum() / length for key in ("utilisation", "in_progress")
    ]
    merged = (
        table.with_columns(number=number // each)
        .group_by("number", "seed", "server", "group", maintain_order=True)
        .agg(pl.col("time_s").first(), length, *mean)
    )
    return merged.select(list(SERVER_SERIES)).cast(SERVER_SERIES)


class BusyServer(NamedTuple):
    """How busy a data server was."""

    name: str
    """Its number, and its group if it has one."""
    busy: Sequence[float | None]
    """Utilisation in each window."""


def busy_servers(
    table: pl.DataFrame, windows: int | None = None
) -> tuple[list[float], list[BusyServer]]:
    """Return the data servers of the first run over time, in no more windows than `windows`, and
    the starts of the windows in seconds."""
    if not table.height:
        return [], []
    first = table.filter(table["seed"] == table["seed"][0])
    if windows is not None:
        first = merged_windows(first, windows)
    wide = first.pivot("time_s", index=["server", "group"], values="utilisation")
    names = wide.columns[2:]
    servers = [
        BusyServer(str(server) if group is None else f"{server} ({group})", busy)
        for server, group, *busy in wide.rows()
    ]
    return [float(name) for name in names], servers


def series(tables: RunTables) -> pl.DataFrame:
    """Return the bytes that a run moved over time."""
    names = pl.Series(tables.groups, dtype=pl.String)
    seed = pl.lit(tables.seed, dtype=pl.UInt64).alias("seed")
    window = pl.lit(tables.window_s, dtype=pl.Float64)
    # The run may have ended within the last window.
    spent = pl.min_horizontal(window, tables.simulated_s - pl.col("time_s"))
    length = pl.when(spent > 0).then(spent).otherwise(window)
    table = named(tables.series_columns, names).with_columns(
        seed, window_s=length, throughput_bytes_per_s=pl.col("bytes") / length
    )
    return table.select(list(SERIES)).cast(SERIES)


def latency_distribution(curve: Columns) -> pl.DataFrame:
    """Return the share of requests that took no longer than a latency."""
    return pl.DataFrame(curve, schema=LATENCY_DISTRIBUTION)


def concatenated(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return the rows of all tables."""
    return pl.concat(tables)


def mean_distribution(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return the mean over replications of the shares of requests that took no longer."""
    # Only replications need it.
    import numpy as np

    tables = [table for table in tables if table.height]
    if not tables:
        return pl.DataFrame(schema=LATENCY_DISTRIBUTION)
    latency = np.unique(np.concatenate([table["latency_s"].to_numpy() for table in tables]))
    if len(latency) > MOST_POINTS:
        latency = latency[np.linspace(0, len(latency) - 1, MOST_POINTS).round().astype(int)]
    share = np.zeros(len(latency))
    for table in tables:
        steps = np.concatenate([[0.0], table["share"].to_numpy()])
        share += steps[np.searchsorted(table["latency_s"].to_numpy(), latency, side="right")]
    return pl.DataFrame(
        {"latency_s": latency, "share": share / len(tables)}, schema=LATENCY_DISTRIBUTION
    )


def named(columns: Columns, groups: pl.Series) -> pl.DataFrame:
    """A frame with names in the place of numbers."""
    operations = pl.Series(TRACE_OPERATIONS, dtype=OPERATION)
    table = pl.DataFrame(
        {
            **columns,
            "group": groups.gather(columns["group"]),
            "operation": operations.gather(columns["operation"]),
        }
    )
    if "server" in columns:
        # A number below 0 stands for none.
        server = pl.when(pl.col("server") >= 0).then(pl.col("server"))
        table = table.with_columns(server=server.cast(pl.UInt32))
    return table


def summary(document: Document) -> pl.DataFrame:
    """Return throughput, rates and latency; an empty group or operation means all of them."""
    rows = [
        {"group": group, **row}
        for group, part in [(None, document), *document["groups"].items()]
        for row in _by_operation(part)
    ]
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        "group": pl.String,
        "operation": OPERATION,
        "count": pl.Float64,
        "bytes": pl.Float64,
        "active_s": pl.Float64,
        "throughput_bytes_per_s": pl.Float64,
        "operations_per_s": pl.Float64,
        **{f"latency_{figure}_s": pl.Float64 for figure in ("mean", "p50", "p95", "p99", "max")},
        "share_mean": pl.Float64,
        "share_sd": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema)


def _by_operation(part: Document) -> list[dict[str, Any]]:
    rows = []
    share = part.get("share") or {}
    for name, latency in part["latency"].items():
        row = {f"latency_{figure}_s": value for figure, value in latency.items()}
        row["count"] = row.pop("latency_count_s")
        if name == "all":
            row |= {"share_mean": share.get("mean"), "share_sd": share.get("sd")}
        else:
            rates = part["operations"][name]
            row |= {
                "operation": name,
                "bytes": rates["bytes"],
                "active_s": rates["active_seconds"],
                "throughput_bytes_per_s": part["throughput"].get(name),
                "operations_per_s": rates["per_second"],
            }
        rows.append(row)
    return rows


def caches(document: Document) -> pl.DataFrame:
    """Return the caches; the copies of a cache are merged."""
    schema = {
        "cache": pl.String,
        "copies": pl.UInt32,
        "hits": pl.Float64,
        "read_ahead": pl.Float64,
        "misses": pl.Float64,
        "hit_ratio": pl.Float64,
        "hit_bytes": pl.Float64,
        "read_ahead_bytes": pl.Float64,
        "miss_bytes": pl.Float64,
        "evictions": pl.Float64,
        "evicted_bytes": pl.Float64,
        "evicted_dirty_bytes": pl.Float64,
        "dirty_bytes": pl.Float64,
    }
    rows = [{key: row.get(key) for key in schema} for row in document.get("caches", ())]
    return pl.DataFrame(rows, schema=schema)


OVER_TIME = pl.Schema(
    {
        "time_s": pl.Float64(),
        "of": pl.String(),
        "figure": pl.Enum(["dirty_bytes", "hit_ratio", "queue", "most_queue"]),
        "value": pl.Float64(),
    }
)


def over_time(document: Document) -> pl.DataFrame:
    """Return dirty bytes, hit ratios and queue lengths over time; no rows if not recorded."""
    recorded = document.get("over_time")
    if recorded is None:
        return pl.DataFrame(schema=OVER_TIME)
    time = recorded["time_s"]
    parts = [
        {"time_s": time, "of": [name] * len(time), "figure": [figure] * len(time), "value": values}
        for kind in ("caches", "stations")
        for name, figures in recorded[kind].items()
        for figure, values in figures.items()
    ]
    tables = [pl.DataFrame(part, schema=OVER_TIME) for part in parts]
    return pl.concat([pl.DataFrame(schema=OVER_TIME), *tables])


def stations(document: Document) -> pl.DataFrame:
    """Return the stations; the copies of a station are merged."""
    schema = {
        "station": pl.String,
        "discipline": pl.String,
        "copies": pl.UInt32,
        "servers": pl.UInt32,
        "utilisation": pl.Float64,
        "most_utilisation": pl.Float64,
        "busiest": pl.String,
        "queue": pl.Float64,
        "service": pl.Float64,
        "residence": pl.Float64,
        "visits": pl.Float64,
        "unfinished": pl.Float64,
        "lost": pl.Float64,
    }
    table = pl.DataFrame(document["stations"], schema=schema)
    return table.rename({"service": "service_s", "residence": "residence_s"})


def servers(document: Document) -> pl.DataFrame:
    """Return the data servers, one a row."""
    schema = {
        "server": pl.UInt32,
        "group": pl.String,
        "busiest": pl.String,
        "utilisation": pl.Float64,
        "queue": pl.Float64,
        "in_progress": pl.Float64,
        "requests": pl.Float64,
        "read_bytes": pl.Float64,
        "written_bytes": pl.Float64,
        "throughput": pl.Float64,
        "latency": pl.Float64,
    }
    table = pl.DataFrame(document.get("servers", []), schema=schema)
    return table.rename({"throughput": "throughput_bytes_per_s", "latency": "latency_s"})


def copies(document: Document) -> pl.DataFrame:
    """Return the copies of the data servers' stations, one a row."""
    schema = {
        "station": pl.String,
        "server": pl.UInt32,
        "copy": pl.UInt32,
        "utilisation": pl.Float64,
        "queue": pl.Float64,
        "service": pl.Float64,
        "residence": pl.Float64,
        "visits": pl.Float64,
        "unfinished": pl.Float64,
    }
    table = pl.DataFrame(document.get("copies", []), schema=schema)
    return table.rename({"service": "service_s", "residence": "residence_s"})


def breakdown(document: Document) -> pl.DataFrame:
    """Return the time that requests spend in each place, most first."""
    schema = {"place": pl.String, "share": pl.Float64, "seconds": pl.Float64, "waiting": pl.Float64}
    table = pl.DataFrame(document["breakdown"], schema=schema)
    return table.rename({"seconds": "time_s", "waiting": "waiting_s"})
