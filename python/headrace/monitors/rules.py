"""Rules for the states of monitors: conditions on figures, as data."""

from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from headrace.monitors.figures import FIGURES, MONITORS, Values
from headrace.rules import (
    CONDITION_KEYS,
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
OWN = "monitor-rules.toml"
"""Name of the file of a server's own rules in its data directory."""
STATES = ("ok", "warning", "problem")
"""States in order of their severity."""
MOST_SAMPLES = 3600
MOST_RULES = 200
LARGEST = 256 << 10
"""Bytes of a file of rules."""
KEYS = ("monitor", "state", "samples", "source", "text", "enabled")


class Condition(Comparison, frozen=True):
    """A comparison in a sample."""

    def holds(self, values: Values, device: str) -> bool:
        """Return whether the condition holds in a sample for a device."""
        reference = None if self.of is None else FIGURES[self.of].value(values, device)
        return self.compare(FIGURES[self.figure].value(values, device), reference)


class Rule(msgspec.Struct, frozen=True):
    """A rule: its state holds if all its conditions do in some samples in a row."""

    id: str
    monitor: str
    state: str
    samples: int
    source: str
    text: str
    when: Mapping[str, Condition]

    def holds(self, values: Values, device: str) -> bool:
        """Return whether all conditions hold in a sample."""
        return all(it.holds(values, device) for it in self.when.values())


def shipped_text() -> str:
    """Return the shipped file."""
    return files("headrace.monitors").joinpath(SHIPPED).read_text(encoding="utf-8")


def load_rules(path: Path | None = None) -> tuple[Rule, ...]:
    """Return the rules in order of precedence, with the changes of a file if there is one.

    Raises:
        ValueError: if it is no file of rules. The message has line and column.
        OSError: if it cannot be read.
    """
    if path is None or not path.exists():
        return parse_rules("")
    return parse_rules(path.read_bytes(), str(path))


def parse_rules(own: str | bytes, name: str = OWN) -> tuple[Rule, ...]:
    """Return the shipped rules with the changes of a text. Raises ValueError, as `load_rules`."""
    if len(own) > LARGEST:
        raise ValueError(f"{name}: expected a file of at most {LARGEST:,} bytes")
    text = own if isinstance(own, str) else decode(name, own)
    shipped = parse(SHIPPED, shipped_text())
    changes = parse(name, text)
    where = TomlPositions(name, text)
    added: dict[str, Any] = {}
    for rule, change in changes.items():
        if not isinstance(change, dict):
            raise where.error((rule,), f"{rule}: expected a table such as [{rule}.when]")
        if rule in shipped:
            merge_rule(shipped[rule], change, (rule,), where, KEYS)
        else:
            added[rule] = change
    rules = tuple(_rules(added | shipped, where))
    if len(rules) > MOST_RULES:
        raise ValueError(f"{name}: {len(rules)} rules: expected at most {MOST_RULES}")
    return rules


def _rules(table: Mapping[str, Any], where: TomlPositions) -> Iterator[Rule]:
    """Yield the enabled rules, checked."""
    for name, it in table.items():
        for key in it:
            if key not in (*KEYS, "when"):
                raise where.error(
                    (name, key), f"{name}.{key}: unknown key: expected {', '.join(KEYS)} or when"
                )
        for key, expected in (("monitor", tuple(MONITORS)), ("state", STATES)):
            if it.get(key) not in expected:
                raise where.error(
                    (name, key), f"{name}.{key}: expected one of {', '.join(expected)}"
                )
        text = read_text(name, "text", it.get("text"), where)
        source = read_text(name, "source", it.get("source") or "own", where)
        samples = it.get("samples", 5)
        if isinstance(samples, bool) or not isinstance(samples, int):
            raise where.error((name, "samples"), f"{name}.samples: expected a whole number")
        if not 1 <= samples <= MOST_SAMPLES:
            raise where.error((name, "samples"), f"{name}.samples: expected 1 to {MOST_SAMPLES}")
        conditions = it.get("when")
        if not isinstance(conditions, dict) or not conditions:
            raise where.error((name, "when"), f"{name}.when: expected a table of conditions")
        when = {
            key: _condition(value, it["monitor"], (name, "when", key), where)
            for key, value in conditions.items()
        }
        if is_enabled(name, it, where):
            yield Rule(name, it["monitor"], it["state"], samples, source, text, when)


def _condition(value: Any, monitor: str, at: tuple[str, ...], where: TomlPositions) -> Condition:
    path = ".".join(at)
    if not isinstance(value, dict):
        raise where.error(at, f"{path}: expected a condition such as {{ above = 0.9 }}")
    known = [it for it in FIGURES if it.partition(".")[0] == monitor]
    for key in value:
        if key not in CONDITION_KEYS:
            raise where.error(
                (*at, key), f"{path}.{key}: unknown key: expected {', '.join(CONDITION_KEYS)}"
            )
    for key in ("figure", "of"):
        if (key == "figure" or key in value) and value.get(key) not in known:
            raise where.error(
                (*at, key),
                f"{path}.{key}: unknown figure {value.get(key)!r}: expected one of"
                f" {', '.join(known)}",
            )
    return read_condition(Condition, value, at, where)
