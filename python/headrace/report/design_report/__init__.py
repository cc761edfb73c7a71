"""The report of a design: one HTML file, a PDF, and its drawings."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from headrace.design.catalogue import Catalogue
from headrace.design.evaluation import Solution
from headrace.design.worksheet import Worksheet
from headrace.files import atomic_file
from headrace.progress_events import OnStep
from headrace.report.data_flow import data_flow_svg, network_svg
from headrace.report.design_report.data import DesignData
from headrace.report.design_report.notes import Notes
from headrace.report.design_report.sections import sections
from headrace.report.document import listed, write_documents
from headrace.report.document.content import Picture, Report, foreign

if TYPE_CHECKING:
    from headrace.report.design_report.charts import Chart

__all__ = ["DesignReportFiles", "content", "listed", "write"]

FLOW = Picture(
    "data-flow",
    "Data flow",
    "Zones are cylinders. Arrows carry what moves, and its rate if it is known.",
    "",
)
"""The diagram of zones, clients and flows, without its drawing."""
NETWORK = Picture("network", "Network", "Clients, switches and servers with their links.", "")
"""The diagram of a design's network, without its drawing."""
WIDEST = 1200.0
"""Width from which a diagram needs a page of its own: its letters of size 11 would be below 4.5
points on an upright page."""


class DesignReportFiles(NamedTuple):
    """Files of a report; the PDF is one of the documents if Typst is installed."""

    documents: tuple[Path, ...]
    drawings: tuple[Path, ...]
    """SVG and PNG files."""


def write(
    solution: Solution,
    worksheet: Worksheet,
    catalogue: Catalogue,
    directory: Path,
    on_progress: OnStep | None = None,
) -> DesignReportFiles:
    """Write `report.html`, `report.pdf` and `figures/*.svg` and `.png` into a directory.

    Equal solutions give equal files.

    Args:
        solution: The answer of the search.
        worksheet: The requirements that it answers.
        catalogue: What it chose from.
        directory: The directory, which is made if need be.
        on_progress: Called with the steps done, their number and the name of the next one.

    Returns:
        The files.

    Raises:
        OSError: A file cannot be written.
    """
    # Matplotlib takes long to import, and pages use the texts of a report without its drawings.
    from headrace.render.pictures import save_figures
    from headrace.report.design_report.charts import draw

    data = DesignData(solution, worksheet, catalogue, Notes(catalogue.currency))
    steps = ("drawings", "HTML and PDF")

    def begin(step: str) -> None:
        if on_progress is not None:
            on_progress(steps.index(step), len(steps), step)

    begin("drawings")
    figures = directory / "figures"
    drawn = list(draw(data))
    drawings = save_figures(figures, {chart.name: chart.figure for chart in drawn})
    pictures = {chart.name: _picture(chart, figures) for chart in drawn}
    diagrams = [(FLOW, data_flow_svg(worksheet))]
    if data.shown is not None:
        diagrams.append((NETWORK, network_svg(data.shown.design, worksheet)))
    for picture, svg in diagrams:
        wide = _width(svg) > WIDEST
        pictures[picture.name] = msgspec.structs.replace(picture, svg=svg, wide=wide)
        with atomic_file(figures / f"{picture.name}.svg") as partial:
            partial.write_text(svg, encoding="utf-8")
        drawings.append(figures / f"{picture.name}.svg")
    report = content(solution, worksheet, catalogue, pictures)
    begin("HTML and PDF")
    return DesignReportFiles(tuple(write_documents(report, directory)), tuple(drawings))


def content(
    solution: Solution,
    worksheet: Worksheet,
    catalogue: Catalogue,
    pictures: dict[str, Picture] | None = None,
) -> Report:
    """Return the report of a solution, independent of its format.

    Args:
        solution: The answer of the search.
        worksheet: The requirements that it answers.
        catalogue: What it chose from.
        pictures: Drawings by their names: `data-flow`, `network`, `front`, `racks`, `cost`.
    """
    notes = Notes(catalogue.currency)
    data = DesignData(solution, worksheet, catalogue, notes, pictures or {})
    parts = sections(data)
    customer = worksheet.customer
    line = ", ".join(
        foreign(word, 100)
        for word in (customer.company, customer.date, f"Headrace {solution.version}".strip())
        if word
    )
    return Report(
        title=f"Storage system design: {foreign(worksheet.name, 100)}",
        subtitle=line,
        sections=parts,
        footnotes=notes.footnotes,
    )


def _width(svg: str) -> float:
    """Return the width of a drawing in its own units."""
    match = re.search(r'viewBox="0 0 ([0-9.]+) ', svg)
    return float(match[1]) if match else 0.0


def _picture(chart: "Chart", figures: Path) -> Picture:
    svg = (figures / f"{chart.name}.svg").read_text(encoding="utf-8")
    return Picture(chart.name, chart.title, chart.caption, svg)
