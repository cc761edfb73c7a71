"""Choices that the schema offers for the fields of a scenario: kinds, named values, switches."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from headrace import _core
from headrace.alternatives.table import table

Schema: TypeAlias = Mapping[str, Any]
"""A part of a JSON Schema."""
Document: TypeAlias = Mapping[str, Any]
"""A part of a complete scenario."""


class Choice(NamedTuple):
    """A field or a section with a value that it may have."""

    path: str
    before: str
    """Value that it has, empty without one."""
    after: str
    what: str
    """What the field is, or how the kind works."""
    sets: dict[str, Any]
    """Values by path that make the change."""
    is_kind: bool = False
    """Whether it is another kind of a section."""


class Device(NamedTuple):
    """A section of a device, whose alternatives are of a catalogue."""

    path: str
    document: Document
    kinds: Mapping[str, Schema]
    """Possible kinds by name."""


def choices(document: Document) -> Iterator[Choice | Device]:
    """Yield every choice of a scenario's fields, and its devices.

    Args:
        document: The complete scenario, defaults included.
    """
    for root in _schema()["oneOf"]:
        if root["properties"]["kind"].get("const") == document["kind"]:
            systems = table().systems.get(document["kind"], ())
            for choice in _of_table(root, document, ""):
                if isinstance(choice, Device) or choice.path != "system" or choice.after in systems:
                    yield choice


@cache
def _schema() -> Schema:
    schema: Schema = json.loads(_core.schema())
    return schema


def _of_table(schema: Schema, document: Document, path: str) -> Iterator[Choice | Device]:
    for name, below in schema["properties"].items():
        at = f"{path}.{name}" if path else name
        if name in ("kind", "model"):
            continue
        yield from _of(below, document.get(name), at)


def _of(schema: Schema, value: Any, path: str) -> Iterator[Choice | Device]:
    variants = list(_variants(schema))
    if isinstance(value, dict):
        tables = [variant for variant in variants if "properties" in variant]
        kinds = {kind: one for one in tables if (kind := _kind(one))}
        if value.get("kind") in kinds:
            if any("model" in entry["properties"] for entry in kinds.values()):
                yield Device(path, value, kinds)
            else:
                yield from _other_kinds(kinds, value["kind"], path)
            yield from _of_table(kinds[value["kind"]], value, path)
        elif tables:
            yield from _of_table(tables[0], value, path)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            if isinstance(each, dict) and "items" in schema:
                yield from _of(schema["items"], each, f"{path}.{number}")
    else:
        description = schema.get("description", "")
        for other in _values(variants, value, path):
            if other != value:
                yield Choice(path, text(value), text(other), description, {path: other})


def _other_kinds(kinds: Mapping[str, Schema], now: str, path: str) -> Iterator[Choice]:
    for kind, schema in kinds.items():
        if kind == now:
            continue
        entries = (rule for rule in table().kind if rule.fits(path, kind))
        entry = next(entries, None)
        needed = {f"{path}.{name}": value for name, value in entry.values.items()} if entry else {}
        sets = {f"{path}.kind": kind} | needed
        yield Choice(path, now, kind, schema.get("description", ""), sets, is_kind=True)


def _values(variants: Sequence[Schema], value: Any, path: str) -> Sequence[Any]:
    """Return the values of a field, from the table or the schema."""
    now = text(value)
    for entry in table().values:
        if _is_field(path, entry.field):
            meant = entry.instead_of is None or now in entry.instead_of
            return entry.values if meant else ()
    if value is None and not path.endswith("system"):
        # What is not given has a meaning of its own: only the table knows a value.
        return ()
    if isinstance(value, bool):
        return (False, True)
    named = [name for each in variants for name in each.get("enum", (each.get("const"),))]
    return [name for name in named if isinstance(name, str)]


def _is_field(path: str, pattern: str) -> bool:
    return path == pattern or (pattern.startswith("*") and path.endswith(pattern[1:]))


def _variants(schema: Schema) -> Iterator[Schema]:
    alternatives = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    if not alternatives or "properties" in schema:
        yield schema
        return
    for each in alternatives:
        yield from _variants(each)


def _kind(schema: Schema) -> str:
    kind: str = schema["properties"].get("kind", {}).get("const", "")
    return kind


def text(value: Any) -> str:
    """Return a value as a scenario writes it, empty for none."""
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
