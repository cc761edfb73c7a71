"""Entries of a page, which survive a lost connection, a reload and Back: the tab keeps them.

The script `typed.js` numbers the entries and keeps them under the address of the page and the name
of the field. A page that connects tells its entries; those that the server does not have are
entered once more.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from nicegui import Client, ui
from nicegui.elements.mixins.value_element import ValueElement
from nicegui.events import GenericEventArguments

Field = TypeVar("Field", bound=ValueElement[Any])
PLACE = "typed"
"""Key of the entries in what NiceGUI stores with a page."""


class TypedEntries:
    """Entries of one page."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._fields: dict[str, tuple[ValueElement[Any], Callable[[Any], object]]] = {}
        self._pending: dict[str, Any] = {}
        self._numbers: set[int] = set()
        self.number = 0
        """Number of the last entry that the server has, with all before it."""
        self.on_draft: Callable[[list[int]], object] = lambda checksums: None
        """Called before an entry of a draft that had one of these checksums."""
        client.layout.on("typed", self._tell)
        client.on_connect(lambda: client.run_javascript("headraceTyped.tell()"))

    @property
    def pending(self) -> tuple[str, ...]:
        """Names of the entries whose fields are not drawn yet."""
        return tuple(self._pending)

    def retry(self) -> None:
        """Enter again what fields did not take, since they take other values now."""
        for name in self.pending:
            self._enter(name)

    def keep(
        self,
        field: ValueElement[Any],
        name: str,
        *,
        script: str = "headraceTyped.keep(NAME, value)",
        enter: Callable[[Any], object] | None = None,
    ) -> None:
        """Keep what is typed into a field. Parameters are those of `keep`."""
        unique, number = name, 1
        while unique in self._fields and not self._fields[unique][0].is_deleted:
            if self._fields[unique][0] is field:
                return
            number += 1
            unique = f"{name} {number}"

        def set_value(typed: Any) -> None:
            arguments = GenericEventArguments(sender=field, client=self._client, args=typed)
            field.set_value(field._event_args_to_value(arguments))

        self._fields[unique] = field, enter or set_value
        script = script.replace("NAME", json.dumps(unique))
        field.on(f"update:{field.VALUE_PROP}", self._count, js_handler=f"(value) => emit({script})")
        self._enter(unique)

    def _count(self, event: GenericEventArguments) -> None:
        # Messages can be lost, or come in any order while the page connects.
        self._numbers.add(int(event.args))
        while self.number + 1 in self._numbers:
            self.number += 1
            self._numbers.remove(self.number)

    def _tell(self, event: GenericEventArguments) -> None:
        entries = [(name, *entry) for name, entry in event.args if entry[0] > self.number]
        # Fields that the entry of another one draws take theirs at once.
        self._pending |= {name: typed for name, _, typed, _ in entries}
        for name, number, _, checksums in entries:
            if checksums is not None:
                self.on_draft(checksums)
            self.number = max(self.number, number)
            with self._client:
                self._enter(name)

    def _enter(self, name: str) -> None:
        field, enter = self._fields.get(name, (None, None))
        if name not in self._pending or field is None or enter is None or field.is_deleted:
            return
        # The field may have other choices now.
        with suppress(LookupError, TypeError, ValueError):
            enter(self._pending[name])
            self._pending.pop(name, None)


def typed_entries() -> TypedEntries:
    """Return the entries of the page that is being built or handled."""
    client = ui.context.client
    if PLACE not in client.storage:
        client.storage[PLACE] = TypedEntries(client)
    entries: TypedEntries = client.storage[PLACE]
    return entries


def keep(field: Field, name: str, *, of_draft: bool = False) -> Field:
    """Keep what is typed into a field, and return the field.

    Parameters:
        field: The field, with the handlers that its value shall reach.
        name: Its name, which is the same after a reload; one that is taken gets a number.
        of_draft: Whether its value becomes part of the page's draft, which is saved by itself.
    """
    draft = ", true" if of_draft else ""
    typed_entries().keep(field, name, script=f"headraceTyped.keep(NAME, value{draft})")
    return field


def forget(*names: str) -> None:
    """Keep no longer what was typed into fields: it is saved, or the fields are removed."""
    ui.run_javascript(f"headraceTyped.forget({json.dumps(names)})")
