"""Write the tables of rules and figures into docs/reference/monitor-rules.md.

python tools/monitor_rule_tables.py           # after a change of monitors/rules.toml or figures.py
python tools/monitor_rule_tables.py --check   # exit status 1 if the page differs
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from generated_tables import update

from headrace.monitors.figures import FIGURES
from headrace.monitors.rules import Condition, load_rules

PAGE = Path(__file__).parents[1] / "docs/reference/monitor-rules.md"
SIGNS = {"above": ">", "at_least": "≥", "below": "<", "at_most": "≤"}


def condition_text(it: Condition) -> str:
    """Return a condition in words and signs."""
    number = f"{it.number:g}" if it.of is None else f"{it.number:g} of `{it.of}`"
    unknown = ", or unknown" if it.if_unknown else ""
    return f"`{it.figure}` {SIGNS[it.comparison]} {number}{unknown}"


def rule_rows() -> Iterator[str]:
    """Yield the table of rules."""
    yield "| rule | monitor | state | conditions | samples | meaning | source |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for it in load_rules():
        conditions = "; ".join(map(condition_text, it.when.values()))
        yield (
            f"| `{it.id}` | {it.monitor} | {it.state} | {conditions} | {it.samples} | {it.text}"
            f" | {it.source} |"
        )


def figure_rows() -> Iterator[str]:
    """Yield the table of figures."""
    yield "| figure | unit | meaning |"
    yield "| --- | --- | --- |"
    for name, it in FIGURES.items():
        yield f"| `{name}` | {it.unit} | {it.text} |"


def main() -> int:
    """Write the page, or compare it."""
    tables = {"rules": rule_rows(), "figures": figure_rows()}
    return update({PAGE: tables}, "tools/monitor_rule_tables.py")


if __name__ == "__main__":
    sys.exit(main())
