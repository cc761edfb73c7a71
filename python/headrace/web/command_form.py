"""A form of the parameters of a command."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any

from nicegui import ui
from nicegui.elements.mixins.validation_element import ValidationElement

from headrace import _core
from headrace.web.field_control import field_control
from headrace.web.jobs import CommandForm, FormField, RefusedRequest
from headrace.web.jobs.commands import WITHHELD
from headrace.web.layout import when_opened
from headrace.web.typed import keep

YES, NO = "yes", "no"
NAMES = {"sets": "changed fields", "calls": "system calls"}
"""Labels of parameters whose names say less than they could."""
UNITS = {"IOPS": "IOPS"}
"""Units by the form of a value; other forms are said in the help."""
STYLE = """
.hr-fields { display: grid; gap: 16px; width: 100%;
  grid-template-columns: repeat(auto-fill, minmax(min(280px, 100%), 1fr)); }
"""


class CommandFields:
    """A form of some parameters of a command. Called, it returns their values for a request."""

    def __init__(
        self,
        form: CommandForm,
        fields: Collection[FormField],
        values: Mapping[str, Any],
        within: ui.expansion | None,
    ) -> None:
        self.form = form
        self._fields = {entry.name: entry for entry in fields}
        self._values = values
        ui.add_css(STYLE)
        self._place = ui.element("div").classes("hr-fields")
        if within is None:
            _ = self._inputs
        else:
            when_opened(within, lambda: self._inputs)

    @cached_property
    def _inputs(self) -> dict[str, Any]:
        """The elements of the parameters, which are drawn when they are first needed."""
        with self._place:
            command = " ".join(self.form.command)
            return {
                name: keep(_drawn(each, self._values.get(name, each.default)), f"{command} {name}")
                for name, each in self._fields.items()
            }

    def __call__(self) -> dict[str, Any]:
        """Return the values that differ from the defaults, by name.

        Raises:
            RefusedRequest: for a value that is missing or wrong; it is also shown at its field.
        """
        values: dict[str, Any] = {}
        first: RefusedRequest | None = None
        for name, field in self._fields.items():
            element = self._inputs[name]
            message = _wrong(field, element.value)
            _show_error(element, message)
            if message is not None:
                first = first or RefusedRequest(f"{label_of(field)}: {message}", name)
                continue
            value = _value(field, element.value)
            if value not in (None, "", []) and value != field.default:
                values[name] = value
        if first is not None:
            self._focus(first)
            raise first
        return values

    def show_error(self, error: RefusedRequest) -> None:
        """Show why a request was refused: at its field, or as a message if it has none here."""
        element = self._inputs.get(error.field or "")
        if element is None:
            ui.notify(str(error), type="negative", close_button="Close", timeout=0)
            return
        _show_error(element, str(error))
        self._focus(error)

    def input(self, name: str) -> Any:
        """Return the element of a parameter; its `value` can be set and bound."""
        return self._inputs[name]

    def _focus(self, error: RefusedRequest) -> None:
        element = self._inputs.get(error.field or "")
        if element is not None:
            element.run_method("focus")


def command_fields(
    form: CommandForm,
    only: Collection[str] | None = None,
    without: Collection[str] = (),
    values: Mapping[str, Any] | None = None,
    within: ui.expansion | None = None,
) -> CommandFields:
    """Draw a form of a command's parameters and return what gives their values.

    Parameters:
        form: The command.
        only: Names of the parameters to draw, in this order; None draws all that a request may
            give.
        without: Names that are left out.
        values: Initial values by name, in place of the defaults.
        within: Expansion around them, which draws them when it is opened.
    """
    allowed = {field.name: field for field in form.fields if field.name not in WITHHELD}
    names = allowed if only is None else only
    fields = [allowed[name] for name in names if name in allowed and name not in without]
    return CommandFields(form, fields, values or {}, within)


def label_of(field: FormField) -> str:
    """Return the label of a parameter: the word of its option, with its unit."""
    name = NAMES.get(field.name) or (field.option or field.name).lstrip("-").replace("-", " ")
    label = name[:1].upper() + name[1:]
    unit = UNITS.get(field.metavar)
    return label if unit is None else f"{label} ({unit})"


def _drawn(field: FormField, value: Any) -> Any:
    label, hint = label_of(field), _hint(field)
    if field.kind == "flag" and not _is_undecided(field):
        with ui.element("div"):
            switch = ui.switch(label, value=bool(value))
            ui.label(hint).classes("text-caption")
        switch.props["aria-description"] = hint
        return switch
    choices: dict[str, str] | None = None
    entered: str | list[str] = "" if value is None else _text(value)
    if _is_undecided(field):
        choices = {"": "by default", YES: "yes", NO: "no"}
        entered = {True: YES, False: NO}.get(value, "")
    elif field.kind == "choice" and field.repeated:
        choices, entered = {choice: choice for choice in field.choices}, list(value or ())
    elif field.kind == "choice":
        choices = {"": "\N{EN DASH}"} if field.default is None else {}
        choices |= {choice: choice for choice in field.choices}
        if entered not in choices:
            entered = next(iter(choices))
    elif field.repeated:
        entered = value if isinstance(value, str) else "\n".join(map(str, value or ()))
        hint += " One a line."
    element = field_control(
        field.kind,
        entered,
        label=label,
        named=label,
        hint=hint,
        choices=choices,
        lines=field.repeated,
        is_required=field.required,
    )
    if isinstance(element, ui.input) and not field.repeated:
        element.validation = lambda typed: _wrong(field, typed, needed=False)
    element.classes("w-full").props["aria-description"] = hint
    return element


def _is_undecided(field: FormField) -> bool:
    """Return whether a flag may be on, off, or left to the command."""
    return field.kind == "flag" and field.default is None and field.negative_option is not None


def _hint(field: FormField) -> str:
    # A form has no options.
    parts = [field.help.replace(" --", " ")]
    if field.minimum is not None and field.kind in ("integer", "number"):
        parts.append(f"At least {field.minimum:g}.")
    if field.default not in (None, False, True, "") and field.kind != "choice":
        parts.append(f"Default: {_text(field.default)}.")
    if field.required:
        parts.append("Required.")
    return " ".join(part for part in parts if part)


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _wrong(field: FormField, value: Any, *, needed: bool = True) -> str | None:
    """Return what is wrong with an entered value; None if nothing is. A missing one is wrong only
    if it is `needed`."""
    text = "" if value is None else str(value).strip()
    if field.kind == "flag":
        return None
    if not text:
        return "a value is required" if field.required and needed else None
    if field.metavar == "TIME" and not _is_time(text):
        return 'expected a time such as "30 s" or "5 min"'
    if field.kind not in ("integer", "number"):
        return None
    words = text.splitlines() if field.repeated else [text]
    for word in words:
        try:
            number = int(word) if field.kind == "integer" else float(word)
        except ValueError:
            kind = "a whole number" if field.kind == "integer" else "a number"
            return f"expected {kind}"
        if field.minimum is not None and not number >= field.minimum:
            return f"expected at least {field.minimum:g}"
    return None


def _is_time(text: str) -> bool:
    """Return whether a text is a time, a number of seconds, or a law with parameters."""
    with suppress(ValueError):
        float(text)
        return True
    with suppress(ValueError):
        _core.parse_span(text)
        return True
    return ":" in text or text == "none"


def _value(field: FormField, value: Any) -> Any:
    if _is_undecided(field):
        return {YES: True, NO: False}.get(value)
    if field.kind == "flag":
        return bool(value)
    if isinstance(value, list):
        return value
    text = "" if value is None else str(value).strip()
    if field.repeated:
        return [line.strip() for line in text.splitlines() if line.strip()]
    if field.kind == "integer":
        return int(text) if text else None
    if field.kind == "number":
        return float(text) if text else None
    return text


def _show_error(element: Any, message: str | None) -> None:
    if isinstance(element, ValidationElement):
        element.error = message
