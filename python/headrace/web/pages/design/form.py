"""The questions of a section of the worksheet."""

import re
from functools import partial
from typing import TYPE_CHECKING, Any

from nicegui import ui
from nicegui.elements.mixins.validation_element import ValidationElement

from headrace.toml_positions import FieldPath
from headrace.web.design.fields import Group, SheetField, SheetSection, shown
from headrace.web.design.sheet import REFERENCES
from headrace.web.field_control import field_control
from headrace.web.layout import heading
from headrace.web.typed import keep

if TYPE_CHECKING:
    from headrace.web.pages.design.editor import Editor

STYLE = """
.hr-sheet { display: grid; gap: 0 20px; width: 100%;
  grid-template-columns: repeat(auto-fill, minmax(min(280px, 100%), 1fr)); }
.hr-sheet > div { display: grid; grid-row: span 2; grid-template-rows: subgrid;
  margin-bottom: 12px; }
.hr-sheet .hr-question { margin-bottom: 4px; align-self: end; }
.hr-entry { border: 1px solid rgba(128, 128, 128, 0.4); border-radius: 6px; padding: 8px 12px;
  margin: 8px 0; }
.hr-sheet .q-field__messages { line-height: 1.3; font-size: 13px; }
.body--light .hr-sheet .q-field__bottom { color: #4a4a4a; }
.body--dark .hr-sheet .q-field__bottom { color: #c8c8c8; }
"""
UNKNOWN = ""
"""The choice of no answer."""
PAUSE_MS = 600
"""Milliseconds without a key before an answer counts."""


class SectionForm:
    """The questions of a section, which follow the text."""

    def __init__(self, section: SheetSection, editor: "Editor") -> None:
        self._section, self._editor = section, editor
        self._inputs: dict[FieldPath, Any] = {}
        self._own: dict[FieldPath, str] = {}
        """Why an answer could not be entered."""
        ui.add_css(STYLE)
        self._place = ui.element("section").classes("w-full")
        self._place.props["aria-label"] = section.title
        self._draw()
        self.show_errors()

    def follow(self) -> None:
        """Show the answers of the text, which changed elsewhere."""
        self._place.clear()
        self._inputs, self._own = {}, {}
        self._draw()
        self.show_errors()

    def show_errors(self) -> None:
        """Show what is wrong at its question, and where the others' values come from."""
        checked = self._editor.checked
        error = checked.error
        for path, element in self._inputs.items():
            dotted = ".".join(path)
            message = self._own.get(path)
            if message is None and error is not None and error.field == dotted:
                message = error.message
            if isinstance(element, ValidationElement):
                element.error = message

    def _draw(self) -> None:
        with self._place:
            if self._editor.sheet.document is None:
                ui.label("The text is not valid TOML: correct it there first.").classes(
                    "text-negative"
                )
                return
            for group in self._section.groups:
                self._group(group)

    def _group(self, group: Group) -> None:
        heading(group.title, 3)
        said = " ".join(text for text in (group.question, group.without) if text)
        if said:
            ui.label(said).classes("q-mb-sm")
        if not group.is_list:
            with ui.element("div").classes("hr-sheet"):
                for field in group.fields:
                    self._field((*group.path, field.name), field)
            return
        for number in range(self._editor.sheet.count(group.path)):
            self._entry(group, (*group.path, str(number)), number)
        ui.button(
            f"Add {group.article} {group.noun}",
            icon="add",
            on_click=partial(self._editor.add, group.path),
        ).props("outline")

    def _entry(self, group: Group, path: FieldPath, number: int) -> None:
        noun = f"{group.noun} {number + 1}"
        with ui.element("div").classes("hr-entry").props("role=group") as entry:
            entry.props["aria-label"] = noun
            with ui.row().classes("items-center justify-between w-full"):
                ui.label(noun[:1].upper() + noun[1:]).classes("text-bold")
                button = ui.button(icon="delete", on_click=partial(self._editor.remove, path))
                button.props("flat round dense")
                button.props["aria-label"] = f"Remove {noun}"
            with ui.element("div").classes("hr-sheet"):
                for field in group.fields:
                    self._field((*path, field.name), field)

    def _field(self, path: FieldPath, field: SheetField) -> None:
        value = shown(self._editor.sheet.value(path))
        with ui.element("div"):
            ui.label(field.question + (" (required)" if field.required else "")).classes(
                "hr-question"
            )
            element = self._input(path, field, value)
        element.classes("w-full").props["data-field"] = ".".join(path)
        if field.default and field.kind not in ("choice", "flag"):
            element.props["placeholder"] = field.default
        element.on_value_change(partial(self._entered, path))
        self._inputs[path] = element
        keep(element, f"field {'.'.join(path)}", of_draft=True)

    def _input(self, path: FieldPath, field: SheetField, value: str) -> Any:
        choices = None
        if field.kind in ("choice", "flag"):
            words = {choice: choice for choice in field.choices}
            if field.kind == "flag":
                words = {"true": "yes", "false": "no"}
            choices = {UNKNOWN: "not answered", **words}
        has_one = field.kind not in ("long", "names")
        return field_control(
            field.kind,
            value,
            label=None,
            named=field.question,
            hint=_hint(field),
            choices=choices,
            completions=self._editor.sheet.names(*REFERENCES.get(field.name, ()))
            if has_one
            else (),
            lines=field.kind == "long",
            debounce_ms=PAUSE_MS,
            is_required=field.required,
        )

    async def _entered(self, path: FieldPath) -> None:
        element = self._inputs[path]
        entered = "" if element.value is None else str(element.value)
        if entered == shown(self._editor.sheet.value(path)):
            return
        message = await self._editor.enter(path, entered)
        self._own.pop(path, None)
        if message is not None:
            self._own[path] = message
        self.show_errors()


def _hint(field: SheetField) -> str:
    """Return what an answer looks like, and what holds without one."""
    example = f"For example: {field.example}." if field.example and not field.choices else ""
    names = "Names, separated by commas." if field.kind == "names" else ""
    # An empty default says what holds without an answer.
    without = re.sub(r'^Default: (?:""|\[\]) \((.*)\)\.$', r"Without it: \1.", field.without)
    return " ".join(text for text in (names, example, without) if text)
