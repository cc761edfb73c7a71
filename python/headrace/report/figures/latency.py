"""The distribution of latency."""

import numpy as np
from matplotlib.figure import SubFigure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, PercentFormatter

from headrace.quantities import duration
from headrace.render.style import (
    COLOURS,
    HEIGHT,
    Figures,
    Sheet,
    log_scale,
    nothing,
    sheet,
)

MARKED = (0.50, 0.95, 0.99)
SPREAD = 4.0
"""The axis shows at least this factor, so that equal latencies do not look spread."""


def draw(data: Figures, on: SubFigure | None = None) -> Sheet:
    """The share of requests that took no longer, over all requests."""
    figure, axes = sheet("Latency", data.name, HEIGHT, on)
    axes.set_xlabel("latency (ms)")
    axes.set_ylabel("requests that took no longer")
    points = data.latency_distribution
    latency, share = points["latency_s"].to_numpy(), points["share"].to_numpy()
    above = latency[latency > 0]
    if not above.size:
        nothing(axes, "no request took any time")
        return figure
    has_zeros = above.size < latency.size
    log_scale(axes.xaxis, [float(1e3 * it) for it in latency])
    axes.step(
        1e3 * np.insert(latency, 0, latency[0]),
        np.insert(share, 0, 0.0),
        where="post",
        color=COLOURS[0],
        linewidth=1.8,
    )
    # From right to left their labels would lie on the line.
    for part in MARKED:
        at = latency[min(int(np.searchsorted(share, part)), len(latency) - 1)]
        axes.plot(1e3 * at, part, "o", color=COLOURS[1], markersize=5, zorder=3)
        axes.annotate(
            f"p{100 * part:.0f}  {duration(at)}",
            (1e3 * at, part),
            textcoords="offset points",
            xytext=(8, -3 if part < 0.95 else -4 - 7 * (part < 0.99)),
            va="top",
        )
    low, high = 1e3 * above[0], 1e3 * above[-1]
    room = max(SPREAD / (high / low), 1.0) ** 0.5 * 1.3
    # Labels stand right of the line.
    axes.set_xlim(-0.1 * low if has_zeros else low / room, high * room * 1.6)
    axes.set_ylim(0, 1.04)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    if has_zeros:
        return figure
    decades = np.log10(high / low * room**2)
    labelled = (1.0, 2.0, 5.0) if decades < 3 else (1.0,)
    axes.xaxis.set_major_locator(LogLocator(subs=labelled, numticks=20))
    axes.xaxis.set_minor_formatter(NullFormatter())
    return figure
