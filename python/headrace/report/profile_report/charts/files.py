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
    traits = data.profile.get("characteristics") or {}
    files = [
        entry
        for entry in (traits.get("busiest_files") or [])[:MOST]
        if entry["bytes_read"] or entry["bytes_written"]
    ]
    if not files:
        return
    factor, unit = scale(max(file["bytes_read"] + file["bytes_written"] for file in files), "B")
    figure = Figure(figsize=(WIDTH, 0.75 + 0.23 * len(files)), layout="constrained")
    axes = figure.subplots()
    at = np.arange(len(files))
    read = np.array([file["bytes_read"] for file in files]) / factor
    written = np.array([file["bytes_written"] for file in files]) / factor
    axes.barh(at, read, color=READ, height=0.65, label="read")
    axes.barh(at, written, left=read, color=WRITE, height=0.65, label="written")
    for row, one in enumerate(files):
        if one.get("pattern"):
            axes.annotate(
                foreign(one["pattern"], 16),
                (read[row] + written[row], row),
                textcoords="offset points",
                xytext=(4, 0),
                va="center",
                fontsize=SMALL,
            )
    axes.set_yticks(at, [_ending(foreign(file["file"], 4000)) for file in files])
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
