"""Busy share of each core over the run, and the states of all cores."""

from collections.abc import Iterator

import numpy as np
from matplotlib.ticker import PercentFormatter

from headrace.report.profile_report.chart import Chart
from headrace.report.profile_report.data import ProfileData, maximum
from headrace.report.profile_report.time_chart import SMALL, empty_time_chart

STATES = {
    "user": "#0072B2",
    "nice": "#56B4E9",
    "system": "#D55E00",
    "irq": "#CC79A7",
    "softirq": "#882255",
    "steal": "#000000",
    "iowait": "#E69F00",
}
BUSY = ("user", "nice", "system", "irq", "softirq", "steal")


def charts(data: ProfileData) -> Iterator[Chart]:
    """Yield the cores as a map, and the states of all cores stacked below it."""
    cores = data.cores
    if not cores or not data.rates.height:
        return
    height = min(max(0.16 * len(cores), 0.6), 3.2)
    figure, (upper, lower) = empty_time_chart(data, [height, 1.3], [0, 1], right=0.75)
    edges = np.append(data.rates["from_s"].to_numpy(), data.rates["to_s"][-1])
    busy = np.array(
        [
            data.sum(*(f"cpu.{core}.{state}" for state in BUSY)).fill_null(np.nan).to_numpy()
            for core in cores
        ]
    )
    mesh = upper.pcolormesh(
        edges,
        np.arange(len(cores) + 1) - 0.5,
        100 * busy,
        cmap="cividis",
        vmin=0,
        vmax=100,
        rasterized=True,
    )
    step = -(-len(cores) // 16)
    upper.set_yticks(range(0, len(cores), step), cores[::step])
    upper.set_ylabel("core", fontsize=SMALL)
    upper.grid(visible=False)
    bar = figure.colorbar(mesh, cax=upper.inset_axes((1.015, 0.0, 0.015, 1.0)))
    bar.set_label("busy, %", fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)
    middles = ((data.rates["from_s"] + data.rates["to_s"]) / 2).to_numpy()
    states = [state for state in STATES if maximum(data.column(f"cpu.{state}")) > 0]
    shares = [data.column(f"cpu.{state}").fill_null(0.0).to_numpy() for state in states]
    if shares:
        lower.stackplot(
            middles, *shares, colors=[STATES[state] for state in states], labels=states, linewidth=0
        )
        lower.legend(
            loc="lower left",
            bbox_to_anchor=(-0.01, 0.98),
            ncols=7,
            frameon=False,
            fontsize=SMALL,
            borderaxespad=0.1,
        )
    lower.set_ylim(0, 1)
    lower.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    lower.set_ylabel("all cores", fontsize=SMALL)
    yield Chart(
        "cores",
        "Cores",
        "Busy share of each core, and the states of all cores together. A single-threaded program"
        " moves from core to core; the map shows it.",
        figure,
    )
