"""Write the tables of rules and figures into docs/explanation/verdicts.md.

python tools/verdict_tables.py           # after a change of rules.toml or figures.py
python tools/verdict_tables.py --check   # exit status 1 if the page differs
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from generated_tables import update

from headrace.profile.figures import FIGURES
from headrace.profile.rules import Condition, Rule, shipped_rules

PAGE = Path(__file__).parents[1] / "docs/explanation/verdicts.md"
SIGNS = {"above": ">", "at_least": "≥", "below": "<", "at_most": "≤"}


def condition_text(it: Condition) -> str:
    """Return a condition in words and signs."""
    number = f"{it.number:g}"
    if it.of is not None:
        number = f"`{it.of}`" if it.number == 1 else f"{number} of `{it.of}`"
    unknown = ", or unknown" if it.if_unknown else ""
    return f"`{it.figure}` {SIGNS[it.comparison]} {number}{unknown}"


def rule_rows(rules: list[Rule]) -> Iterator[str]:
    """Yield the table of some rules."""
    yield "| rule | verdict | conditions | meaning | source |"
    yield "| --- | --- | --- | --- | --- |"
    for it in rules:
        verdict = f"`{it.verdict}`" if it.verdict else "remark"
        conditions = "; ".join(map(condition_text, it.when.values()))
        yield f"| `{it.id}` | {verdict} | {conditions} | {it.text} | {it.source} |"


def figure_rows() -> Iterator[str]:
    """Yield the table of figures."""
    yield "| figure | unit | meaning |"
    yield "| --- | --- | --- |"
    for it in FIGURES.values():
        yield f"| `{it.name}` | {it.unit or 'none'} | {it.description} |"


def main() -> int:
    """Write the page, or compare it."""
    rules = shipped_rules()
    tables = {
        "rules": rule_rows([it for it in rules if it.verdict]),
        "remarks": rule_rows([it for it in rules if not it.verdict]),
        "figures": figure_rows(),
    }
    return update({PAGE: tables}, "tools/verdict_tables.py")


if __name__ == "__main__":
    sys.exit(main())
