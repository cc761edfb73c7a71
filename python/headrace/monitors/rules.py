"""The rules of the states of monitors: conditions on the figures of a sample."""

from pathlib import Path
from typing import Annotated

import msgspec

from headrace import rules
from headrace.monitors.figures import FIGURES, MONITORS

OWN = "monitor-rules.toml"
"""Name of the file of a server's own rules in its data directory."""
STATES = ("ok", "warning", "problem")
"""States in order of their severity."""
MOST_SAMPLES = 3600
MOST_RULES = 200
LARGEST = 256 << 10
"""Bytes of a file of rules."""


class Rule(rules.Rule, frozen=True, kw_only=True):
    """A rule: its state holds if all its conditions do in some samples in a row."""

    monitor: Annotated[str, rules.one_of(MONITORS)]
    state: Annotated[str, rules.one_of(STATES)]
    samples: Annotated[
        int,
        msgspec.Meta(ge=1, le=MOST_SAMPLES, description=f"a whole number from 1 to {MOST_SAMPLES}"),
    ] = 5

    def figures(self) -> dict[str, type]:
        """Return the figures of the rule's monitor with their types."""
        return {name: float for name in FIGURES if name.startswith(f"{self.monitor}.")}


def shipped_text() -> str:
    """Return the shipped file."""
    return rules.shipped_text(__package__)


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
    table, _ = rules.parse("rules.toml", shipped_text())
    shipped = set(table)
    changes, where = rules.parse(name, own)
    rules.merge(table, changes, where, source="own")
    merged = rules.Reader(Rule, where, Rule.figures).rules(table)
    if len(merged) > MOST_RULES:
        raise ValueError(f"{name}: {len(merged)} rules: expected at most {MOST_RULES}")
    # Own rules precede the shipped ones.
    return tuple(sorted(merged, key=lambda rule: rule.id in shipped))
