"""The TOML text of a scenario: its fields, their lines, and changes that keep its comments."""

import tomllib
from collections.abc import Iterator, Mapping, MutableMapping
from functools import lru_cache
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import AoT

from headrace.toml_positions import FieldPath, positions


class UnchangeableText(ValueError):
    """A field cannot be changed by itself: the text says it in another way, or is no TOML."""


def path_text(path: FieldPath) -> str:
    """Return a path as settings have it: `clients.count`."""
    return ".".join(path)


@lru_cache(16)
def document_of(text: str) -> Mapping[str, Any] | None:
    """Return the tables of a text, not to be changed; None if it is not TOML."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def fields_of(document: Mapping[str, Any]) -> Iterator[tuple[FieldPath, Any]]:
    """Yield the fields of a document with their values, in the order of the text."""
    for key, value in document.items():
        for path, part in _fields(value):
            yield (key, *path), part


def _fields(value: Any) -> Iterator[tuple[FieldPath, Any]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            for path, leaf in _fields(part):
                yield (str(key), *path), leaf
    elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        for number, part in enumerate(value):
            for path, leaf in _fields(part):
                yield (str(number), *path), leaf
    else:
        yield (), value


def value_at(document: Any, path: FieldPath) -> Any:
    """Return the value at a path; None if there is none."""
    for name in path:
        if isinstance(document, Mapping):
            document = document.get(name)
        elif isinstance(document, list) and name.isdecimal() and int(name) < len(document):
            document = document[int(name)]
        else:
            return None
    return document


def set_value(text: str, path: FieldPath, value: Any) -> str:
    """Return the text with another value of a field, or with the field added.

    Raises:
        UnchangeableText: if the text is not TOML, or a table of the path is a plain value.
    """
    return _changed(text, path, value)


def remove_value(text: str, path: FieldPath) -> str:
    """Return the text without a field. Raises UnchangeableText."""
    return _changed(text, path, None)


def _changed(text: str, path: FieldPath, value: Any) -> str:
    before = document_of(text)
    if before is None:
        raise UnchangeableText("the text is not valid TOML: correct it there first")
    try:
        document = tomlkit.parse(text)
        if value is None:
            _remove(document, path)
        else:
            _put(_table(document, path[:-1], create=True), path[-1], value)
        after = tomlkit.dumps(document)
        written = value_at(tomllib.loads(after), path)
        changed = written == value and (value is None or type(written) is type(value))
    except (TOMLKitError, tomllib.TOMLDecodeError, LookupError, TypeError, ValueError):
        changed = False
        after = text
    if not changed or not _equal_elsewhere(before, tomllib.loads(after), path):
        raise UnchangeableText(f"{path_text(path)} cannot be changed here: change it in the text")
    return after


def _remove(document: Any, path: FieldPath) -> None:
    """Remove a field, and tables that are empty without it and have no comment."""
    del _table(document, path[:-1], create=False)[path[-1]]
    for length in range(len(path) - 1, 0, -1):
        table = _table(document, path[:length], create=False)
        if isinstance(table, list) or len(table) or tomlkit.dumps(table).strip():
            return
        outer = _table(document, path[: length - 1], create=False)
        if isinstance(outer, list):
            return
        del outer[path[length - 1]]


def _put(table: MutableMapping[str, Any], name: str, value: Any) -> None:
    old = table.get(name)
    if old is not None and hasattr(old, "trivia"):
        item = tomlkit.item(value)
        # The comment behind the value stays.
        item.trivia.comment_ws = old.trivia.comment_ws
        item.trivia.comment = old.trivia.comment
        item.trivia.trail = old.trivia.trail
        table[name] = item
        return
    table[name] = value


def _table(document: Any, path: FieldPath, *, create: bool) -> Any:
    table = document
    for at, name in enumerate(path):
        if isinstance(table, list):
            number = int(name)
            if create and number == len(table):
                table.append(tomlkit.table())
            table = table[number]
            continue
        if name not in table:
            if not create:
                raise LookupError(name)
            is_list = at + 1 < len(path) and path[at + 1].isdecimal()
            table[name] = AoT([]) if is_list else tomlkit.table()
        table = table[name]
    return table


def _equal_elsewhere(before: Mapping[str, Any], after: Mapping[str, Any], path: FieldPath) -> bool:
    def others(document: Mapping[str, Any]) -> dict[FieldPath, Any]:
        return {key: value for key, value in fields_of(document) if key[: len(path)] != path}

    return others(before) == others(after)


def path_at(text: str, line: int, column: int | None = None) -> FieldPath | None:
    """Return the field at a position, or the one whose header is there; None if there is none."""
    places = [(path, at) for path, number, at in positions(text) if number == line]
    if not places:
        return None
    before = [path for path, at in places if column is None or at <= column]
    return before[0] if column is None and before else (before or [places[0][0]])[-1]
