"""The element of a field, in every form."""

from collections.abc import Collection, Mapping
from typing import Any

from nicegui import ui


def field_control(
    kind: str,
    value: Any,
    *,
    label: str | None,
    named: str,
    hint: str,
    choices: Mapping[str, str] | None = None,
    completions: Collection[str] = (),
    lines: bool = False,
    debounce_ms: int = 0,
    is_required: bool = False,
) -> Any:
    """Draw the element of a field.

    Parameters:
        kind: `integer` and `number` have the keyboard of numbers.
        value: What the field has; a value that is no choice stays until it is corrected. With a
            list several choices can be made.
        label: Label within the element; None if it is beside it.
        named: Name for screen readers.
        hint: Text below it.
        choices: Words by value, if it has one of some values.
        completions: Values that are offered to one who types.
        lines: Whether it has several lines.
        debounce_ms: Milliseconds without a key before a value counts.
        is_required: Whether it must have a value.
    """
    element: Any
    props: dict[str, Any] = {"outlined": True, "dense": True, "hide-bottom-space": True}
    # Quasar's label would also read the hint as the name of the field.
    props |= {"hint": hint, "aria-label": named}
    if choices is not None:
        several = isinstance(value, list)
        known = choices if several or value in choices else {**choices, value: value}
        element = ui.select(dict(known), label=label, value=value, multiple=several)
    elif lines:
        element = ui.textarea(label, value=value).props("autogrow rows=1")
    else:
        element = ui.input(label, value=value, autocomplete=[*completions] or None)
        if kind in ("integer", "number"):
            props["inputmode"] = "numeric" if kind == "integer" else "decimal"
    if debounce_ms and choices is None:
        props["debounce"] = debounce_ms
    if label is not None:
        props["stack-label"] = True
    if is_required and choices is None:
        props["aria-required"] = "true"
    element.props.update(props)
    return element
