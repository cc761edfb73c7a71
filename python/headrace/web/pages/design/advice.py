"""Recommendations for each zone of a worksheet, with reasons and rejected values."""

from typing import TYPE_CHECKING

from nicegui import run, ui

from headrace._core import ScenarioError
from headrace.design.evaluation import Choice
from headrace.views.recommendation import by_zone, recommended, rejected, summary
from headrace.web.design.drafts import DraftError
from headrace.web.result_views import show_blocks

if TYPE_CHECKING:
    from headrace.design.recommendation.rule_table import RuleTable
    from headrace.web.pages.design.editor import Editor


class Advice:
    """The recommendations for the draft as it is."""

    def __init__(self, editor: "Editor") -> None:
        self._editor = editor
        self._text: tuple[str, str] | None = None
        self._place = ui.element("div").classes("w-full")

    async def refresh(self) -> None:
        """Show what the rules recommend for the text."""
        if self._editor.checked.error is not None:
            self._text = None
            self._place.clear()
            with self._place:
                ui.label("The worksheet has a mistake: correct it first.")
            return
        text = (self._editor.sheet.text, self._editor.catalogue)
        if text == self._text:
            return
        self._text = text
        try:
            result = await run.io_bound(self._editor.recommend)
        except (DraftError, ScenarioError) as error:
            ui.notify(str(error), type="negative")
            return
        if result is None or text != self._text:
            return
        self._place.clear()
        with self._place:
            self._show(*result)

    def _show(self, choices: tuple[Choice, ...], rules: "RuleTable") -> None:
        aspects = {aspect.name: aspect for aspect in rules.aspects}
        show_blocks([summary(choices, aspects)])
        for title, own in by_zone(choices).items():
            with ui.expansion(f"{title}: reasons and rejected values").classes("w-full"):
                show_blocks(
                    [
                        recommended(f"{title}: reasons", own, aspects),
                        *rejected(f"{title}: rejected", own, aspects),
                    ]
                )
                unsure = list(dict.fromkeys(line for choice in own for line in choice.unsure))
                if unsure:
                    ui.label("Unsure").classes("text-bold")
                    with ui.element("ul"):
                        for line in unsure:
                            with ui.element("li"):
                                ui.label(line)
