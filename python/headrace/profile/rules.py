"""The table of rules: conditions on the figures of a phase, as data."""

from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

import msgspec

from headrace.profile.document import VERDICTS, Verdict
from headrace.profile.figures import FIGURES, PhaseSamples
from headrace.rules import (
    Comparison,
    decode,
    is_enabled,
    merge_rule,
    parse,
    read_condition,
    read_text,
)
from headrace.toml_positions import TomlPositions

SHIPPED = "rules.toml"
BASELINE = "baseline."
"""Prefix of a figure of the baseline in `of`."""
KEYS = ("verdict", "text", "source", "enabled")


class Condition(Comparison, frozen=True):
    """A comparison in a phase. `of` is a figure of it, or of the baseline as `baseline.NAME`."""

    def reference(self, samples: PhaseSamples) -> float | None:
        """Return the value of `of`; None if there is none or it is unknown."""
        if self.of is None:
            return None
        if self.of.startswith(BASELINE):
            return samples.reference(self.of.removeprefix(BASELINE))
        return FIGURES[self.of].value(samples)

    def holds(self, samples: PhaseSamples) -> bool:
        """Return whether the condition holds in a phase."""
        return self.compare(FIGURES[self.figure].value(samples), self.reference(samples))


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
    return tuple(_rules(SHIPPED, _shipped_text(), parse(SHIPPED, _shipped_text())))


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
    text = decode(str(path), path.read_bytes())
    table = parse(SHIPPED, _shipped_text())
    changes = parse(str(path), text)
    where = TomlPositions(str(path), text)
    for name, change in changes.items():
        if name not in table:
            raise where.error((name,), f"unknown rule {name!r}: expected one of {', '.join(table)}")
        if not isinstance(change, dict):
            raise where.error((name,), f"{name}: expected a table such as [{name}.when]")
        merge_rule(table[name], change, (name,), where, KEYS)
    return tuple(_rules(str(path), text, table))


def _shipped_text() -> str:
    return files("headrace.profile").joinpath(SHIPPED).read_text(encoding="utf-8")


def _rules(file: str, content: str, table: dict[str, Any]) -> Iterator[Rule]:
    """Yield the enabled rules of a table, checked."""
    where = TomlPositions(file, content)
    for name, it in table.items():
        verdict = it.get("verdict")
        if verdict is not None and verdict not in VERDICTS:
            raise where.error(
                (name, "verdict"), f"{name}.verdict: expected one of {', '.join(VERDICTS)}"
            )
        text, source = (read_text(name, key, it.get(key), where) for key in ("text", "source"))
        conditions = {
            key: _condition(value, (name, "when", key), where) for key, value in it["when"].items()
        }
        if is_enabled(name, it, where):
            checked = cast("Verdict | None", verdict)
            yield Rule(name, checked, source, text, conditions)


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
    return read_condition(Condition, value, at, where)
