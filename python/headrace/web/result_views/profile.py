"""View of a profile: its verdict, and the phases with evidence and advice."""

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from headrace import kinds
from headrace.profile.document import Phase, Profile
from headrace.views import profile as view
from headrace.views.profile import phase_name, phase_view, verdicts
from headrace.views.verdict_words import verdict_words
from headrace.web.layout import heading, when_opened
from headrace.web.profile_charts import ProfileCharts, Samples
from headrace.web.result_views import show_blocks
from headrace.web.result_views.origin import show_origin

Document = Mapping[str, Any]


def show(document: Document, samples: Samples | None = None) -> None:
    """Show a profile.

    Parameters:
        document: The profile.
        samples: Its samples, for charts over time.
    """
    profile: Profile = kinds.read("profile", document)
    head = view.heading(profile)
    ui.label(head.name + head.text).classes("text-lg whitespace-pre-line")
    show_blocks([view.headline(profile)])
    phases = profile.phases
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
        longest = max(range(len(phases)), key=lambda at: phases[at].to_s - phases[at].from_s)
        choose(longest + 1)
    with ui.expansion("Tables of all phases").classes("w-full") as box:
        when_opened(box, lambda: show_blocks(verdicts(profile)))
    show_origin(document)


def _button(number: int, phase: Phase, choose: Callable[[int], None]) -> None:
    words = verdict_words(phase.verdict)
    button = ui.button(on_click=lambda: choose(number)).props("outline")
    with button:
        ui.icon("square").style(f"color: {words.colour}").props('aria-hidden="true"')
        ui.label(phase_name(number, phase)).classes("q-ml-sm")


def show_phase(number: int, phase: Phase) -> None:
    """Show the evidence of a phase, and advice with its predicted gain."""
    heading(phase_name(number, phase), 3)
    show_blocks(phase_view(phase))
