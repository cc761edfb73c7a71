"""A scenario that is being edited, as text and as fields at once."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from headrace.fields import convert
from headrace.toml_positions import FieldPath
from headrace.web.quick_run import QuickError, QuickRuns
from headrace.web.quick_worker import CheckedScenario
from headrace.web.scenario_schema import (
    Explained,
    ScenarioField,
    all_fields,
    entered_of,
    explained_values,
    find_field,
    value_of,
)
from headrace.web.scenario_text import (
    document_of,
    fields_of,
    path_at,
    path_text,
    remove_value,
    set_value,
)

HEAD = "scenario"
"""Section of the fields that belong to none."""


class GivenField(msgspec.Struct, frozen=True):
    """A field that the text gives."""

    path: FieldPath
    field: ScenarioField
    entered: str
    """Value as a user enters it."""

    @property
    def section(self) -> str:
        """Section of the form: the first name, with its number in a list."""
        if len(self.path) == 1:
            return HEAD
        return path_text(self.path[: 2 if self.path[1].isdecimal() else 1])


class OfferedField(msgspec.Struct, frozen=True):
    """A field that can be added."""

    field: ScenarioField
    explained: Explained | None
    """Its value without being given, and where that comes from."""


class ScenarioDraft:
    """The text of a scenario, what is known of it, and changes by field."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.error: QuickError | None = None
        """Why the text is no scenario, as of the last check."""
        self.checked: CheckedScenario | None = None
        """The scenario of the last text that was correct."""
        self._complete = self._explained = ""

    async def check(self, runs: QuickRuns, page: str | None = None) -> bool:
        """Check the text; return whether it has not changed meanwhile."""
        text = self.text
        answer = await runs.ask("check", text, page=page)
        if answer.superseded or text != self.text:
            return False
        self.error = answer.error
        if answer.error is None:
            self.checked = convert(answer.result, CheckedScenario)
            self._complete = self.checked.toml
            self._explained = self.checked.explained
        return True

    def given(self) -> Sequence[GivenField] | None:
        """Return the fields that the text gives, in its order; None if it is not TOML."""
        return _given(self.text, self._complete)

    def offered(self) -> Sequence[OfferedField]:
        """Return the fields that the text does not give and could."""
        return _offered(self.text, self._complete, self._explained)

    def fields(self) -> list[ScenarioField]:
        """Return the fields with a value each that the text gives or could."""
        given = [each.field for each in self.given() or ()]
        offered = [each.field for each in self.offered()]
        return [field for field in given + offered if field.kind != "list"]

    def explained(self, path: FieldPath) -> Explained | None:
        """Return a value of the complete scenario and where it comes from."""
        return explained_values(self._explained).get(path)

    def enter(self, path: FieldPath, entered: str) -> None:
        """Change or add a field.

        Raises:
            ValueError: if the field takes no such value.
            UnchangeableText: if the text has to be changed instead.
        """
        document = document_of(self.text) or {}
        complete = _merged(document_of(self._complete), document)
        field = find_field(complete, path) or ScenarioField(path, "text")
        self.text = set_value(self.text, path, value_of(entered, field))

    def remove(self, path: FieldPath) -> None:
        """Remove a field. Raises UnchangeableText."""
        self.text = remove_value(self.text, path)

    def apply(self, values: Mapping[str, Any]) -> None:
        """Set values by path, such as `clients.count`. Raises UnchangeableText."""
        text = self.text
        for path, value in values.items():
            text = set_value(text, tuple(path.split(".")), value)
        self.text = text

    @property
    def error_path(self) -> FieldPath | None:
        """The field where the error is; None if it is at none."""
        if self.error is None or self.error.line is None:
            return None
        return path_at(self.text, self.error.line, self.error.column)


# Many open the same example.
@lru_cache(16)
def _given(text: str, complete: str) -> Sequence[GivenField] | None:
    """Return the fields that a text gives, with the complete scenario of the last check."""
    document = document_of(text)
    if document is None:
        return None
    fields = []
    merged = _merged(document_of(complete), document)
    for path, value in fields_of(document):
        field = find_field(merged, path)
        if field is None:
            # An unknown field: the check says so.
            field = ScenarioField(path, "text" if isinstance(value, str) else "list")
        fields.append(GivenField(path, field, entered_of(value, field)))
    return fields


@lru_cache(16)
def _offered(text: str, complete: str, explained: str) -> Sequence[OfferedField]:
    document = document_of(text) or {}
    given = {path for path, _ in fields_of(document)}
    # A list or table that is given as a whole is no offer either.
    inner = {path[:at] for path in given for at in range(1, len(path))}
    values = explained_values(explained)
    return [
        OfferedField(field, values.get(field.path))
        for field in all_fields(_merged(document_of(complete), document))
        if field.path not in given and field.path not in inner
    ]


def _merged(below: Any, above: Any) -> Any:
    """Return tables with those of the text above the complete ones of the last check.

    Where the text gives another kind, nothing below it counts.
    """
    if isinstance(below, Mapping) and isinstance(above, Mapping):
        if "kind" in above and above["kind"] != below.get("kind", above["kind"]):
            return above
        return {
            key: _merged(below.get(key), above[key]) if key in above else below[key]
            for key in (*below, *(path for path in above if path not in below))
        }
    if isinstance(below, list) and isinstance(above, list):
        padded = below + [None] * (len(above) - len(below))
        return [_merged(low, high) for low, high in zip(padded, above, strict=False)]
    return below if above is None else above
