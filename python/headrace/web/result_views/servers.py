"""View of the data servers of a simulation over time."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from headrace.simulate.frames import SERVER_SERIES, merged_windows
from headrace.web.heat_map import HeatMap
from headrace.web.result_views.origin import note

WINDOWS = 30
"""Most columns."""
MOST_ROWS = 40
"""Servers up to which each has a row; of more the busiest are shown."""


def show_servers(series: Mapping[str, Sequence[Any]]) -> None:
    """Show how busy each data server was over time: a row for each, or for the busiest ones.

    Args:
        series: Columns of `Result.server_series`.
    """
    table = pl.DataFrame({name: series[name] for name in SERVER_SERIES}, schema=SERVER_SERIES)
    first = table.filter(pl.col("seed") == pl.col("seed").first())
    # Of cards and devices that are links of the network, nothing is known by server.
    if first["server"].n_unique() < 2 or first["utilisation"].max() == 0:
        return
    wide = merged_windows(first, WINDOWS).pivot(
        ["time_s"], index=["server", "group"], values="utilisation"
    )
    busy = wide.drop("server", "group")
    shown = wide.with_columns(mean=busy.mean_horizontal())
    if wide.height > MOST_ROWS:
        shown = shown.top_k(MOST_ROWS, by="mean").sort("server")
        note(f"the heat map shows the {MOST_ROWS} busiest of {wide.height} data servers")
    names = [
        str(server) if group is None else f"{server} ({group})"
        for server, group in shown.select("server", "group").iter_rows()
    ]
    heat_map = HeatMap(
        "start of the window (s)",
        [f"{float(it):.4g}" for it in busy.columns],
        "server",
        names,
        "% busy",
        limits=(0, 100),
        downwards=True,
    )
    rows = shown.select(busy.columns).rows()
    heat_map.show(
        "Data servers over time",
        [[None if it is None else 100 * it for it in row] for row in rows],
    )
