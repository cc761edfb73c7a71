"""The figures of a result, one file each. A figure is added by its file and one line here."""

from matplotlib.figure import Figure

from headrace.report.figures import latency, servers, throughput, utilisation
from headrace.report.figures.style import HEIGHT, WIDTH, Figures, NotebookFigure

FIGURES = {
    "throughput": throughput.draw,
    "latency": latency.draw,
    "utilisation": utilisation.draw,
    "servers": servers.draw,
}
"""Figures by the name of their file."""


def shown(data: Figures) -> list[str]:
    """Return the names of the figures of a result: `servers` is left out where there are no
    several data servers."""
    return [name for name in FIGURES if name != "servers" or servers.has_several(data)]


def figure(data: Figures, name: str) -> Figure:
    """Draw one of the figures.

    Raises:
        ValueError: There is no such figure.
    """
    if name not in FIGURES:
        raise ValueError(f"figure {name!r}: expected {', '.join(FIGURES)}")
    drawn = FIGURES[name](data)
    assert isinstance(drawn, Figure)
    return drawn


def all_figures(data: Figures) -> Figure:
    """Draw all figures below each other, as one."""
    names = shown(data)
    own = {"utilisation": utilisation.height, "servers": servers.height}
    heights = [own[name](data) if name in own else HEIGHT for name in names]
    whole = NotebookFigure(figsize=(WIDTH, sum(heights)), layout="constrained")
    parts = whole.subfigures(len(names), 1, squeeze=False, height_ratios=heights)
    for name, part in zip(names, parts[:, 0], strict=True):
        FIGURES[name](data, part)
    return whole


__all__ = ["FIGURES", "Figures", "all_figures", "figure", "shown"]
