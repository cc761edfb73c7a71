"""The table of rules of recommendations: aspects, and conditions on facts, as data."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, cast

from headrace.design.recommendation.facts import FACTS, Site, Value
from headrace.document_io import decode
from headrace.rules import COMPARISONS as FUNCTIONS
from headrace.rules import EXPECTED, ORDERS, parse
from headrace.toml_positions import TomlPositions

SHIPPED = "rules.toml"
COMPARISONS = (*ORDERS, "is", "one_of", "is_known")
SCOPES = ("zone", "system", "both")
ASPECT_KEYS = ("title", "scope", "several", "values", "needs")
RULE_KEYS = (
    "aspect",
    "recommend",
    "reject",
    "weight",
    "text",
    "source",
    "when",
    "enabled",
)
HEAVIEST = 100.0
"""Weight of what is demanded or impossible."""
NUMBERS = ("B", "B/s", "s", "part", "count", "ratio")
"""Units of facts that are numbers."""
_FIELD = re.compile(r"\{([a-z0-9_]+)\}")


@dataclass(frozen=True)
class Aspect:
    """A choice that a design makes."""

    name: str
    title: str
    scope: Literal["zone", "system", "both"]
    values: tuple[str, ...]
    several: bool = False
    """Whether recommended values apply together."""
    needs: tuple[tuple[str, str], ...] = ()
    """Aspects before it, and the best values that they must have: else it is left out."""

    @property
    def of_zones(self) -> bool:
        """True if each zone has a choice of its own."""
        return self.scope != "system"


@dataclass(frozen=True)
class Condition:
    """A comparison of a fact."""

    fact: str
    comparison: str
    """One of `COMPARISONS`."""
    value: float | bool | str | tuple[str, ...]
    if_unknown: bool = False
    """Value of the condition if the fact is unknown."""

    def holds(self, site: Site) -> bool | None:
        """Return whether it holds; None if the fact is unknown and that matters."""
        found = FACTS[self.fact].value(site)
        if self.comparison == "is_known":
            return (found is not None) == self.value
        if found is None:
            return True if self.if_unknown else None
        return self._compare(found)

    def _compare(self, found: Value) -> bool:
        if self.comparison in ORDERS:
            assert not isinstance(found, str) and not isinstance(self.value, str | tuple)
            return FUNCTIONS[self.comparison][1](found, self.value)
        if self.comparison == "one_of":
            assert isinstance(self.value, tuple)
            return found in self.value
        return found == self.value


@dataclass(frozen=True)
class Rule:
    """A rule: it moves the scores of values if all its conditions hold."""

    id: str
    aspect: str
    recommend: tuple[str, ...]
    reject: tuple[str, ...]
    weight: float
    text: str
    source: str
    when: Mapping[str, Condition]

    def applies(self, site: Site) -> bool | None:
        """Return whether all conditions hold; None if that hangs on unknown facts."""
        answers = [it.holds(site) for it in self.when.values()]
        if False in answers:
            return False
        return None if None in answers else True

    def unknown(self, site: Site) -> tuple[str, ...]:
        """Return the fields of the worksheet without which the rule is undecided."""
        fields = [
            field
            for it in self.when.values()
            if it.holds(site) is None
            for field in FACTS[it.fact].answers
        ]
        return tuple(dict.fromkeys(fields))


@dataclass(frozen=True)
class RuleTable:
    """Aspects in the order of tables, and rules."""

    aspects: tuple[Aspect, ...]
    rules: tuple[Rule, ...]

    def of(self, aspect: str) -> tuple[Rule, ...]:
        """Return the rules of an aspect."""
        return tuple(it for it in self.rules if it.aspect == aspect)


def filled(text: str, site: Site) -> str:
    """Return a text with the values of the facts that it names."""
    return _FIELD.sub(lambda found: FACTS[found[1]].text(site), text)


@cache
def shipped_rules() -> RuleTable:
    """Return the rules of Headrace."""
    return load_rules(None)


def load_rules(path: Path | None) -> RuleTable:
    """Return the rules of Headrace with a user's changes.

    Args:
        path: File in the form of `rules.toml`. A rule whose name is new is added; of one that
            exists, the given keys change. `enabled = false` leaves a rule out.

    Raises:
        ValueError: A rule, key, fact or value is unknown. The message has file, line and column.
        OSError: The file cannot be read.
    """
    text = files("headrace.design.recommendation").joinpath(SHIPPED).read_text(encoding="utf-8")
    table = parse(SHIPPED, text).tables
    if path is None:
        return _Reader(SHIPPED, text, table).table()
    changed = decode(str(path), path.read_bytes(), EXPECTED)
    changes = parse(str(path), changed).tables
    where = TomlPositions(str(path), changed)
    for group, entries in changes.items():
        if group not in ("aspect", "rule"):
            raise where.error((group,), f"{group}: expected tables [aspect.NAME] and [rule.NAME]")
        if not isinstance(entries, dict):
            raise where.error((group,), f"{group}: expected a table such as [{group}.NAME]")
        for name, entry in entries.items():
            if not isinstance(entry, dict):
                raise where.error((group, name), f"{group}.{name}: expected a table")
            default = {} if group == "aspect" else {"source": f"user's rule, {path.name}"}
            _merge(table[group].setdefault(name, default), entry)
    return _Reader(str(path), changed, table).table()


def _merge(entry: dict[str, Any], change: Mapping[str, Any]) -> None:
    """Change an entry; conditions change one by one, and new values are added."""
    for key, value in change.items():
        if key == "when" and isinstance(value, dict) and isinstance(entry.get("when"), dict):
            entry[key] = entry[key] | value
        elif key == "values" and isinstance(value, list) and "values" in entry:
            entry[key] = [*entry[key], *(it for it in value if it not in entry[key])]
        else:
            entry[key] = value


class _Reader:
    """Checks the tables of a file and turns them into rules."""

    def __init__(self, file: str, text: str, table: Mapping[str, Any]) -> None:
        self._where = TomlPositions(file, text)
        self._tables = table
        self._aspects: dict[str, Aspect] = {}

    def table(self) -> RuleTable:
        """Return the checked rules."""
        for name, entry in self._tables["aspect"].items():
            self._aspects[name] = self._aspect(name, entry)
        rules = tuple(self._rules())
        return RuleTable(tuple(self._aspects.values()), rules)

    def _error(self, path: tuple[str, ...], message: str) -> ValueError:
        return self._where.error(path, f"{'.'.join(path)}: {message}")

    def _known(
        self, path: tuple[str, ...], entry: Mapping[str, Any], keys: tuple[str, ...]
    ) -> None:
        for key in entry:
            if key not in keys:
                raise self._error((*path, key), f"unknown key: expected one of {', '.join(keys)}")

    def _aspect(self, name: str, entry: Mapping[str, Any]) -> Aspect:
        path = ("aspect", name)
        self._known(path, entry, ASPECT_KEYS)
        scope = entry.get("scope", "zone")
        if scope not in SCOPES:
            raise self._error((*path, "scope"), f"expected one of {', '.join(SCOPES)}")
        several = entry.get("several", False)
        if not isinstance(several, bool):
            raise self._error((*path, "several"), "expected true or false")
        values = self._texts((*path, "values"), entry.get("values"))
        if not values:
            raise self._error((*path, "values"), "expected a list of values")
        title = self._text((*path, "title"), entry.get("title", name))
        needs = self._needs((*path, "needs"), entry.get("needs", {}))
        return Aspect(name, title, cast(Any, scope), values, several, needs)

    def _needs(self, path: tuple[str, ...], found: Any) -> tuple[tuple[str, str], ...]:
        if not isinstance(found, dict):
            raise self._error(path, 'expected a table such as { distribution = "striped" }')
        for name, value in found.items():
            aspect = self._aspects.get(name)
            if aspect is None or value not in aspect.values:
                raise self._error((*path, name), "expected an aspect above, and one of its values")
        return tuple(found.items())

    def _rules(self) -> Iterator[Rule]:
        for name, entry in self._tables["rule"].items():
            path = ("rule", name)
            self._known(path, entry, RULE_KEYS)
            enabled = entry.get("enabled", True)
            if not isinstance(enabled, bool):
                raise self._error((*path, "enabled"), "expected true or false")
            rule = self._rule(path, entry)
            if enabled:
                yield rule

    def _rule(self, path: tuple[str, ...], entry: Mapping[str, Any]) -> Rule:
        aspect = self._aspects.get(str(entry.get("aspect")))
        if aspect is None:
            raise self._error((*path, "aspect"), f"expected one of {', '.join(self._aspects)}")
        recommend = self._values((*path, "recommend"), entry.get("recommend", []), aspect)
        reject = self._values((*path, "reject"), entry.get("reject", []), aspect)
        if not recommend and not reject:
            raise self._error(path, "expected values to recommend or to reject")
        weight = entry.get("weight", 1)
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise self._error((*path, "weight"), "expected a number")
        if not 0 < weight <= HEAVIEST:
            raise self._error((*path, "weight"), f"expected a number in (0, {HEAVIEST:g}]")
        when = entry.get("when", {})
        if not isinstance(when, dict):
            raise self._error((*path, "when"), "expected a table of conditions")
        conditions = {key: self._condition((*path, "when", key), it) for key, it in when.items()}
        text = self._text((*path, "text"), entry.get("text"))
        source = self._text((*path, "source"), entry.get("source"))
        self._fields((*path, "text"), text)
        return Rule(
            path[1], aspect.name, recommend, reject, float(weight), text, source, conditions
        )

    def _values(self, path: tuple[str, ...], found: Any, aspect: Aspect) -> tuple[str, ...]:
        values = self._texts(path, found)
        for value in values:
            if _FIELD.search(value):
                self._fields(path, value)
            elif value not in aspect.values:
                raise self._error(
                    path, f"unknown value {value!r}: expected one of {', '.join(aspect.values)}"
                )
        return values

    def _condition(self, path: tuple[str, ...], entry: Any) -> Condition:
        if not isinstance(entry, dict):
            raise self._error(path, 'expected a condition such as { fact = "clients", above = 8 }')
        self._known(path, entry, ("fact", "if_unknown", *COMPARISONS))
        fact = FACTS.get(str(entry.get("fact")))
        if fact is None:
            raise self._error((*path, "fact"), f"expected one of {', '.join(FACTS)}")
        given = [it for it in COMPARISONS if it in entry]
        if len(given) != 1:
            raise self._error(path, f"expected one of {', '.join(COMPARISONS)}")
        unknown = entry.get("if_unknown", False)
        if not isinstance(unknown, bool):
            raise self._error((*path, "if_unknown"), "expected true or false")
        comparison, value = given[0], entry[given[0]]
        at = (*path, comparison)
        if comparison in ORDERS:
            if fact.unit not in NUMBERS:
                raise self._error(at, f"{fact.name} is no number: expected is or one_of")
            if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
                raise self._error(at, "expected a number")
            value = float(value)
        elif comparison == "one_of":
            value = self._texts(at, value)
        elif comparison == "is_known" or fact.unit == "yes":
            if not isinstance(value, bool):
                raise self._error(at, "expected true or false")
        elif not isinstance(value, str):
            raise self._error(at, "expected a text")
        return Condition(fact.name, comparison, value, unknown)

    def _fields(self, path: tuple[str, ...], text: str) -> None:
        for name in _FIELD.findall(text):
            if name not in FACTS:
                raise self._error(
                    path, f"unknown fact {name!r}: expected one of {', '.join(FACTS)}"
                )

    def _text(self, path: tuple[str, ...], found: Any) -> str:
        if not isinstance(found, str) or not found:
            raise self._error(path, "expected a text")
        return found

    def _texts(self, path: tuple[str, ...], found: Any) -> tuple[str, ...]:
        if not isinstance(found, list) or not all(isinstance(it, str) for it in found):
            raise self._error(path, 'expected a list of texts such as ["striped"]')
        return tuple(found)
