"""The fields of worksheets as forms show them, from the JSON Schema of worksheets."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal

import msgspec

from headrace import _core
from headrace.toml_positions import FieldPath

Kind = Literal["choice", "flag", "integer", "number", "names", "quantity", "long", "text"]

LONG = frozenset({"problem", "reason", "existing", "description", "text", "removal", "backup"})
"""Fields for more than a line of text."""


class SheetField(msgspec.Struct, frozen=True):
    """A question of the worksheet."""

    name: str
    kind: Kind
    question: str
    without: str
    """What holds without an answer; empty for a required one."""
    example: str = ""
    default: str = ""
    """The default as text; empty if there is none."""
    choices: tuple[str, ...] = ()
    required: bool = False


class Group(msgspec.Struct, frozen=True):
    """A table of the worksheet with its questions; of a list each entry has them."""

    path: FieldPath
    """Path of the table: `("background", "wish")`; empty for the top."""
    title: str
    question: str
    without: str
    fields: tuple[SheetField, ...]
    is_list: bool = False

    @property
    def noun(self) -> str:
        """Name of an entry of the list."""
        return ENTRIES.get(self.path[-1] if self.path else "", "entry")

    @property
    def article(self) -> str:
        """The article before the noun."""
        return "an" if self.noun[0] in "aeiou" else "a"


class SheetSection(msgspec.Struct, frozen=True):
    """A page of the worksheet."""

    name: str
    title: str
    groups: tuple[Group, ...]


ENTRIES = {
    "client": "group of clients",
    "zone": "zone",
    "data": "kind of data",
    "flow": "flow",
    "application": "application",
    "limitation": "limitation",
    "wish": "wish",
}
TITLES = {
    "": "System",
    "customer": "Customer",
    "background": "Background",
    "limitation": "Limitations",
    "wish": "Wishes",
    "capacity": "Capacity and growth",
    "client": "Clients",
    "data": "Data",
    "flow": "Data flow",
    "zone": "Zones",
    "application": "Applications",
    "recovery": "Disaster recovery",
    "facility": "Facility",
    "budget": "Budget",
}
SECTIONS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "background",
        "Background",
        ("", "customer", "background", "background.limitation", "background.wish"),
    ),
    ("capacity", "Capacity and growth", ("capacity",)),
    ("clients", "Clients", ("client",)),
    ("zones", "Zones", ("zone",)),
    ("data", "Data", ("data", "flow")),
    ("applications", "Applications", ("application",)),
    ("recovery", "Disaster recovery", ("recovery",)),
    ("facility", "Facility", ("facility",)),
    ("budget", "Budget", ("budget",)),
)
"""Pages of the worksheet with their tables, in the order of Hindman 2011, appendix A."""
NUMBERS = {"integer", "number"}


@cache
def sections() -> tuple[SheetSection, ...]:
    """Return the pages of the worksheet with their questions."""
    schema = json.loads(_core.document_schema("worksheet"))
    return tuple(
        SheetSection(name, title, tuple(_group(schema, path) for path in paths))
        for name, title, paths in SECTIONS
    )


def section_of(path: FieldPath) -> str | None:
    """Return the name of the page that has a field."""
    names = tuple(part for part in path if not part.isdecimal())
    for length in range(len(names), -1, -1):
        table = ".".join(names[:length])
        for name, _, paths in SECTIONS:
            # A field of the top is none of the tables.
            if table in paths and (table or len(names) == 1):
                return name
    return None


def _group(schema: Mapping[str, Any], dotted: str) -> Group:
    node: Mapping[str, Any] = schema
    path = tuple(dotted.split(".")) if dotted else ()
    is_list, said = False, ""
    for name in path:
        node = node["properties"][name]
        said, is_list = str(node.get("description", "")), "items" in node
        node = node.get("items", node)
    question, without, _ = _parts(said)
    required = node.get("required", ())
    fields = [
        _field(name, part, name in required)
        for name, part in node["properties"].items()
        if "properties" not in part and "properties" not in part.get("items", {})
    ]
    # The schema is sorted by name; a reader expects the name first.
    fields.sort(key=lambda field: (field.name != "name", not field.required))
    title = TITLES[path[-1] if path else ""]
    return Group(path, title, question, without, tuple(fields), is_list)


def _field(name: str, node: Mapping[str, Any], required: bool) -> SheetField:
    question, without, default = _parts(str(node.get("description", "")))
    examples = node.get("examples", ())
    choices = tuple(str(value) for value in node.get("enum", ()))
    return SheetField(
        name=name,
        kind=_kind(name, node),
        question=question,
        without=without,
        example=shown(examples[0]) if examples else "",
        default=shown(node["default"]) if node.get("default") not in (None, "", []) else default,
        choices=choices,
        required=required,
    )


def _kind(name: str, node: Mapping[str, Any]) -> Kind:
    if "enum" in node:
        return "choice"
    match node.get("type"):
        case "boolean":
            return "flag"
        case "integer":
            return "integer"
        case "number":
            return "number"
        case "array":
            return "names"
    if "anyOf" in node or "pattern" in node:
        return "quantity"
    return "long" if name in LONG else "text"


_SPLIT = re.compile(r"\s(?=(?:Without it|Default): )")
_DEFAULT = re.compile(r"Default: (\S.*?)(?: \((.*)\))?\.?$", re.DOTALL)


def _parts(description: str) -> tuple[str, str, str]:
    """Return question, what holds without an answer, and the default of a description."""
    question, *rest = _SPLIT.split(description, maxsplit=1)
    without = rest[0] if rest else ""
    match = _DEFAULT.match(without)
    default = "" if match is None or match[1] in ('""', "[]") else match[1].strip('"')
    return question, without, default


def shown(value: Any) -> str:
    """Return a value as a form shows it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(shown(item) for item in value)
    return str(value)


def value_of(entered: str, field: SheetField) -> Any:
    """Return an answer as TOML has it; None for an empty one, which is unknown.

    Text that is no number stays text: the check says at its place what is expected.
    """
    text = entered.strip()
    if not text:
        return None
    if field.kind == "flag":
        return {"true": True, "false": False}.get(text, text)
    if field.kind == "names":
        return [word.strip() for word in text.split(",") if word.strip()]
    if field.kind in NUMBERS or (field.kind == "quantity" and _is_plain(text)):
        for kind in (int, float):
            try:
                return kind(text.replace("_", ""))
            except ValueError:
                continue
    return text


def _is_plain(text: str) -> bool:
    """Return whether a quantity is a bare number, as shares may be."""
    return re.fullmatch(r"[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?", text) is not None


def fields_of(path: FieldPath) -> Iterator[SheetField]:
    """Yield the questions of a table, by its path without numbers."""
    names = tuple(part for part in path if not part.isdecimal())
    for section in sections():
        for group in section.groups:
            if group.path == names:
                yield from group.fields
