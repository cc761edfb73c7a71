"""Sizes of the traced requests, and their order in the files."""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from headrace.quantities import binary_size, percent
from headrace.report.profile_report.chart import Chart
from headrace.report.profile_report.data import Document, ProfileData
from headrace.report.profile_report.time_chart import READ, SMALL, WIDTH, WRITE

STEPS = {
    "consecutive": "#0072B2",
    "forward": "#56B4E9",
    "backward": "#CC79A7",
    "strided": "#009E73",
    "jump": "#D55E00",
    "first": "#999999",
}
"""Positions of a request after the one before it, and their colours."""


def charts(data: ProfileData) -> Iterator[Chart]:
    """Yield the sizes and the order of requests."""
    traits = data.profile.get("characteristics") or {}
    sizes = [size for size in traits.get("request_sizes") or [] if size["reads"] or size["writes"]]
    if not sizes:
        return
    steps = {name: (traits.get("access") or {}).get(name, 0) for name in STEPS}
    rows = 2 if sum(steps.values()) else 1
    figure = Figure(figsize=(WIDTH, 2.4 + 0.9 * (rows - 1)), layout="constrained")
    axes = figure.subplots(rows, 1, height_ratios=[1.0, 0.16][:rows], squeeze=False)[:, 0]
    _sizes(axes[0], sizes)
    if rows == 2:
        _steps(axes[1], steps)
    yield Chart(
        "requests",
        "Sizes and order of requests",
        "Traced reads and writes by size, in classes of powers of two. Below: position of each"
        " request after the one before it, of the same process in the same file. Requests of"
        " 1 MiB and more in sequence suit parallel file systems best (Hindman 2011, section 1.4).",
        figure,
    )


def _sizes(axes: Axes, sizes: list[Document]) -> None:
    at = np.arange(len(sizes))
    for offset, key, colour in ((-0.2, "reads", READ), (0.2, "writes", WRITE)):
        axes.bar(at + offset, [size[key] for size in sizes], 0.38, color=colour, label=key)
    starts = [size["from_bytes"] if "from_bytes" in size else size["from"] for size in sizes]
    axes.set_xticks(at, [binary_size(start) for start in starts], rotation=40 if len(at) > 9 else 0)
    axes.set_xlabel("size, from", fontsize=SMALL)
    axes.set_ylabel("requests", fontsize=SMALL)
    most = max(max(size["reads"], size["writes"]) for size in sizes)
    least = min(size[key] for size in sizes for key in ("reads", "writes") if size[key])
    if most > 100 * least:
        axes.set_yscale("log")
        axes.set_ylim(bottom=0.5)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(-0.01, 0.98),
        ncols=2,
        frameon=False,
        fontsize=SMALL,
        borderaxespad=0.1,
    )
    _plain(axes)


def _steps(axes: Axes, steps: dict[str, int]) -> None:
    total = sum(steps.values())
    start = 0.0
    for name, count in steps.items():
        if not count:
            continue
        share = count / total
        label = f"{name} {percent(share)} %"
        axes.barh(0, share, left=start, color=STEPS[name], height=0.8, label=label)
        start += share
    axes.set_xlim(0, 1)
    axes.set_yticks([])
    axes.set_xticks([])
    axes.spines[:].set_visible(False)
    axes.patch.set_alpha(0.0)
    axes.legend(
        loc="upper left",
        bbox_to_anchor=(-0.01, 0.0),
        ncols=4,
        frameon=False,
        fontsize=SMALL,
        borderaxespad=0.1,
    )


def _plain(axes: Axes) -> None:
    axes.patch.set_alpha(0.0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=SMALL)
