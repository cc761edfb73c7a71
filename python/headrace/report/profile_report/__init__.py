"""The report of a profile: one HTML file, a PDF, and its figures."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from headrace.files import atomic_file
from headrace.report import plots
from headrace.report.profile_report import html, pdf
from headrace.report.profile_report.chart import Chart
from headrace.report.profile_report.charts import OF_SAMPLES, OF_TRACE
from headrace.report.profile_report.content import Picture, Report, foreign
from headrace.report.profile_report.data import RATES, Document, ProfileData
from headrace.report.profile_report.sections import sections
from headrace.report.profile_values import timestamp

__all__ = ["ProfileData", "write_report"]


def write_report(
    target: Path,
    profile: Document,
    rates: pl.DataFrame | None = None,
    processes: pl.DataFrame | None = None,
    baseline: Mapping[str, Document] | None = None,
) -> list[Path]:
    """Write `report.html`, `report.pdf` and `figures/*.svg` and `.png` into a directory.

    Parameters: the profile as decoded from profile.json; the rates and processes as
    `headrace.profile.recording` returns them; the figures of the baseline by name, each with
    `value`, `unit` and `cpu`. Without `baseline`, those in the profile are used.

    Returns the files in the order in which they were written. Raises OSError if one cannot be.
    """
    if baseline is None:
        baseline = (profile.get("baseline") or {}).get("figures") or {}
    known = rates if rates is not None and {"from_s", "to_s"} <= set(rates.columns) else RATES
    data = ProfileData(profile, known, processes, baseline)
    figures = target / "figures"
    written: list[Path] = []
    pictures: list[list[Picture]] = []
    for kind in (OF_SAMPLES, OF_TRACE):
        charts = [it for draw in kind for it in draw(data)]
        written += plots.save_profile(figures, {it.name: it.figure for it in charts})
        pictures.append([_picture(it, figures) for it in charts])
    report = Report(
        title=f"Profile of {foreign(profile.get('name') or 'an application', 100)}",
        subtitle=f"{timestamp(profile.get('started', ''))}, Headrace {profile.get('version', '')}",
        sections=sections(data, *pictures),
    )
    for name, contents in (
        ("report.html", html.render(report).encode()),
        ("report.pdf", pdf.render(report)),
    ):
        with atomic_file(target / name) as partial:
            partial.write_bytes(contents)
        written.append(target / name)
    return written


def _picture(chart: Chart, figures: Path) -> Picture:
    svg = (figures / f"{chart.name}.svg").read_text(encoding="utf-8")
    return Picture(chart.name, chart.title, chart.caption, svg)
