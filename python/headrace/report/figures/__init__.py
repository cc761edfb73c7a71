"""The figures of a result, one file each. A figure is added by its file and one line here."""

from matplotlib.figure import Figure

from headrace.report.figures import latency, throughput, utilisation
from headrace.report.figures.style import HEIGHT, WIDTH, Figures, NotebookFigure

FIGURES = {
    "throughput": throughput.draw,
    "latency": latency.draw,
    "utilisation": utilisation.draw,
}
"""Figures by the name of their file."""


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
    heights = [HEIGHT, HEIGHT, utilisation.height(data)]
    whole = NotebookFigure(figsize=(WIDTH, sum(heights)), layout="constrained")
    parts = whole.subfigures(len(FIGURES), 1, squeeze=False, height_ratios=heights)
    for draw, part in zip(FIGURES.values(), parts[:, 0], strict=True):
        draw(data, part)
    return whole


__all__ = ["FIGURES", "Figures", "all_figures", "figure"]
