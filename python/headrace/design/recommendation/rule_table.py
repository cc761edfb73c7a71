"""The table of rules of recommendations: aspects, and conditions on facts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from headrace import rules
from headrace.design.recommendation.facts import FACTS, Site
from headrace.toml_positions import FieldPath, TomlPositions

HEAVIEST = 100.0
"""Weight of what is demanded or impossible."""
KINDS: Mapping[str, type] = {
    name: {"yes": bool, "word": str}.get(fact.unit, float) for name, fact in FACTS.items()
}
_FIELD = re.compile(r"\{([a-z0-9_]+)\}")


class Aspect(msgspec.Struct, frozen=True, kw_only=True):
    """A choice that a design makes."""

    name: str
    title: rules.Text
    scope: Annotated[
        Literal["zone", "system", "both"], msgspec.Meta(description="one of zone, system, both")
    ] = "zone"
    values: Annotated[tuple[str, ...], msgspec.Meta(min_length=1, description="a list of values")]
    several: rules.Boolean = False
    """Whether recommended values apply together."""
    needs: Annotated[
        dict[str, str], msgspec.Meta(description='a table such as { distribution = "striped" }')
    ] = {}
    """Aspects before it, and the best values that they must have: else it is left out."""

    @property
    def of_zones(self) -> bool:
        """True if each zone has a choice of its own."""
        return self.scope != "system"


class Rule(rules.Rule, frozen=True, kw_only=True):
    """A rule: it moves the scores of values if all its conditions hold."""

    aspect: rules.Text
    recommend: rules.Texts = ()
    reject: rules.Texts = ()
    weight: Annotated[
        float, msgspec.Meta(gt=0, le=HEAVIEST, description=f"a number in (0, {HEAVIEST:g}]")
    ] = 1.0
    when: dict[str, rules.Condition] = msgspec.field(default_factory=dict)

    def unknown(self, site: Site) -> tuple[str, ...]:
        """Return the fields of the worksheet without which the rule is undecided."""
        facts = self.undecided(site.value)
        return tuple(dict.fromkeys(field for name in facts for field in FACTS[name].answers))


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
    return _FIELD.sub(lambda match: FACTS[match[1]].text(site), text)


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
    table, where = rules.parse("rules.toml", rules.shipped_text(__package__))
    if path is not None:
        changes, where = rules.read(path)
        for group, entries in changes.items():
            if group not in table:
                raise where.wrong((group,), "expected tables [aspect.NAME] and [rule.NAME]")
            if not isinstance(entries, dict):
                raise where.wrong((group,), f"expected a table such as [{group}.NAME]")
        _merge_aspects(table["aspect"], changes.get("aspect", {}), where)
        own = f"user's rule, {path.name}"
        rules.merge(table["rule"], changes.get("rule", {}), where, own, at=("rule",))
    aspects: dict[str, Aspect] = {}
    for name, entry in table["aspect"].items():
        at = ("aspect", name)
        aspects[name] = rules.read_table(Aspect, {"title": name} | entry, at, where, name=name)
        for other, value in aspects[name].needs.items():
            if other == name or other not in aspects or value not in aspects[other].values:
                message = "expected an aspect above, and one of its values"
                raise where.wrong((*at, "needs", other), message)
    checked = rules.Reader(Rule, where, lambda _: KINDS).rules(table["rule"], at=("rule",))
    for rule in checked:
        _check(rule, aspects, ("rule", rule.id), where)
    return RuleTable(tuple(aspects.values()), checked)


def _merge_aspects(table: dict[str, Any], changes: Mapping[str, Any], where: TomlPositions) -> None:
    """Apply a user's changes to aspects; their values are added to those that exist."""
    for name, change in changes.items():
        if not isinstance(change, dict):
            raise where.wrong(("aspect", name), "expected a table")
        old = table.get(name, {})
        table[name] = old | change
        if isinstance(change.get("values"), list) and "values" in old:
            new = [value for value in change["values"] if value not in old["values"]]
            table[name]["values"] = [*old["values"], *new]


def _check(rule: Rule, aspects: Mapping[str, Aspect], at: FieldPath, where: TomlPositions) -> None:
    """Raise ValueError for an aspect, value or fact that does not exist."""
    aspect = aspects.get(rule.aspect)
    if aspect is None:
        raise where.wrong((*at, "aspect"), f"expected one of {', '.join(aspects)}")
    if not rule.recommend and not rule.reject:
        raise where.wrong(at, "expected values to recommend or to reject")
    for key, values in (
        ("text", [rule.text]),
        ("recommend", rule.recommend),
        ("reject", rule.reject),
    ):
        for value in values:
            facts = _FIELD.findall(value)
            known, kind = (FACTS, "fact") if key == "text" or facts else (aspect.values, "value")
            for name in facts if kind == "fact" else [value]:
                if name not in known:
                    message = f"unknown {kind} {name!r}: expected one of {', '.join(known)}"
                    raise where.wrong((*at, key), message)
