"""Sliders on the main quantities of a scenario; results follow at once."""

from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import events, ui

from headrace.document_io import as_sets
from headrace.views.simulated import main_figures
from headrace.web.result_views.figure_cards import show_figures
from headrace.web.result_views.simulation import show_utilisation
from headrace.web.scenario_draft import ScenarioDraft
from headrace.web.scenario_text import UnchangeableText
from headrace.web.site import site
from headrace.web.sliders import FIRST, OCTAVES, Slider, sliders


class SliderPanel:
    """Sliders, and figures of the changed scenario beside those of the base."""

    def __init__(self, draft: ScenarioDraft, changed: Callable[[], None]) -> None:
        self._draft, self._changed = draft, changed
        self._page = ui.context.client.id
        self._text = ""
        self._sliders: dict[str, Slider] = {}
        self._octaves: dict[str, float] = {}
        self._shown: list[str] = []
        self._base: dict[str, Any] | None = None
        self._help = ui.label("Each slider goes from an eighth to eight times the value.")
        self._place = ui.element("div").classes("w-full hr-sliders")
        with ui.row().classes("items-center w-full"):
            self._more = (
                ui.select([], label="Add a slider", with_input=True, on_change=self._add)
                .props("outlined dense stack-label")
                .classes("col-grow")
            )
            ui.button("Back to the base", on_click=self._reset).props("flat")
            ui.button("Apply to the scenario", on_click=self._apply).props("flat")
        self._state = ui.label("").props('role="status" data-testid="slider-state"')
        self._results = ui.element("div").classes("w-full")

    async def refresh(self) -> None:
        """Make the sliders of the draft as it is now, and run it."""
        checked = self._draft.checked
        if checked is None or self._draft.error is not None:
            self._state.text = "The scenario has an error: correct it first."
            return
        if self._text == self._draft.text:
            return
        self._text = self._draft.text
        self._base = None
        self._sliders = {slider.path: slider for slider in sliders(checked.quantities)}
        kept = [path for path in self._shown if path in self._sliders]
        self._shown = kept or list(self._sliders)[:FIRST]
        self._octaves = {}
        self._draw()
        await self._run()

    def _draw(self) -> None:
        self._place.clear()
        with self._place:
            for path in self._shown:
                self._slider(self._sliders[path])
        self._more.set_options([key for key in self._sliders if key not in self._shown], value=None)

    def _slider(self, slider: Slider) -> None:
        at = self._octaves.get(slider.path, 0.0)
        with ui.element("div").classes("q-mb-sm"):
            with ui.row().classes("justify-between w-full no-wrap"):
                ui.label(slider.path)
                value = ui.label(slider.text(at)).classes("text-bold")
                value.props["data-testid"] = f"value {slider.path}"
            # The native one has all keys, and its name for screen readers.
            control = ui.element("input").classes("w-full")
            control.props(f"type=range min={-OCTAVES} max={OCTAVES} step={slider.step} value={at}")
            control.props["aria-label"] = f"{slider.path}, as a power of 2 of its value"
            control.on(
                "input",
                partial(self._moved, slider, value),
                throttle=0.1,
                js_handler="(event) => emit(Number(event.target.value))",
            )

    async def _moved(
        self, slider: Slider, label: ui.label, event: events.GenericEventArguments
    ) -> None:
        octaves = min(float(OCTAVES), max(-float(OCTAVES), float(event.args)))
        self._octaves[slider.path] = octaves
        label.text = slider.text(octaves)
        await self._run()

    async def _add(self) -> None:
        if self._more.value in self._sliders and self._more.value not in self._shown:
            self._shown.append(self._more.value)
            self._draw()

    def _values(self) -> dict[str, Any]:
        return {
            path: self._sliders[path].setting(at) for path, at in self._octaves.items() if at != 0.0
        }

    async def _run(self) -> None:
        text = self._text
        self._state.text = "Running …"
        if self._base is None:
            base = await site().quick.ask("run", text, page=f"base of {self._page}")
            if text != self._text or base.superseded:
                return
            if base.error is not None:
                self._state.text = base.error.message
                self._results.clear()
                return
            self._base = base.result
        values = self._values()
        if not values:
            self._state.text = "The scenario as it is."
            self._show(self._base)
            return
        answer = await site().quick.ask("run", text, as_sets(values), page=self._page)
        if answer.superseded or text != self._text:
            return
        if answer.error is not None:
            self._state.text = answer.error.message
            return
        changed = ", ".join(f"{it} = {self._sliders[it].text(self._octaves[it])}" for it in values)
        self._state.text = f"With {changed}:"
        self._show(answer.result)

    def _show(self, document: dict[str, Any]) -> None:
        base = self._base or document
        self._results.clear()
        with self._results:
            show_figures(main_figures(document), main_figures(base))
            ui.label(document["bottleneck"]["sentence"]).props('data-testid="slider-bottleneck"')
            show_utilisation(document, base)

    async def _reset(self) -> None:
        self._octaves = {}
        self._draw()
        await self._run()

    def _apply(self) -> None:
        try:
            self._draft.apply(self._values())
        except UnchangeableText as error:
            ui.notify(str(error), type="negative")
            return
        self._changed()
