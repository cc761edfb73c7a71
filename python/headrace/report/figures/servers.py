"""Figure of the utilisation of data servers over time: a heat map."""

import numpy as np
import polars as pl
from matplotlib.figure import SubFigure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from headrace.render.style import Figures, Sheet, nothing, sheet, short

LONGEST_LABEL = 30
MOST_LABELS = 32
"""Servers up to which each row has its name."""
TALLEST = 9.0
"""Inches."""


def draw(data: Figures, on: SubFigure | None = None) -> Sheet:
    """Draw a row for each server: how busy its busiest station was, window after window.

    Only the first replication is drawn.
    """
    figure, axes = sheet("Utilisation of data servers", data.name, height(data), on)
    table = _first_run(data)
    if table is None or table.is_empty():
        nothing(axes, "no data server was sampled")
        return figure
    wide = table.pivot("server", index=["time_s", "window_s"], values="utilisation")
    edges = [*wide["time_s"], wide["time_s"][-1] + wide["window_s"][-1]]
    busy = wide.drop("time_s", "window_s").to_numpy().T
    rows = np.arange(len(busy) + 1) - 0.5
    mesh = axes.pcolormesh(edges, rows, busy, cmap="cividis", vmin=0.0, vmax=1.0, rasterized=True)
    bar = axes.figure.colorbar(mesh, ax=axes, pad=0.02)
    bar.set_label("busy share of the window")
    bar.ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_xlabel("simulated time (s)")
    axes.set_ylabel("server")
    axes.invert_yaxis()
    axes.grid(visible=False)
    names = _names(table)
    if len(names) <= MOST_LABELS:
        axes.set_yticks(range(len(names)), names)
    else:
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    return figure


def height(data: Figures) -> float:
    """Return the height of the figure in inches."""
    table = _first_run(data)
    servers = 0 if table is None else table["server"].n_unique()
    return min(1.9 + 0.26 * max(servers, 4), TALLEST)


def has_several(data: Figures) -> bool:
    """Return whether there are several data servers."""
    table = _first_run(data)
    return table is not None and table["server"].n_unique() > 1


def _first_run(data: Figures) -> pl.DataFrame | None:
    table = data.server_series
    if table is None or table.is_empty():
        return table
    return table.filter(pl.col("seed") == pl.col("seed").first())


def _names(table: pl.DataFrame) -> list[str]:
    """The servers by number, with their group if they have one."""
    each = table.select("server", "group").unique(maintain_order=True)
    return [
        str(server) if group is None else short(f"{server} ({group})", LONGEST_LABEL)
        for server, group in each.iter_rows()
    ]
