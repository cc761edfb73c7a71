"""The table of rules: conditions on the figures of a phase, as data."""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import msgspec

from headrace.profile.document import VERDICTS, Verdict
from headrace.profile.figures import FIGURES, PhaseSamples
from headrace.toml_positions import TomlPositions, parse_toml

SHIPPED = "rules.toml"
COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "above": operator.gt,
    "at_least": operator.ge,
    "below": operator.lt,
    "at_most": operator.le,
}
BASELINE = "baseline."
"""Prefix of a figure of the baseline in `of`."""
CONDITION_KEYS = ("figure", *COMPARISONS, "of", "if_unknown")


class Condition(msgspec.Struct, frozen=True):
    """A comparison of a figure with a number, or with a factor of another figure."""

    figure: str
    comparison: str
    """A key of `COMPARISONS`."""
    number: float
    of: str | None = None
    """Figure of the phase, or of the baseline as `baseline.NAME`, that `number` multiplies."""
    if_unknown: bool = False
    """Value of the condition if a figure is unknown."""

    def reference(self, samples: PhaseSamples) -> float | None:
        """Return the value of `of`; None if there is none or it is unknown."""
        if self.of is None:
            return None
        if self.of.startswith(BASELINE):
            return samples.reference(self.of.removeprefix(BASELINE))
        return FIGURES[self.of].value(samples)

    def holds(self, samples: PhaseSamples) -> bool:
        """Return whether the condition holds in a phase."""
        value = FIGURES[self.figure].value(samples)
        limit: float | None = self.number
        if self.of is not None:
            reference = self.reference(samples)
            limit = None if reference is None else self.number * reference
        if value is None or limit is None:
            return self.if_unknown
        return COMPARISONS[self.comparison](value, limit)


class Rule(msgspec.Struct, frozen=True):
    """A rule: its verdict holds if all its conditions hold."""

    id: str
    verdict: Verdict | None
    """None for a remark."""
    source: str
    text: str
    when: Mapping[str, Condition]

    def holds(self, samples: PhaseSamples) -> bool:
        """Return whether all conditions hold in a phase."""
        return all(it.holds(samples) for it in self.when.values())


def shipped_rules() -> tuple[Rule, ...]:
    """Return the rules of Headrace, in order of precedence."""
    return tuple(_rules(SHIPPED, _shipped_text(), parse_toml(SHIPPED, _shipped_text())))


def load_rules(path: Path | None = None) -> tuple[Rule, ...]:
    """Return the rules of Headrace with a user's changes, in order of precedence.

    Parameters
    ----------
    path
        File with the changed keys, in the form of `rules.toml`. A rule with `enabled = false` is
        left out.

    Raises
    ------
    ValueError
        If a rule, key, figure or value in it is unknown. The message has file, line and column.
    OSError
        If it cannot be read.
    """
    if path is None:
        return shipped_rules()
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: expected a file of rules in TOML: it is not UTF-8") from None
    table = parse_toml(SHIPPED, _shipped_text())
    changes = parse_toml(str(path), text)
    where = TomlPositions(str(path), text)
    for name, change in changes.items():
        if name not in table:
            raise where.error((name,), f"unknown rule {name!r}: expected one of {', '.join(table)}")
        if not isinstance(change, dict):
            raise where.error((name,), f"{name}: expected a table such as [{name}.when]")
        merge_rule(table[name], change, (name,), where, ("verdict", "text", "source", "enabled"))
    return tuple(_rules(str(path), text, table))


def _shipped_text() -> str:
    return files("headrace.profile").joinpath(SHIPPED).read_text(encoding="utf-8")


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


def _rules(file: str, text: str, table: dict[str, Any]) -> Iterator[Rule]:
    """Yield the enabled rules of a table, checked."""
    where = TomlPositions(file, text)
    for name, it in table.items():
        enabled = it.get("enabled", True)
        if not isinstance(enabled, bool):
            raise where.error((name, "enabled"), f"{name}.enabled: expected true or false")
        verdict = it.get("verdict")
        if verdict is not None and verdict not in VERDICTS:
            raise where.error(
                (name, "verdict"), f"{name}.verdict: expected one of {', '.join(VERDICTS)}"
            )
        for key in ("text", "source"):
            if not isinstance(it.get(key), str) or not it[key]:
                raise where.error((name, key), f"{name}.{key}: expected a text")
        conditions = {
            key: _condition(value, (name, "when", key), where) for key, value in it["when"].items()
        }
        if enabled:
            checked = cast("Verdict | None", verdict)
            yield Rule(name, checked, it["source"], it["text"], conditions)


def _condition(value: dict[str, Any], at: tuple[str, ...], where: TomlPositions) -> Condition:
    path = ".".join(at)
    figure, of = value.get("figure"), value.get("of")
    if figure not in FIGURES:
        raise where.error(
            (*at, "figure"),
            f"{path}.figure: unknown figure {figure!r}: expected one of {', '.join(FIGURES)}",
        )
    if of is not None and not (
        isinstance(of, str) and (of in FIGURES or len(of) > len(BASELINE) == of.find(".") + 1)
    ):
        raise where.error(
            (*at, "of"), f'{path}.of: expected a figure, or one of the baseline as "baseline.NAME"'
        )
    found = [key for key in value if key in COMPARISONS]
    if len(found) != 1:
        raise where.error(at, f"{path}: expected one of {', '.join(COMPARISONS)}")
    number = value[found[0]]
    if isinstance(number, bool) or not isinstance(number, int | float) or number != number:
        raise where.error((*at, found[0]), f"{path}.{found[0]}: expected a number")
    unknown = value.get("if_unknown", False)
    if not isinstance(unknown, bool):
        raise where.error((*at, "if_unknown"), f"{path}.if_unknown: expected true or false")
    return Condition(figure, found[0], float(number), of, unknown)
