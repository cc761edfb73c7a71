"""The figures of a result, one file each. A figure is added by its file and one line here."""

from matplotlib.figure import Figure

from headrace.render.style import HEIGHT, WIDTH, Figures, NotebookFigure
from headrace.report.figures import latency, over_time, servers, throughput, utilisation

FIGURES = {
    "throughput": throughput.draw,
    "latency": latency.draw,
    "utilisation": utilisation.draw,
    "servers": servers.draw,
}
"""Figures by the name of their file."""
OVER_TIME = {"dirty": over_time.dirty, "hits": over_time.hits, "queues": over_time.queues}
"""The same of figures that are drawn if they were recorded over time."""


def drawn_of(data: Figures) -> list[str]:
    """Return the names of the figures that there is data for.

    `servers` needs several data servers.
    """
    names = [name for name in FIGURES if name != "servers" or servers.has_several(data)]
    recorded = data.over_time
    if recorded is None:
        return names
    return [*names, *(name for name, it in over_time.SHOWN.items() if it in recorded["figure"])]


def figure(data: Figures, name: str) -> Figure:
    """Draw one of the figures.

    Raises:
        ValueError: There is no such figure.
    """
    if name not in (names := drawn_of(data)):
        raise ValueError(f"figure {name!r}: expected {', '.join(names)}")
    drawn = (FIGURES | OVER_TIME)[name](data)
    assert isinstance(drawn, Figure)
    return drawn


def all_figures(data: Figures) -> Figure:
    """Draw all figures below each other, as one."""
    names = drawn_of(data)
    own = {"utilisation": utilisation.height, "servers": servers.height}
    heights = [own[name](data) if name in own else HEIGHT for name in names]
    whole = NotebookFigure(figsize=(WIDTH, sum(heights)), layout="constrained")
    parts = whole.subfigures(len(names), 1, squeeze=False, height_ratios=heights)
    for name, part in zip(names, parts[:, 0], strict=True):
        (FIGURES | OVER_TIME)[name](data, part)
    return whole


__all__ = ["FIGURES", "Figures", "all_figures", "drawn_of", "figure"]
