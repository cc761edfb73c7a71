"""Rules, as data: conditions on figures, read from TOML, evaluated and put into words.

Verdicts of profiles, monitors, findings in traces and recommendations of designs are such rules.
Each of these users declares a subclass of `Rule` with its own fields, and the value of a figure by
its name. The shipped rules are a file; a user's own file changes single keys of them.
"""

import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Generic, NamedTuple, TypeAlias, TypeVar

import msgspec

from headrace import document_io
from headrace.toml_positions import FieldPath, TomlPositions

Value: TypeAlias = float | bool | str
ValueOf: TypeAlias = Callable[[str], Value | None]
"""Returns the value of a figure by its name; None if it is unknown."""

ORDERS = ("above", "at_least", "below", "at_most")
"""Comparisons of numbers."""
COMPARISONS: Mapping[str, tuple[str, Callable[[Any, Any], bool]]] = {
    "above": (">", operator.gt),
    "at_least": ("≥", operator.ge),
    "below": ("<", operator.lt),
    "at_most": ("≤", operator.le),
    "is": ("=", operator.eq),
    "one_of": ("in", lambda value, values: value in values),
    "is_known": ("is", lambda value, known: (value is not None) == known),
}
"""Sign and function of each comparison."""
FORMER_FIGURE = "fact"
"""Key of the figure in recommendations of earlier versions. Such a condition replaces another."""
EXPECTED = "a file of rules in TOML"

Text = Annotated[str, msgspec.Meta(pattern=r"\S", description="a text")]
AnyText = Annotated[str, msgspec.Meta(description="a text")]
Texts = Annotated[tuple[str, ...], msgspec.Meta(description='a list of texts such as ["striped"]')]
Boolean = Annotated[bool, msgspec.Meta(description="true or false")]
Number = Annotated[float, msgspec.Meta(description="a number")]
OPERANDS: Mapping[type, Any] = {float: Number, bool: Boolean, str: Text}
"""Types of what figures are compared with, by the type of the figure."""


def one_of(names: Collection[str]) -> msgspec.Meta:
    """Return the description of a text that is one of some names."""
    return msgspec.Meta(
        pattern=rf"^({'|'.join(names)})\Z", description=f"one of {', '.join(names)}"
    )


class Condition(msgspec.Struct, frozen=True):
    """A comparison of a figure with a value, or with a factor of another figure."""

    figure: str
    comparison: str
    """A key of `COMPARISONS`."""
    operand: Value | tuple[str, ...] = msgspec.field(name="number")
    """Called `number` in the documents of the API."""
    of: str | None = None
    """Figure that the operand multiplies."""
    if_unknown: bool = False
    """Whether the condition holds if a figure is unknown."""

    @property
    def names(self) -> list[str]:
        """The figures that are compared."""
        return [self.figure] if self.of is None else [self.figure, self.of]

    def holds(self, value_of: ValueOf) -> bool | None:
        """Return whether the condition holds; None if an unknown figure leaves it undecided."""
        value, operand = value_of(self.figure), self.limit(value_of)
        if self.comparison != "is_known" and (value is None or operand is None):
            return self.if_unknown or None
        return bool(COMPARISONS[self.comparison][1](value, operand))

    def limit(self, value_of: ValueOf) -> Any:
        """Return what the figure is compared with; None if it is unknown."""
        if self.of is None:
            return self.operand
        factor: Any = self.operand
        reference: Any = value_of(self.of)
        return None if reference is None else factor * reference

    def words(self, mark: str = "") -> str:
        """Return the condition in words and signs. `mark` encloses names of figures."""
        figure = f"{mark}{self.figure}{mark}"
        if self.comparison == "is_known":
            return f"{figure} is {'known' if self.operand else 'unknown'}"
        if isinstance(self.operand, bool):
            text = "yes" if self.operand else "no"
        elif isinstance(self.operand, tuple):
            text = ", ".join(self.operand)
        else:
            text = self.operand if isinstance(self.operand, str) else f"{self.operand:g}"
        if self.of is not None:
            text = f"{mark}{self.of}{mark}" if text == "1" else f"{text} of {mark}{self.of}{mark}"
        unknown = ", or unknown" if self.if_unknown else ""
        return f"{figure} {COMPARISONS[self.comparison][0]} {text}{unknown}"


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule: it holds if all its conditions hold. They are optional if `when` has a default."""

    id: str
    text: Text
    source: Text
    when: dict[str, Condition]

    def holds(self, value_of: ValueOf) -> bool | None:
        """Return whether all conditions hold; None if unknown figures leave it undecided."""
        holds: bool | None = True
        for condition in self.when.values():
            answer = condition.holds(value_of)
            if answer is False:
                return False
            holds = holds and answer
        return holds

    def undecided(self, value_of: ValueOf) -> list[str]:
        """Return the unknown figures that leave conditions undecided, each once."""
        conditions = [each for each in self.when.values() if each.holds(value_of) is None]
        names = dict.fromkeys(name for condition in conditions for name in condition.names)
        return [name for name in names if value_of(name) is None]

    def evidence(self, value_of: ValueOf) -> dict[str, Value]:
        """Return the known figures that the conditions compare, with their values."""
        names = dict.fromkeys(name for each in self.when.values() for name in each.names)
        return {name: value for name in names if (value := value_of(name)) is not None}

    def conditions(self, mark: str = "") -> list[str]:
        """Return the conditions in words. `mark` encloses names of figures."""
        return [condition.words(mark) for condition in self.when.values()]


class Tables(NamedTuple):
    """The tables of a file, and the positions of their keys."""

    tables: dict[str, Any]
    where: TomlPositions


def parse(name: str, content: str | bytes) -> Tables:
    """Return the tables of a file of rules. Raises ValueError if it is no TOML in UTF-8."""
    text = content if isinstance(content, str) else document_io.decode(name, content, EXPECTED)
    return Tables(document_io.parse_toml(name, text, EXPECTED), TomlPositions(name, text))


def read(path: Path) -> Tables:
    """Return the tables of a user's file. Raises OSError, or ValueError as `parse`."""
    return parse(document_io.display_name(path), document_io.read_bytes(path))


def shipped_text(package: str, name: str = "rules.toml") -> str:
    """Return the rules that a package has."""
    return files(package).joinpath(name).read_text(encoding="utf-8")


def merge(
    table: dict[str, Any],
    changes: Mapping[str, Any],
    where: TomlPositions,
    source: str,
    at: FieldPath = (),
) -> None:
    """Apply a user's changes to rules, key by key; a rule with a new name is added.

    Parameters:
        table: Shipped rules by name.
        changes: Changed and new rules by name.
        where: Positions of the changes.
        source: Source of new rules that name none.
        at: Path of the rules in the file.

    Raises:
        ValueError: A rule is no table, or a changed condition does not exist.
    """
    for name, change in changes.items():
        path = (*at, name)
        if not isinstance(change, dict):
            raise where.wrong(path, f"expected a table such as [{'.'.join(path)}.when]")
        if name not in table:
            table[name] = change | {"source": change.get("source") or source}
            continue
        if change.get("source") == "":
            change = {key: value for key, value in change.items() if key != "source"}
        when, new = table[name].get("when"), change.get("when")
        table[name] |= change
        if isinstance(when, dict) and isinstance(new, dict):
            at_when = (*path, "when")
            merged = {key: _changed(when, key, new[key], at_when, where) for key in new}
            table[name]["when"] = when | merged


def _changed(
    when: Mapping[str, Any], name: str, change: Any, at: FieldPath, where: TomlPositions
) -> Any:
    """Return a condition with a user's changes."""
    if not isinstance(change, dict) or FORMER_FIGURE in change:
        return change
    if name not in when:
        if "figure" not in change:
            expected = f"expected one of {', '.join(when)}, or a new one with its figure"
            raise where.wrong((*at, name), f"unknown condition: {expected}")
        return change
    old = when[name]
    if not COMPARISONS.keys().isdisjoint(change):
        # Another comparison replaces the shipped one.
        old = {key: value for key, value in old.items() if key not in COMPARISONS}
    return old | change


Record = TypeVar("Record", bound=msgspec.Struct)
AnyRule = TypeVar("AnyRule", bound=Rule)


def read_value(value: Any, kind: Any, at: FieldPath, where: TomlPositions) -> Any:
    """Return a value as a type whose `msgspec.Meta` describes it. Raises ValueError."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        raise where.wrong(at, f"expected {kind.__metadata__[0].description}") from None


def check_keys(
    table: Mapping[str, Any], keys: tuple[str, ...], at: FieldPath, where: TomlPositions
) -> None:
    """Raise ValueError for a key that is none of `keys`."""
    for key in table:
        if key not in keys:
            raise where.wrong((*at, key), f"unknown key: expected one of {', '.join(keys)}")


def read_table(
    kind: type[Record], table: Mapping[str, Any], at: FieldPath, where: TomlPositions, **given: Any
) -> Record:
    """Return a table as a record, the fields `given` aside. Raises ValueError with a position."""
    fields = [field for field in msgspec.structs.fields(kind) if field.name not in given]
    fields.sort(key=lambda field: field.name in Rule.__struct_fields__)
    more = ("enabled", "when") if issubclass(kind, Rule) else ()
    check_keys(table, (*(field.name for field in fields), *more), at, where)
    for field in fields:
        if field.name in table or field.required:
            value = table.get(field.name)
            given[field.name] = read_value(value, field.type, (*at, field.name), where)
    return kind(**given)


@dataclass(frozen=True)
class Reader(Generic[AnyRule]):
    """Reads the rules of one kind from tables. Methods raise ValueError with a position."""

    kind: type[AnyRule]
    where: TomlPositions
    figures: Callable[[AnyRule], Mapping[str, type] | None]
    """Types of the figures that a rule may compare; None if any number may be a figure."""
    family: str = ""
    """Prefix of further figures that `of` may name."""

    def rules(self, table: Mapping[str, Any], at: FieldPath = ()) -> tuple[AnyRule, ...]:
        """Return the enabled rules of a table, in its order."""
        checked = {name: self.rule(name, entry, (*at, name)) for name, entry in table.items()}
        return tuple(checked[name] for name in table if table[name].get("enabled", True))

    def rule(self, name: str, table: Mapping[str, Any], at: FieldPath) -> AnyRule:
        """Return a rule, whether or not it is enabled."""
        rule = read_table(self.kind, table, at, self.where, id=name, when={})
        read_value(table.get("enabled", True), Boolean, (*at, "enabled"), self.where)
        when, fields = table.get("when", {}), msgspec.structs.fields(self.kind)
        is_required = any(field.name == "when" and field.required for field in fields)
        if not isinstance(when, dict) or (is_required and not when):
            raise self.where.wrong((*at, "when"), "expected a table of conditions")
        figures = self.figures(rule)
        conditions = {key: self._condition(when[key], (*at, "when", key), figures) for key in when}
        return msgspec.structs.replace(rule, when=conditions)

    def _condition(
        self, table: Any, at: FieldPath, figures: Mapping[str, type] | None
    ) -> Condition:
        if not isinstance(table, dict):
            example = '{ figure = "NAME", above = 0.9 }'
            raise self.where.wrong(at, f"expected a condition such as {example}")
        key = FORMER_FIGURE if FORMER_FIGURE in table else "figure"
        check_keys(table, (key, *COMPARISONS, "of", "if_unknown"), at, self.where)
        figure = self._figure(table.get(key), (*at, key), figures)
        given = [name for name in COMPARISONS if name in table]
        if len(given) != 1:
            raise self.where.wrong(at, f"expected one of {', '.join(COMPARISONS)}")
        comparison, place = given[0], (*at, given[0])
        kind = float if figures is None else figures[figure]
        if comparison in ORDERS and kind is not float:
            raise self.where.wrong(place, f"{figure} is no number: expected is or one_of")
        if comparison == "one_of" and kind is not str:
            raise self.where.wrong(place, f"{figure} is no text: expected another comparison")
        expected = {"one_of": Texts, "is_known": Boolean}.get(comparison, OPERANDS[kind])
        operand = read_value(table[comparison], expected, place, self.where)
        reference = table.get("of")
        if reference is not None:
            numbers = figures and {name: float for name in figures if figures[name] is float}
            reference = self._figure(reference, (*at, "of"), numbers, self.family)
            if comparison not in ORDERS:
                raise self.where.wrong((*at, "of"), f"expected one of {', '.join(ORDERS)} with it")
        unknown = table.get("if_unknown", False)
        read_value(unknown, Boolean, (*at, "if_unknown"), self.where)
        return Condition(figure, comparison, operand, reference, unknown)

    def _figure(
        self, value: Any, at: FieldPath, figures: Mapping[str, type] | None, family: str = ""
    ) -> str:
        name: str = "" if value is None else read_value(value, Text, at, self.where)
        in_family = family and name.startswith(family) and name != family
        if name and (figures is None or name in figures or in_family):
            return name
        known = ", ".join([*(figures or ()), *([f"{family}NAME"] if family else [])])
        expected = "expected a figure" if figures is None else f"expected one of {known}"
        raise self.where.wrong(at, f"unknown figure {name!r}: {expected}" if name else expected)
