"""Colour sets, variables and values of an exported net."""

from dataclasses import dataclass, field
from typing import Any

from headrace.net.exchange.cpn_ml import (
    ATOM,
    Clock,
    Ml,
    Names,
    Scope,
    Translator,
    ml_int,
    ml_real,
    ml_string,
)
from headrace.net.exchange.structure import NetStructure, Node, Page


@dataclass
class Colset:
    """The declaration of a colour set."""

    name: str
    form: str
    """unit, bool, int, real, string, time, enum, record, product, list, range or alias."""
    parts: list[Any] = field(default_factory=list)
    timed: bool = False


class ColourSets:
    """Declares what a net needs: colour sets in the order of their use, and variables."""

    def __init__(self, net: NetStructure, clock: Clock) -> None:
        self.net, self.clock = net, clock
        self.names = Names()
        self.ml = Translator(net, clock, self.names)
        self.colsets: dict[tuple[Any, ...], Colset] = {}
        self.variables: dict[tuple[str, str], str] = {}
        self.total: dict[Page, int] = {}
        """Copies of each page."""
        self.is_timed = False

    def _declare_colours(self) -> None:
        sets = self.ml.colsets
        for kind in ("unit", "bool", "int", "text", "real", "time"):
            form = {"text": "string"}.get(kind, kind)
            used = kind in ("unit", "bool", "int", "text") or any(
                self.net.colours.contains(node.colour, kind) for node in self.net.nodes()
            )
            if used:
                self._base(kind, form)
        for name, members in self.net.colours.enums.items():
            parts = [self.ml.members[name, member] for member in members]
            self.colsets["kind", name] = Colset(sets[name], "enum", parts)
        waiting = dict(self.net.colours.records)
        while waiting:
            for name, fields in list(waiting.items()):
                if not any(kind in waiting for kind in fields.values()):
                    for kind in fields.values():
                        if kind in ("real", "time"):
                            self._base(kind, kind)
                    labels = [(self.ml.fields[name, it], sets[kind]) for it, kind in fields.items()]
                    self.colsets["kind", name] = Colset(sets[name], "record", labels)
                    del waiting[name]

    def _base(self, kind: str, form: str) -> None:
        if form == "time" and self.clock.is_real:
            form = "real"
        self.colsets.setdefault(("kind", kind), Colset(self.ml.colsets[kind], form))

    def _kind(self, kind: str) -> str:
        if ("kind", kind) not in self.colsets:
            self._base(kind, kind)
        return self.ml.colsets[kind]

    def _derived(self, key: tuple[Any, ...], name: str, form: str, parts: list[Any]) -> str:
        if key not in self.colsets:
            self.colsets[key] = Colset(self.names.new(name), form, parts)
        return self.colsets[key].name

    def _range(self, first: int, last: int) -> str:
        name = f"FROM_{first}_TO_{last}".replace("-", "M")
        return self._derived(("range", first, last), name, "range", [first, last])

    def _copies(self, page: Page) -> str:
        total = self.total[page]
        return self._derived(("copies", total), f"COPY_OF_{total}", "range", [0, total - 1])

    def _list(self, kind: str) -> str:
        item = self._kind(kind)
        return self._derived(("list", kind), f"{item}_list", "list", [item])

    def _colset(self, node: Node, kind: str, *, timed: bool = False) -> str:
        """Return the colour set of a node's tokens; `kind` is that without copies."""
        colset = kind
        if self.total[node.page] > 1:
            colset = self._copies(node.page)
            if kind != "UNIT":
                product = ("product", colset, kind)
                colset = self._derived(product, f"{colset}_{kind}", "product", [colset, kind])
        if timed:
            self.is_timed = True
            key = ("timed", colset)
            if key not in self.colsets:
                name = self.names.new(f"{colset}_timed")
                self.colsets[key] = Colset(name, "alias", [colset], True)
            colset = self.colsets[key].name
        return colset

    def _variable(self, preferred: str, colset: str) -> str:
        key = (preferred, colset)
        if key not in self.variables:
            self.variables[key] = self.names.new(preferred)
        return self.variables[key]

    def _fresh(self, preferred: str, colset: str, used: set[str]) -> str:
        """Return a variable that a transition does not use yet."""
        number = 1
        while (
            name := self._variable(preferred if number == 1 else f"{preferred}{number}", colset)
        ) in (used):
            number += 1
        used.add(name)
        return name

    def _positions(self, enum: str) -> str:
        members = self.net.colours.enums[enum]
        ordinal = self.ml.ord_of(enum)
        clauses = (
            f"{ordinal} {self.ml.members[enum, member]} = {number}"
            for number, member in enumerate(members)
        )
        return "fun " + " | ".join(clauses) + ";"

    def _wrap(self, node: Node, copy: str, token: str) -> str:
        """Return a token with its copy."""
        if self.total[node.page] == 1:
            return token
        return copy if node.colour == "unit" and not token.startswith("[") else f"({copy}, {token})"

    def _in_list(self, node: Node, copy: str, text: str) -> str:
        return text if self.total[node.page] == 1 else f"({copy}, {text})"

    def _is_new(self, name: str, kind: str, scope: Scope) -> bool:
        members = self.net.colours.enums.get(kind, [])
        known = name in scope.variables or name in self.ml.constants
        return not known and name not in ("true", "false") and name not in members


def literal(ml: Translator, kind: str, term: Ml) -> str:
    """Return a constant by its value, or by its text if that is not known."""
    if term.value is None:
        return term.at(ATOM)
    return value_of(ml, kind, term.value)


def value_of(ml: Translator, kind: str, value: Any) -> str:
    """Return a value of a kind in CPN ML."""
    if kind in ml.net.colours.records:
        fields = ml.net.colours.records[kind]
        entries = (
            f"{ml.fields[kind, name]} = {value_of(ml, fields[name], value[name])}"
            for name in fields
        )
        return "{" + ", ".join(entries) + "}"
    if kind in ml.net.colours.enums:
        return ml.members[kind, value]
    match kind:
        case "unit":
            return "()"
        case "bool":
            return "true" if value else "false"
        case "int":
            return ml_int(value)
        case "real":
            return ml_real(value)
        case "time":
            return ml.clock.constant(value)
    return ml_string(value)


def type_of(ml: Translator, term: Ml) -> str:
    """Return the type that the declaration of a constant needs."""
    return " : IntInf.int" if term.kind == "time" and not ml.clock.is_real else ""
