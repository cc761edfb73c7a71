"""The report of a profile: one HTML file, a PDF, and its figures."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from headrace.progress_events import OnStep
from headrace.report.document import listed, write_documents
from headrace.report.document.content import Picture, Report, foreign
from headrace.report.profile_report.data import RATES, Document, ProfileData
from headrace.report.profile_report.sections import sections
from headrace.views.profile_values import timestamp

if TYPE_CHECKING:
    from headrace.report.profile_report.chart import Chart

__all__ = ["ProfileData", "listed", "write_report"]


def write_report(
    target: Path,
    profile: Document,
    rates: pl.DataFrame | None = None,
    processes: pl.DataFrame | None = None,
    baseline: Mapping[str, Document] | None = None,
    *,
    on_progress: OnStep | None = None,
) -> list[Path]:
    """Write `report.html`, `report.pdf` and `figures/*.svg` and `.png` into a directory.

    Parameters:
        target: The directory, which is made if need be.
        profile: The profile, as decoded from profile.json.
        rates: The samples, as `headrace.profile.recording.rates` returns them.
        processes: The same by process, as `processes` there returns them.
        baseline: Figures by name, each with `value`, `unit` and `cpu`; without it, those in the
            profile.
        on_progress: Called with the steps done, their number and the name of the next one.

    Returns:
        The files in the order in which they were written.

    Raises:
        OSError: if a file cannot be written.
    """
    # Matplotlib takes long to import, and pages use the data of a report without its drawings.
    from headrace.render.pictures import save_figures
    from headrace.report.profile_report.charts import OF_SAMPLES, OF_TRACE

    if baseline is None:
        baseline = (profile.get("baseline") or {}).get("figures") or {}
    known = rates if rates is not None and {"from_s", "to_s"} <= set(rates.columns) else RATES
    data = ProfileData(profile, known, processes, baseline)
    figures = target / "figures"
    written: list[Path] = []
    pictures: list[list[Picture]] = []
    steps = [*OF_SAMPLES, *OF_TRACE]
    for kind in (OF_SAMPLES, OF_TRACE):
        pictures.append([])
        for draw in kind:
            if on_progress is not None:
                name = draw.__module__.rpartition(".")[2].replace("_", " ")
                on_progress(steps.index(draw), len(steps) + 1, f"chart of {name}")
            charts = list(draw(data))
            written += save_figures(figures, {chart.name: chart.figure for chart in charts})
            pictures[-1] += [_picture(chart, figures) for chart in charts]
    if on_progress is not None:
        on_progress(len(steps), len(steps) + 1, "documents")
    version = foreign(profile.get("version", ""), 60)
    report = Report(
        title=f"Profile of {foreign(profile.get('name') or 'an application', 100)}",
        subtitle=f"{timestamp(profile.get('started', ''))}, Headrace {version}",
        sections=sections(data, *pictures),
    )
    return written + write_documents(report, target)


def _picture(chart: "Chart", figures: Path) -> Picture:
    svg = (figures / f"{chart.name}.svg").read_text(encoding="utf-8")
    return Picture(chart.name, chart.title, chart.caption, svg)
