"""Results as pages show them: a file here and a line in the table for each kind of document."""

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from headrace.report.store_tables import UNSHOWN
from headrace.web.result_views import (
    baseline,
    jobs,
    load_sweep,
    measurement,
    network,
    optimum,
    profile,
    simulation,
    solution,
    study,
    sweep,
    trace_findings,
    trace_info,
    tuning,
    whatif,
)
from headrace.web.result_views.generic import show_document

Document = Mapping[str, Any]

VIEWS: dict[str, Callable[[Document], object]] = {
    "simulation": simulation.show,
    "simulated": simulation.show,
    "whatif": whatif.show,
    "sweep": sweep.show,
    "optimum": optimum.show,
    "measured": measurement.show,
    "jobs": jobs.show,
    "load-sweep": load_sweep.show,
    "study": study.show,
    "tuning": tuning.show,
    "network": network.show,
    "baseline": baseline.show,
    "profile": profile.show,
    "solution": solution.show,
    "trace-info": trace_info.show,
    "trace-findings": trace_findings.show,
}
"""Functions that draw a document, by its `kind`."""
WITHOUT_KIND = {
    "whatif": {"baseline", "changes", "factor"},
    "solution": {"front", "chosen", "worksheet_text"},
    "profile": {"phases", "samples", "hosts"},
    "trace-info": {"summary", "skipped"},
    "trace-findings": {"trace", "findings"},
}
"""Keys of the documents that have no field `kind`."""


def kind_of(document: Document) -> str:
    """Return the kind of a document. Documents of simulations have no field of that name."""
    for kind, keys in WITHOUT_KIND.items():
        if keys <= document.keys():
            return kind
    return str(document.get("kind", "simulation"))


def show_result(document: Any) -> None:
    """Draw a result: by its view, or as tables of all its fields."""
    if not isinstance(document, Mapping):
        ui.label("There is no result." if document is None else str(document))
        return
    draw = VIEWS.get(kind_of(document))
    if draw is None:
        show_document(document)
        return
    with ui.element("div").classes("w-full") as place:
        try:
            draw(document)
        except UNSHOWN:
            # A document of another version, or damaged.
            place.clear()
            with place:
                ui.label("This result lacks fields of its kind: all its fields follow.")
    with ui.expansion("All fields").classes("w-full"):
        show_document(document)
