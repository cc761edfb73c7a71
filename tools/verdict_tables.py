"""Write the tables of rules and figures into docs/explanation/verdicts.md.

python tools/verdict_tables.py           # after a change of rules.toml or figures.py
python tools/verdict_tables.py --check   # exit status 1 if the page differs
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

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


def with_tables(text: str) -> str:
    """Return the page with current tables between its markers."""
    rules = shipped_rules()
    tables = {
        "rules": rule_rows([it for it in rules if it.verdict]),
        "remarks": rule_rows([it for it in rules if not it.verdict]),
        "figures": figure_rows(),
    }
    for name, rows in tables.items():
        start, end = f"<!-- {name}: tools/verdict_tables.py -->", f"<!-- end of {name} -->"
        body = "\n".join([start, "", *rows, "", end])
        pattern = re.escape(start) + ".*?" + re.escape(end)
        text, count = re.subn(pattern, lambda _, body=body: body, text, flags=re.DOTALL)
        if count != 1:
            raise ValueError(f"{PAGE}: expected one {start} with {end}")
    return text


def main() -> int:
    """Write the page, or compare it."""
    text = PAGE.read_text(encoding="utf-8")
    new = with_tables(text)
    if sys.argv[1:] == ["--check"]:
        if text != new:
            print(f"{PAGE}: the tables are out of date: run python tools/verdict_tables.py")
        return int(text != new)
    PAGE.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
