"""Texts of a document that drawings of a net show: guards, inscriptions of arcs, first tokens."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from headrace.net.functions import NetFunction
from headrace.net.outline import names_of

Names: TypeAlias = "dict[str, int | Names]"
"""What the names of a page stand for: nodes, by id, and pages within."""

MOST_VALUES = 200
"""Most different first tokens of a place that a drawing lists."""


def inscribe(
    page: dict[str, Any],
    document: Mapping[str, Any],
    marking: Iterable[Mapping[str, Any]],
    functions: Sequence[NetFunction],
) -> None:
    """Add the texts of a document to its structure.

    Parameters:
        marking: First tokens, as plays list them.
        functions: Functions in Python, whose names stand in the texts.
    """
    values: dict[str, dict[str, int]] = {}
    for entry in marking:
        tokens = values.setdefault(entry["place"], {})
        if len(tokens) < MOST_VALUES:
            tokens[entry["text"]] = tokens.get(entry["text"], 0) + entry["count"]
    _Writer(values, functions).page(page, document, [_names(page)])


class _Writer:
    def __init__(
        self, values: Mapping[str, Mapping[str, int]], functions: Sequence[NetFunction]
    ) -> None:
        self.values = values
        self.names = {function.name: function.label.removesuffix("()") for function in functions}

    def page(self, page: dict[str, Any], table: Mapping[str, Any], names: list[Names]) -> None:
        """Add the texts of a page and of those within; `names` are its own and those around it."""
        for inner in page["pages"]:
            own = names[0][inner["name"]]
            assert isinstance(own, dict)
            self.page(inner, table["pages"][inner["name"]], [own, *names])
        nodes = {**table.get("places", {}), **table.get("stations", {})}
        for node in page["nodes"]:
            self._node(node, nodes[node["name"]], page["path"])
        for transition in page["transitions"]:
            entry = table["transitions"][transition["name"]]
            self._transition(transition, entry, names)

    def _node(self, node: dict[str, Any], table: Any, path: str) -> None:
        known = table if isinstance(table, Mapping) else {}
        if "service" in known:
            node["note"] = self._text(known["service"])
        values = self.values.get(f"{path}/{node['name']}")
        if values:
            node["marking"] = ", ".join(_several(value, count) for value, count in values.items())
        _place(node, known)

    def _transition(
        self, transition: dict[str, Any], table: Mapping[str, Any], names: list[Names]
    ) -> None:
        transition["is_inscribed"] = True
        if conditions := _listed(table.get("when")):
            texts = [self._text(condition) for condition in conditions]
            transition["guard"] = f"[{' and '.join(texts)}]"
        steps = [*_listed(table.get("let")), *_listed(table.get("set"))]
        transition["steps"] = [self._text(step) for step in steps]
        for key, arcs in (("take", "inputs"), ("put", "outputs")):
            texts_of: dict[int | None, list[str]] = {}
            for entry in _listed(table.get(key)):
                arc = entry if isinstance(entry, Mapping) else {"place": entry}
                target = _target(names, str(arc.get("place", "")))
                texts_of.setdefault(target, []).append(self._arc(arc))
            for arc in transition[arcs]:
                texts = texts_of.get(arc["node"], [])
                # Tokens without data: their number is enough.
                if all(text.isdigit() for text in texts):
                    number = sum(int(text) for text in texts)
                    texts = [str(number)] if number > 1 else []
                arc["text"] = " ++ ".join(texts)
        _place(transition, table)

    def _arc(self, arc: Mapping[str, Any]) -> str:
        """Return the inscription of an arc."""
        count, token = self._text(arc.get("count", 1)), self._text(arc.get("token", ""))
        text = (token or "1") if count == "1" else f"{count}`{token}" if token else count
        if "when" in arc:
            text = f"{'' if text == '1' else text} if {self._text(arc['when'])}".lstrip()
        return f"{text} @+ {self._text(arc['delay'])}" if "delay" in arc else text

    def _text(self, value: Any) -> str:
        return re.sub(r"\bpython_\d+\b", lambda name: self.names.get(name[0], name[0]), str(value))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _several(text: str, count: int) -> str:
    return text if count == 1 else f"{count}`{text}"


def _names(page: Mapping[str, Any]) -> Names:
    names: Names = {inner["name"]: _names(inner) for inner in page["pages"]}
    names |= {port["name"]: port["nodes"][0] for port in page.get("ports", ()) if port["nodes"]}
    return names | {node["name"]: node["id"] for node in page["nodes"]}


def _target(scopes: list[Names], path: str) -> int | None:
    """Return the node that a path leads to from the innermost of some pages."""
    first, *rest = names_of(path)
    target = next((names[first] for names in scopes if first in names), None)
    for name in rest:
        target = target.get(name) if isinstance(target, dict) else None
    return target if isinstance(target, int) else None


def _place(element: dict[str, Any], table: Mapping[str, Any]) -> None:
    """Note where a file of another tool has an element."""
    at = table.get("outline", {}).get("at")
    if at is not None:
        if not (isinstance(at, list) and len(at) == 2 and all(map(_is_number, at))):
            raise ValueError(f"{element['name']}: outline.at: expected [x, y], not {at!r}")
        element["at"] = at


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) < 1e6
