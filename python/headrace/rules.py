"""Rules with conditions on figures, as data: what those of profiles and of monitors have alike.

The shipped rules are a TOML file. A user's own file changes single keys of them.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from headrace import document_io
from headrace.toml_positions import TomlPositions

COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "above": operator.gt,
    "at_least": operator.ge,
    "below": operator.lt,
    "at_most": operator.le,
}
EXPECTED = "a file of rules in TOML"
CONDITION_KEYS = ("figure", *COMPARISONS, "of", "if_unknown")


class Comparison(msgspec.Struct, frozen=True):
    """A comparison of a figure with a number, or with a factor of another figure."""

    figure: str
    comparison: str
    """A key of `COMPARISONS`."""
    number: float
    of: str | None = None
    """Figure that `number` multiplies."""
    if_unknown: bool = False
    """Value of the condition if a figure is unknown."""

    def compare(self, value: float | None, reference: float | None) -> bool:
        """Compare the value of the figure, with that of `of` if there is one."""
        limit: float | None = self.number
        if self.of is not None:
            limit = None if reference is None else self.number * reference
        if value is None or limit is None:
            return self.if_unknown
        return COMPARISONS[self.comparison](value, limit)


Condition = TypeVar("Condition", bound=Comparison)


def decode(name: str, content: bytes) -> str:
    """Return the text of a file of rules. Raises ValueError if it is not UTF-8."""
    return document_io.decode(name, content, EXPECTED)


def parse(name: str, text: str) -> dict[str, Any]:
    """Return the tables of a file of rules. Raises ValueError as `document_io.parse_toml`."""
    return document_io.parse_toml(name, text, EXPECTED)


def merge_rule(
    rule: dict[str, Any],
    change: dict[str, Any],
    path: tuple[str, ...],
    where: TomlPositions,
    keys: Sequence[str],
) -> None:
    """Apply a user's changes to the table of one rule, whose keys beside `when` are `keys`.

    Raises ValueError with the place of an unknown key.
    """
    for key, value in change.items():
        at = (*path, key)
        if key == "when":
            if not isinstance(value, dict):
                raise where.error(at, f"{'.'.join(at)}: expected a table of conditions")
            for name, condition in value.items():
                _merge_condition(rule["when"], name, condition, (*at, name), where)
        elif key in keys:
            rule[key] = value
        else:
            raise where.error(
                at, f"{'.'.join(at)}: unknown key: expected {', '.join(keys)} or when"
            )


def is_enabled(name: str, rule: Mapping[str, Any], where: TomlPositions) -> bool:
    """Return whether a rule is in use. Raises ValueError if it does not say so by a boolean."""
    enabled = rule.get("enabled", True)
    if not isinstance(enabled, bool):
        raise where.error((name, "enabled"), f"{name}.enabled: expected true or false")
    return enabled


def read_text(name: str, key: str, value: Any, where: TomlPositions) -> str:
    """Return the text of a rule's key. Raises ValueError if it is none, or blank."""
    if not isinstance(value, str) or not value.strip():
        raise where.error((name, key), f"{name}.{key}: expected a text")
    return value


def read_condition(
    kind: type[Condition], value: Mapping[str, Any], at: tuple[str, ...], where: TomlPositions
) -> Condition:
    """Return a condition, whose figures have been checked. Raises ValueError with its place."""
    path = ".".join(at)
    found = [key for key in value if key in COMPARISONS]
    if len(found) != 1:
        raise where.error(at, f"{path}: expected one of {', '.join(COMPARISONS)}")
    number = value[found[0]]
    if isinstance(number, bool) or not isinstance(number, int | float) or number != number:
        raise where.error((*at, found[0]), f"{path}.{found[0]}: expected a number")
    unknown = value.get("if_unknown", False)
    if not isinstance(unknown, bool):
        raise where.error((*at, "if_unknown"), f"{path}.if_unknown: expected true or false")
    return kind(value["figure"], found[0], float(number), value.get("of"), unknown)


def _merge_condition(
    when: dict[str, Any], name: str, change: Any, at: tuple[str, ...], where: TomlPositions
) -> None:
    if name not in when:
        raise where.error(
            at, f"{'.'.join(at)}: unknown condition: expected one of {', '.join(when)}"
        )
    if not isinstance(change, dict):
        raise where.error(at, f"{'.'.join(at)}: expected a condition such as {{ above = 0.9 }}")
    for key in change:
        if key not in CONDITION_KEYS:
            raise where.error(
                (*at, key),
                f"{'.'.join((*at, key))}: unknown key: expected one of {', '.join(CONDITION_KEYS)}",
            )
    merged = dict(when[name])
    if any(it in COMPARISONS for it in change):
        # Another comparison replaces the shipped one.
        merged = {key: value for key, value in merged.items() if key not in COMPARISONS}
    when[name] = merged | change
