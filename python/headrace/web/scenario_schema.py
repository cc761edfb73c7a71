"""The fields of scenarios, as their JSON Schema declares them, for forms."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, Literal

import msgspec

from headrace import _core
from headrace.toml_positions import FieldPath, positions
from headrace.web.scenario_text import value_at

Schema = Mapping[str, Any]
Kind = Literal["choice", "flag", "integer", "number", "text", "list"]

NOT_OFFERED = frozenset({"calibration", "check", "lab"})
"""Sections that programs write."""


class ScenarioField(msgspec.Struct, frozen=True):
    """A field that a scenario may have."""

    path: FieldPath
    kind: Kind
    description: str = ""
    choices: tuple[str, ...] = ()
    """Values of a choice; of a text, values that it may have besides."""
    example: str = ""

    def help_of(self, entered: str) -> str:
        """Return the description of a value: the line of its kind if all kinds have one."""
        lines = self.description.split("\n")
        return next((line for line in lines if line.startswith(f"{entered}: ")), self.description)


class Explained(msgspec.Struct, frozen=True):
    """A value of the complete scenario, and where it comes from."""

    value: str
    origin: str


@cache
def scenario_schema() -> Schema:
    """Return the JSON Schema of scenarios."""
    schema: Schema = json.loads(_core.schema())
    return schema


def find_field(document: Mapping[str, Any], path: FieldPath) -> ScenarioField | None:
    """Return a field of the schema; None if a scenario of these kinds has no such field.

    Parameters:
        document: The scenario's tables, as complete as they are known: the kinds in it decide.
        path: The field.
    """
    nodes = [scenario_schema()]
    for at, name in enumerate(path):
        value = value_at(document, path[:at])
        is_last = at == len(path) - 1
        result: list[Schema] = []
        if is_last and name == "kind" and len(kinds := _kinds(nodes)) > 1:
            return ScenarioField(path, "choice", _kind_text(nodes), tuple(kinds))
        for table in _tables(nodes, value):
            if name in table.get("properties", {}):
                result.append(table["properties"][name])
            elif isinstance(table.get("additionalProperties"), Mapping):
                result.append(table["additionalProperties"])
        if name.isdecimal():
            result += [node["items"] for node in _alternatives(nodes) if "items" in node]
        if not result:
            return None
        nodes = result
    return _field(path, nodes[0])


def all_fields(document: Mapping[str, Any]) -> Iterator[ScenarioField]:
    """Yield all fields that a scenario of these kinds may have, but those of `NOT_OFFERED`."""
    yield from _below(scenario_schema(), document, ())


def _below(node: Schema, value: Any, path: FieldPath) -> Iterator[ScenarioField]:
    kinds = _kinds([node])
    if len(kinds) > 1:
        yield ScenarioField((*path, "kind"), "choice", _kind_text([node]), tuple(kinds))
    chosen = _tables([node], value)
    if not chosen:
        return
    for name, schema in chosen[0].get("properties", {}).items():
        if not path and name in NOT_OFFERED:
            continue
        inner = value.get(name) if isinstance(value, Mapping) else None
        items = next((each["items"] for each in _alternatives([schema]) if "items" in each), None)
        if _has_properties(schema):
            yield from _below(schema, inner, (*path, name))
        elif items is not None and _has_properties(items):
            known = inner if isinstance(inner, list) else []
            for number, each in enumerate([*known, None]):
                yield from _below(items, each, (*path, name, str(number)))
        elif name != "kind" or "const" not in schema:
            yield _field((*path, name), schema)


def _field(path: FieldPath, node: Schema) -> ScenarioField:
    alternatives = [it for it in _alternatives([node]) if "anyOf" not in it and "oneOf" not in it]
    choices = [str(value) for alternative in alternatives for value in alternative.get("enum", ())]
    choices += [str(one["const"]) for one in alternatives if isinstance(one.get("const"), str)]
    types = {one.get("type") for one in alternatives if not {"enum", "const"} & one.keys()}
    kind: Kind = "text"
    if types == {"boolean"}:
        kind = "flag"
    elif not types and choices:
        kind = "choice"
    elif not choices and types <= {"integer", "number"} and types:
        kind = "integer" if types == {"integer"} else "number"
    elif types & {"array", "object"}:
        kind = "list"
    examples = node.get("examples", ())
    example = "" if not examples else str(examples[0])
    return ScenarioField(path, kind, str(node.get("description", "")), tuple(choices), example)


def _alternatives(nodes: list[Schema]) -> list[Schema]:
    schemas: list[Schema] = []
    for node in nodes:
        inner = [each for key in ("anyOf", "oneOf") for each in node.get(key, ())]
        # A table with `anyOf` says which of its fields are required.
        schemas += [node] if "properties" in node or not inner else _alternatives(inner)
    return schemas


def _has_properties(node: Schema) -> bool:
    return any("properties" in alternative for alternative in _alternatives([node]))


def _kinds(nodes: list[Schema]) -> list[str]:
    kinds = [it["properties"].get("kind", {}) for it in _alternatives(nodes) if "properties" in it]
    return list(dict.fromkeys(str(kind["const"]) for kind in kinds if "const" in kind))


def _kind_text(nodes: list[Schema]) -> str:
    parts = []
    for alternative in _alternatives(nodes):
        const = alternative.get("properties", {}).get("kind", {}).get("const")
        if const is not None:
            parts.append(" ".join(f"{const}: {alternative.get('description', '')}".split()))
    return "\n".join(dict.fromkeys(parts))


def _tables(nodes: list[Schema], value: Any) -> list[Schema]:
    """Return the alternatives that are tables, those that fit a value first."""
    tables = [entry for entry in _alternatives(nodes) if "properties" in entry or _is_map(entry)]
    keys = set(value) if isinstance(value, Mapping) else set()
    kind = value.get("kind") if isinstance(value, Mapping) else None

    def misfit(schema: Schema) -> tuple[bool, int, int]:
        own = schema.get("properties", {})
        const = own.get("kind", {}).get("const")
        other_kind = const is not None and kind is not None and const != kind
        return (
            other_kind,
            len(keys - own.keys()) if not _is_map(schema) else 0,
            len(set(schema.get("required", ())) - keys),
        )

    return sorted(tables, key=misfit)


def _is_map(node: Schema) -> bool:
    return isinstance(node.get("additionalProperties"), Mapping)


_EXPLAINED = re.compile(r"^[^#=\n]+=\s*(.*?)  # (.*)$")
_NOT_GIVEN = re.compile(r"^# ([A-Za-z0-9_-]+): not given(?:: (.*))?$")


@lru_cache(16)
def explained_values(text: str) -> Mapping[FieldPath, Explained]:
    """Return the values and origins of `headrace explain`, by path."""
    lines = text.split("\n")
    fields: dict[FieldPath, Explained] = {}
    table: FieldPath = ()
    at = {line: path for path, line, _ in reversed(list(positions(text)))}
    for number, line in enumerate(lines, 1):
        path = at.get(number)
        if path is not None and line.lstrip().startswith("["):
            table = path
        elif path is not None and (said := _EXPLAINED.match(line)):
            fields[path] = Explained(said[1], said[2])
        elif said := _NOT_GIVEN.match(line):
            fields[(*table, said[1])] = Explained("", f"not given: {said[2] or 'nothing'}")
    return fields


def value_of(entered: str, field: ScenarioField) -> Any:
    """Return the value that a user entered, as TOML has it.

    Raises:
        ValueError: if the field takes no such value. The text says what is expected.
    """
    import tomllib

    text = entered.strip()
    if field.kind == "flag":
        if text not in ("true", "false"):
            raise ValueError("expected true or false")
        return text == "true"
    if field.kind == "list":
        try:
            return tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            raise ValueError("expected a value in TOML, such as [1, 2] or { a = 1 }") from None
    if field.kind in ("integer", "number") or text == "0":
        number = _number(text)
        if number is None or (field.kind == "integer" and not isinstance(number, int)):
            whole = "whole " if field.kind == "integer" else ""
            raise ValueError(f"expected a {whole}number")
        return number
    if not text and field.kind == "choice":
        raise ValueError("expected one of the values")
    number = _number(text)
    # Fields such as `in_flight` take a number or a word.
    return number if number is not None and field.choices and field.kind == "text" else text


def entered_of(value: Any, field: ScenarioField) -> str:
    """Return a value as a user enters it: the reverse of `value_of`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str) and field.kind != "list":
        return value
    if isinstance(value, int | float):
        return repr(value)
    import tomlkit

    return str(tomlkit.item(value).as_string())


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None
