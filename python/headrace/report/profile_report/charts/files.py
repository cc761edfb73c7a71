"""Heat of the traced files: the bytes read from and written to the busiest ones."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from headrace.report.document.content import foreign
from headrace.report.profile_report.chart import Chart
from headrace.report.profile_report.data import ProfileData
from headrace.report.profile_report.time_chart import READ, SMALL, WIDTH, WRITE, scale

MOST = 12
LONGEST = 44


def charts(data: ProfileData) -> Iterator[Chart]:
    """Yield the bytes of the busiest files."""
    found = data.profile.get("characteristics") or {}
    files = [
        it
        for it in (found.get("busiest_files") or [])[:MOST]
        if it["bytes_read"] or it["bytes_written"]
    ]
    if not files:
        return
    factor, unit = scale(max(it["bytes_read"] + it["bytes_written"] for it in files), "B")
    figure = Figure(figsize=(WIDTH, 0.75 + 0.23 * len(files)), layout="constrained")
    axes = figure.subplots()
    at = np.arange(len(files))
    read = np.array([it["bytes_read"] for it in files]) / factor
    written = np.array([it["bytes_written"] for it in files]) / factor
    axes.barh(at, read, color=READ, height=0.65, label="read")
    axes.barh(at, written, left=read, color=WRITE, height=0.65, label="written")
    for row, it in enumerate(files):
        if it.get("pattern"):
            axes.annotate(
                foreign(it["pattern"], 16),
                (read[row] + written[row], row),
                textcoords="offset points",
                xytext=(4, 0),
                va="center",
                fontsize=SMALL,
            )
    axes.set_yticks(at, [_ending(foreign(it["file"], 4000)) for it in files])
    axes.invert_yaxis()
    axes.set_xlim(0, 1.15 * float((read + written).max()))
    axes.set_xlabel(unit, fontsize=SMALL)
    axes.tick_params(labelsize=SMALL)
    axes.patch.set_alpha(0.0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(loc="lower right", frameon=False, fontsize=SMALL)
    yield Chart(
        "files",
        "Busiest files",
        "Bytes read and written by the traced calls, and how the requests in a file follow each"
        " other.",
        figure,
    )


def _ending(name: str) -> str:
    return name if len(name) <= LONGEST else f"…{name[1 - LONGEST :]}"
