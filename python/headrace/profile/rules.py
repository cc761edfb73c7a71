"""The rules of verdicts: conditions on the figures of a phase."""

from pathlib import Path
from typing import Annotated

import msgspec

from headrace import rules
from headrace.profile.document import VERDICTS, Verdict
from headrace.profile.figures import BASELINE, FIGURES

KINDS: dict[str, type] = dict.fromkeys(FIGURES, float)


class Rule(rules.Rule, frozen=True, kw_only=True):
    """A rule: its verdict holds if all its conditions hold."""

    verdict: Annotated[
        Verdict | None, msgspec.Meta(description=f"one of {', '.join(VERDICTS)}")
    ] = None
    """None for a remark."""


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
    table, where = rules.parse("rules.toml", rules.shipped_text(__package__))
    if path is not None:
        changes, where = rules.read(path)
        for name in changes:
            if name not in table:
                known = ", ".join(table)
                raise where.error((name,), f"unknown rule {name!r}: expected one of {known}")
        rules.merge(table, changes, where, source="own")
    return rules.Reader(Rule, where, lambda _: KINDS, family=BASELINE).rules(table)
