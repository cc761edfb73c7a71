"""View of a profile: its verdict, and the phases with evidence and advice."""

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from headrace.quantities import figure
from headrace.report.profile_values import NO_VERDICT, times, with_unit
from headrace.report.verdict_tables import heading, verdict_tables
from headrace.report.verdict_words import verdict_words
from headrace.web.profile_charts import ProfileCharts, Samples
from headrace.web.rendered import show_rendered
from headrace.web.result_views.origin import show_origin
from headrace.web.tables import show_table

Document = Mapping[str, Any]


def show(document: Document, samples: Samples | None = None) -> None:
    """Show a profile.

    Parameters:
        document: The profile.
        samples: Its samples, for charts over time.
    """
    ui.label(heading(document).plain).classes("text-lg whitespace-pre-line")
    phases = list(document["phases"])
    chosen: ui.column | None = None

    def choose(number: int) -> None:
        if chosen is not None and 0 < number <= len(phases):
            chosen.clear()
            with chosen:
                show_phase(number, phases[number - 1])

    if phases:
        with ui.row().classes("gap-2").props('role="group" aria-label="Phases"'):
            for number, phase in enumerate(phases, 1):
                _button(number, phase, choose)
    if samples is not None:
        ProfileCharts(samples, phases, choose)
    chosen = ui.column().classes("w-full").props('aria-live="polite"')
    if phases:
        longest = max(range(len(phases)), key=lambda at: phases[at]["to_s"] - phases[at]["from_s"])
        choose(longest + 1)
    with ui.expansion("Tables of all phases").classes("w-full"):
        show_rendered(verdict_tables(document))
    show_origin(document)


def _button(number: int, phase: Document, choose: Any) -> None:
    words = verdict_words(phase["verdict"])
    button = ui.button(on_click=lambda: choose(number)).props("outline no-caps")
    with button:
        ui.icon("square").style(f"color: {words.colour}").props('aria-hidden="true"')
        ui.label(phase_name(number, phase)).classes("q-ml-sm")


def phase_name(number: int, phase: Document) -> str:
    """Return a phase with its verdict and time."""
    span = f"{figure(phase['from_s'])} to {figure(phase['to_s'])} s"
    return f"Phase {number}: {phase['verdict'] or NO_VERDICT}, {span}"


def show_phase(number: int, phase: Document) -> None:
    """Show the evidence of a phase, and advice with its predicted gain."""
    words = verdict_words(phase["verdict"])
    with ui.element("h3").classes("text-lg"):
        ui.label(phase_name(number, phase))
    ui.label(f"Limited by {words.limit}. {words.meaning}" if phase["verdict"] else words.meaning)
    evidence = phase.get("evidence") or []
    if evidence:
        show_table(
            "Evidence",
            ["figure", "value", "baseline", "rule", "source"],
            [
                [
                    it["figure"],
                    with_unit(it["value"], it["unit"]),
                    "" if it.get("baseline") is None else with_unit(it["baseline"], it["unit"]),
                    it["rule"],
                    it["source"],
                ]
                for it in evidence
            ],
            left={0, 3, 4},
        )
    advice = phase.get("advice") or []
    if advice:
        show_table(
            "Advice",
            ["change", "predicted speed of the phase", "kind", "in words"],
            [
                [it["change"], times(it["predicted_gain"]), it["kind"], it["description"]]
                for it in advice
            ],
            left={0, 2, 3},
        )
    else:
        ui.label("No change has a predicted gain that is large enough to be advised.")
    for text in phase.get("notes") or []:
        ui.label(text).classes("text-sm")
