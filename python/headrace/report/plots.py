"""A result's figures as files."""

import io
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import polars as pl
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterMathtext

from headrace.design.growth import PurchasePlan, PurchaseUnit
from headrace.design.worksheet import CapacityNeed
from headrace.files import atomic_file, make_directory
from headrace.histograms import percentiles
from headrace.report.figures import (
    Figures,
    baseline,
    breakdown,
    client_hosts,
    client_sweep,
    drawn_of,
    figure,
    gains,
    growth,
    jobs,
    kernel_trace,
    load_sweep,
    measurement,
    network,
    percentile,
    sensitivity,
    study,
    sweep,
    tuning,
    validation,
)
from headrace.report.figures import load_sweeps as sweeps_figure

if TYPE_CHECKING:
    from headrace.optimisation import Optimum

RESOLUTION = 150
"""Dots per inch of pixel images: 8 inches are 1200 pixels."""


class PlainLogFormatter(LogFormatterMathtext):
    """Labels of a logarithmic axis as numbers, at the ticks where matplotlib has formulas."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the label of a tick; empty where it has none."""
        return f"{x:,.10g}" if super().__call__(x, pos) else ""


def label_plainly(drawn: Figure) -> None:
    """Replace formulas in the labels of logarithmic axes by numbers: texts are no formulas."""
    for axes in drawn.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if isinstance(axis.get_major_formatter(), LogFormatterMathtext):
                axis.set_major_formatter(PlainLogFormatter())
            if isinstance(axis.get_minor_formatter(), LogFormatterMathtext):
                axis.set_minor_formatter(PlainLogFormatter())


def write_figure(drawn: Figure, path: Path, metadata: dict[str, Any] | None = None) -> None:
    """Write a figure in the format of the file's name. Raises OSError if it cannot."""
    picture = io.BytesIO()
    label_plainly(drawn)
    # A pixel image is written back and forth, which a pipe does not allow.
    with warnings.catch_warnings():
        # Matplotlib warns about missing letters and about long names.
        warnings.filterwarnings("ignore", category=UserWarning, module="matplotlib|headrace")
        warnings.filterwarnings("ignore", message="Glyph |constrained_layout")
        drawn.savefig(picture, format=path.suffix[1:], dpi=RESOLUTION, metadata=metadata)
    with atomic_file(path) as partial:
        partial.write_bytes(picture.getvalue())


def save(directory: Path, data: Figures) -> list[Path]:
    """Write every figure as PNG and SVG into a directory, which is made if need be.

    Equal results give equal files. Raises OSError if they cannot be written.
    """
    return _save(directory, {name: figure(data, name) for name in drawn_of(data)})


def save_gains(directory: Path, name: str, factor: float, table: pl.DataFrame) -> list[Path]:
    """Write the figure of a what-if study, as `save` does."""
    return _save(directory, {"whatif": gains.draw(name, factor, table)})


def save_sweep(
    directory: Path, name: str, paths: Sequence[str], points: pl.DataFrame, figure_name: str
) -> list[Path]:
    """Write the figure of a sweep over a scenario's fields, as `save` does."""
    return _save(directory, {"sweep": sweep.draw(name, paths, points, figure_name)})


def save_sensitivity(directory: Path, name: str, indices: pl.DataFrame, figure: str) -> list[Path]:
    """Write the figure of a sensitivity analysis, as `save` does."""
    return _save(directory, {"sensitivity": sensitivity.draw(name, indices, figure)})


def save_optimum(directory: Path, found: "Optimum") -> list[Path]:
    """Write the figures of a search by their names, as `save` does."""
    from headrace.report.figures import optimum

    drawn = {kind: draw() for kind, draw in optimum.drawings(found).items()}
    return _save(directory, drawn)


def save_load_sweep(directory: Path, document: Mapping[str, Any]) -> list[Path]:
    """Write the figure of a sweep over loads, clients or client hosts, as `save` does."""
    if document["of"] == "clients":
        return _save(directory, {"clients": client_sweep.draw(document)})
    if document["of"] == "client-hosts":
        return _save(directory, {"client-hosts": client_hosts.draw(document)})
    return _save(directory, {"load-sweep": load_sweep.draw(document)})


def save_load_sweeps(directory: Path, sweeps: Mapping[str, Mapping[str, Any]]) -> list[Path]:
    """Write the curves of several load sweeps, by their labels, as `save` does."""
    return _save(directory, {"load-sweeps": sweeps_figure.draw(sweeps)})


def save_measurement(
    directory: Path,
    name: str,
    series: pl.DataFrame,
    percentiles: pl.DataFrame,
    counters: pl.DataFrame,
) -> list[Path]:
    """Write the figures of a measurement over time and of its latency, as `save` does."""
    figures = {
        "throughput": measurement.throughput(name, series),
        "latency": percentile.draw(name, percentiles),
        "counters": measurement.counters(name, counters),
    }
    return _save(directory, figures)


def save_jobs(directory: Path, document: Mapping[str, Any], histograms: pl.DataFrame) -> list[Path]:
    """Write IOPS and throughput of jobs and their latency by percentile, as `save` does."""
    name = document["scenario"]["name"]
    found = percentiles([histograms], percentile.QUANTILES)
    return _save(
        directory, {"jobs": jobs.draw(document), "percentiles": percentile.draw(name, found)}
    )


def save_network(directory: Path, document: Mapping[str, Any]) -> list[Path]:
    """Write the figure of messages between two hosts, as `save` does."""
    return _save(directory, {"net": network.draw(document)})


def save_study(directory: Path, document: Mapping[str, Any]) -> list[Path]:
    """Write the figure of a micro-benchmark, as `save` does."""
    return _save(directory, {document["benchmark"]: study.draw(document)})


def save_baseline(directory: Path, document: Mapping[str, Any]) -> list[Path]:
    """Write the figures of a baseline as bars, as `save` does."""
    return _save(directory, {"baseline": baseline.draw(document)})


def save_tuned(directory: Path, document: Mapping[str, Any]) -> list[Path]:
    """Write the figure of a tuned mix, as `save` does."""
    return _save(directory, {"tune": tuning.draw(document)})


def save_growth(
    directory: Path,
    name: str,
    need: CapacityNeed,
    unit: PurchaseUnit,
    plans: Sequence[PurchasePlan],
) -> list[Path]:
    """Write the figure of growth and purchase plans, as `save` does."""
    return _save(directory, {"growth": growth.draw(name, need, unit, plans)})


def save_validation(directory: Path, document: Mapping[str, Any]) -> list[Path]:
    """Write predictions against measurements, and where the time went, as `save` does."""
    figures = {"validation": validation.draw(document)}
    if document["breakdowns"]:
        figures["breakdown"] = breakdown.draw(document)
    return _save(directory, figures)


def save_kernel_trace(
    directory: Path,
    name: str,
    requests: pl.DataFrame,
    commits: Sequence[tuple[float, float]],
    write_back: Sequence[tuple[float, float]],
) -> list[Path]:
    """Write the figures of a kernel trace, as `save` does."""
    figures = {
        "service": kernel_trace.service(name, requests),
        "activity": kernel_trace.activity(name, requests, commits, write_back),
    }
    return _save(directory, figures)


def save_figures(directory: Path, figures: Mapping[str, Figure]) -> list[Path]:
    """Write figures by their names, as `save` does."""
    return _save(directory, figures)


def _save(directory: Path, figures: Mapping[str, Figure]) -> list[Path]:
    make_directory(directory)
    written = []
    # Identifiers in an SVG are otherwise random, and names are no formulas.
    with mpl.rc_context({"svg.hashsalt": "headrace", "text.parse_math": False}):
        for file, drawn in figures.items():
            for suffix, metadata in ((".png", None), (".svg", {"Date": None})):
                path = directory / f"{file}{suffix}"
                write_figure(drawn, path, metadata)
                written.append(path)
    return written
