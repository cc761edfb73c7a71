"""A result's figures as files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from headrace.render.pictures import save_figures
from headrace.report.figures import (
    breakdown,
    kernel_trace,
    validation,
)


def save_validation(directory: Path, document: Mapping[str, Any]) -> list[Path]:
    """Write predictions against measurements, and where the time went, as PNG and SVG."""
    figures = {"validation": validation.draw(document)}
    if document["breakdowns"]:
        figures["breakdown"] = breakdown.draw(document)
    return save_figures(directory, figures)


def save_kernel_trace(
    directory: Path,
    name: str,
    requests: pl.DataFrame,
    commits: Sequence[tuple[float, float]],
    write_back: Sequence[tuple[float, float]],
) -> list[Path]:
    """Write the figures of a kernel trace, as PNG and SVG."""
    figures = {
        "service": kernel_trace.service(name, requests),
        "activity": kernel_trace.activity(name, requests, commits, write_back),
    }
    return save_figures(directory, figures)
