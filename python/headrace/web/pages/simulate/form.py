"""The form of a scenario: the fields that its text gives, and all others to add."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from nicegui import ui

from headrace.toml_positions import FieldPath
from headrace.web.field_control import field_control
from headrace.web.layout import when_opened
from headrace.web.scenario_draft import GivenField, ScenarioDraft
from headrace.web.scenario_schema import Explained, ScenarioField
from headrace.web.scenario_text import UnchangeableText, path_text
from headrace.web.typed import keep, typed_entries

PAUSE_MS = 300
"""Milliseconds without a key before a value counts."""
LONGEST_OFFER = 100
"""Characters of a description in the list of fields."""


class ScenarioForm:
    """Fields of a draft by section."""

    def __init__(self, draft: ScenarioDraft, entered: Callable[[], None]) -> None:
        self._draft, self._on_entered = draft, entered
        self._controls: dict[FieldPath, Any] = {}
        self._sections: dict[str, ui.expansion] = {}
        self._given: Sequence[GivenField] = []
        self._shape: list[tuple[Any, ...]] = []
        self._following = False
        self._adder = _Adder(draft, self._added)
        self._place = ui.element("div").classes("w-full")
        self.follow()

    def follow(self) -> None:
        """Show the fields of the draft's text. Text that is not TOML leaves the form as it is."""
        given = self._draft.given()
        if given is None:
            return
        self._given = given
        shape: list[tuple[Any, ...]] = [(it.path, it.field.kind, it.field.choices) for it in given]
        self._following = True
        try:
            if shape != self._shape:
                # At first the check does so.
                if self._shape:
                    self._adder.refresh()
                self._shape = shape
                self._draw()
            else:
                for entry in given:
                    control = self._controls.get(entry.path)
                    if control is None:
                        continue
                    if control.value != entry.entered:
                        control.value = _allowed(control, entry.entered)
                        control.error = None
                    control.props.update(hint=entry.field.help_of(entry.entered))
        finally:
            self._following = False

    def show_error(self) -> None:
        """Show the draft's error at its field, and offer the fields that its check found."""
        self._adder.refresh()
        path, error = self._draft.error_path, self._draft.error
        if path in {entry.path for entry in self._given}:
            self._sections[self._section_of(path)].value = True
        for at, control in self._controls.items():
            control.error = error.message if error is not None and at == path else None

    def _section_of(self, path: FieldPath) -> str:
        return GivenField(path, ScenarioField(path, "text"), "").section

    def _draw(self) -> None:
        opened = {name for name, box in self._sections.items() if box.value}
        self._place.clear()
        self._controls, self._sections = {}, {}
        sections = Counter(entry.section for entry in self._given)
        with self._place:
            for name, fields in sections.items():
                count = f"{fields} field" + ("" if fields == 1 else "s")
                with ui.expansion(name, caption=count, value=name in opened).classes(
                    "w-full"
                ) as section:
                    when_opened(section, partial(self._draw_section, name))
                self._sections[name] = section

    def _draw_section(self, name: str) -> None:
        for entry in self._given:
            if entry.section == name:
                self._field(entry)

    def _field(self, given: GivenField) -> None:
        path, field = given.path, given.field
        label = path_text(path)
        with ui.row().classes("w-full items-start no-wrap q-mb-sm"):
            control = _control(field, label, given.entered)
            control.classes("col").style("min-width: 0")
            control.on_value_change(partial(self._changed, path))
            self._controls[path] = control
            keep(control, f"field {label}", of_draft=True)
            ui.button(icon="delete", on_click=partial(self._remove, path)).props(
                "flat dense"
            ).props["aria-label"] = f"Remove {label}"

    def _changed(self, path: FieldPath) -> None:
        if self._following:
            return
        control = self._controls[path]
        try:
            self._draft.enter(path, str(control.value if control.value is not None else ""))
        except (ValueError, UnchangeableText) as error:
            control.error = str(error)
            return
        control.error = None
        self._on_entered()

    def _remove(self, path: FieldPath) -> None:
        try:
            self._draft.remove(path)
        except UnchangeableText as error:
            ui.notify(str(error), type="negative")
            return
        self._on_entered()

    def _added(self, path: FieldPath) -> None:
        self._on_entered()
        self.follow()
        section = self._sections.get(self._section_of(path))
        if section is not None:
            section.value = True


class _Adder:
    """Chooses a field that the text does not give, and adds it."""

    def __init__(self, draft: ScenarioDraft, added: Callable[[FieldPath], None]) -> None:
        self._draft, self._added = draft, added
        self._offers: dict[str, tuple[ScenarioField, Explained | None]] = {}
        self._chosen = ui.select(
            {}, label="Add a field (type to search)", with_input=True, on_change=self._choose
        ).props("outlined dense clearable stack-label input-debounce=0")
        self._chosen.classes("w-full")
        self._place = ui.element("div").classes("w-full")
        self._value: Any = None
        keep(self._chosen, "added field")
        self._typed = typed_entries()

    def refresh(self) -> None:
        """Offer the fields that the text does not give now."""
        self._offers = {
            path_text(one.field.path): (one.field, one.explained) for one in self._draft.offered()
        }
        options = field_offers(field for field, _ in self._offers.values())
        if options != self._chosen.options:
            chosen = self._chosen.value if self._chosen.value in options else None
            self._chosen.set_options(options, value=chosen)
            self._typed.retry()

    def _choose(self) -> None:
        self._place.clear()
        offer = self._offers.get(self._chosen.value or "")
        if offer is None:
            return
        field, explained = offer
        with self._place:
            ui.label(field.description).classes("text-sm whitespace-pre-line")
            entered = field.example
            if explained is not None:
                value = explained.value.strip('"')
                ui.label(f"Now: {explained.value or 'nothing'} ({explained.origin})").classes(
                    "text-sm"
                )
                entered = value or field.example
            with ui.row().classes("w-full items-start no-wrap gap-2"):
                self._value = _control(field, f"Value of {path_text(field.path)}", entered)
                self._value.classes("col").style("min-width: 0")
                keep(self._value, f"value of {path_text(field.path)}")
                ui.button("Add", on_click=partial(self._add, field.path))

    def _add(self, path: FieldPath) -> None:
        try:
            self._draft.enter(path, str(self._value.value or ""))
        except (ValueError, UnchangeableText) as error:
            self._value.error = str(error)
            return
        self._added(path)
        self._chosen.value = None


def _control(field: ScenarioField, label: str, entered: str) -> Any:
    choices = None
    if field.kind in ("choice", "flag"):
        words = field.choices if field.kind == "choice" else ("true", "false")
        choices = {word: word for word in words}
    return field_control(
        field.kind,
        entered,
        label=label,
        named=label,
        hint=field.help_of(entered),
        choices=choices,
        completions=field.choices,
        debounce_ms=PAUSE_MS,
    )


def _allowed(control: Any, entered: str) -> str:
    if isinstance(control, ui.select) and entered not in control.options:
        control.options = dict(control.options) | {entered: entered}
        control.update()
    return entered


def field_offers(fields: Iterable[ScenarioField]) -> dict[str, str]:
    """Return the entries of a list of fields: paths, and the first lines of descriptions."""
    lines = {path_text(field.path): field.description.split("\n")[0] for field in fields}
    return {
        name: f"{name}: {line if len(line) <= LONGEST_OFFER else f'{line[:LONGEST_OFFER]}…'}"
        for name, line in lines.items()
    }
