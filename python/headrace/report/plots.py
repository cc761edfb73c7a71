"""A result's figures as files."""

from pathlib import Path

import matplotlib as mpl
import polars as pl

from headrace.files import whole_file
from headrace.report.figures import FIGURES, Figures

RESOLUTION = 150
"""Dots per inch of pixel images: 8 inches are 1200 pixels."""


def save(
    directory: Path,
    name: str,
    requests: float,
    series: pl.DataFrame,
    latency_distribution: pl.DataFrame,
    stations: pl.DataFrame,
) -> list[Path]:
    """Writes every figure as PNG and SVG into a directory, which is made if need be.

    Equal results give equal files. Raises OSError if they cannot be written.
    """
    data = Figures(name, requests, series, latency_distribution, stations)
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    # Identifiers in an SVG are otherwise random, and names are no formulas.
    with mpl.rc_context({"svg.hashsalt": "headrace", "text.parse_math": False}):
        for file, draw in FIGURES.items():
            figure = draw(data)
            for suffix, metadata in ((".png", None), (".svg", {"Date": None})):
                path = directory / f"{file}{suffix}"
                with whole_file(path) as partial:
                    figure.savefig(partial, dpi=RESOLUTION, metadata=metadata)
                written.append(path)
    return written
