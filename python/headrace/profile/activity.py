"""Use of time by process over a run, from the samples or the trace."""

import math
from typing import Literal

import numpy as np
import polars as pl

from headrace.profile.document import Activity

MOST_COLUMNS = 80
MOST_ROWS = 31
"""With the row of the other processes, as many as a chart can name."""
LEAST_SHARE = 0.01
"""Part of the time below which a process has no row, beyond the first `FEWEST_ROWS`."""
FEWEST_ROWS = 8
DIGITS = 4
STEPS = (1, 2, 5, 10)


def activity(
    processes: pl.DataFrame, trace: pl.DataFrame | None, duration_s: float
) -> Activity | None:
    """Return the use of time by process; None with fewer than two processes.

    Sampled processor time lacks processes that end within an interval. Those show by their calls:
    the kind counts of which there is more.

    Parameters:
        processes: Figures by process, as `headrace.profile.recording.processes` returns them.
        trace: Captured calls on the same clock; None without a trace.
        duration_s: Duration of the run in seconds.
    """
    names = dict(processes.select(pl.col("pid").cast(pl.String), "name").iter_rows())
    sampled = processes.select(
        process=pl.col("pid").cast(pl.String),
        begin_s="from_s",
        length_s=pl.col("to_s") - pl.col("from_s"),
        busy=pl.col("user").fill_null(0.0) + pl.col("system").fill_null(0.0),
    )
    processor_s = _seconds(sampled)
    least_s = float(sampled["length_s"].median() or 0.0)  # type: ignore[arg-type]
    kind: Literal["calls", "processor"] = "processor"
    table, calls_s = sampled, None
    if trace is not None:
        calls = trace.select(
            "process",
            begin_s=pl.col("time_ns") / 1e9,
            length_s=pl.col("duration_ns") / 1e9,
            busy=pl.lit(1.0),
        )
        calls_s = _seconds(calls)
        if calls_s > processor_s:
            table, kind, least_s = calls, "calls", 0.0
    table = table.filter((pl.col("busy") > 0) & (pl.col("length_s") > 0))
    if duration_s <= 0 or table["process"].n_unique() < 2:
        return None
    column_s = _column(max(duration_s / MOST_COLUMNS, least_s))
    edges = np.arange(math.ceil(duration_s / column_s - 1e-9) + 1) * column_s
    spent = [
        ((edge - pl.col("begin_s")).clip(0.0, pl.col("length_s")) * pl.col("busy")).sum()
        for edge in edges
    ]
    rows = (
        table.sort("begin_s")
        .group_by("process", maintain_order=True)
        .agg(
            total_s=(pl.col("length_s") * pl.col("busy")).sum(),
            **{str(at): one for at, one in enumerate(spent)},
        )
        .with_row_index("order")
        .sort("total_s", descending=True, maintain_order=True)
    )
    active = rows.filter(pl.col("total_s") >= LEAST_SHARE * pl.col("total_s").sum()).height
    shown = rows.head(min(max(active, FEWEST_ROWS), MOST_ROWS)).sort("order")
    rest = rows.slice(shown.height)
    sums = [str(at) for at in range(len(edges))]
    values = shown.select(sums).to_numpy()
    if rest.height:
        values = np.vstack((values, rest.select(sums).to_numpy().sum(axis=0)))
    shares = np.round(np.diff(values, axis=1) / column_s, DIGITS)
    return Activity(
        kind=kind,
        column_s=column_s,
        processes=[f"{names[pid]} {pid}" if pid in names else pid for pid in shown["process"]],
        shares=shares.tolist(),
        merged=rest.height,
        calls_s=calls_s,
        processor_s=processor_s,
    )


def _seconds(table: pl.DataFrame) -> float:
    return float((table["length_s"] * table["busy"]).sum())


def _column(width: float) -> float:
    """Return the next width of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(width))
    return next(step * power for step in STEPS if step * power >= width * (1 - 1e-9))
