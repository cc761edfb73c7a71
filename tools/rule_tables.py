"""Write the tables of rules and figures into the pages on verdicts and on monitors.

python tools/rule_tables.py           # after a change of rules.toml or figures.py
python tools/rule_tables.py --check   # exit status 1 if a page differs
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from generated_tables import table, update

from headrace.monitors import figures as monitors
from headrace.monitors.rules import load_rules as monitor_rules
from headrace.profile import figures as phases
from headrace.profile.rules import load_rules as verdict_rules
from headrace.rules import Rule

DOCS = Path(__file__).parents[1] / "docs"
VERDICTS = ("rule", "verdict", "conditions", "meaning", "source")
STATES = ("rule", "monitor", "state", "conditions", "samples", "meaning", "source")
FIGURES = ("figure", "unit", "meaning")


def conditions(rule: Rule) -> str:
    """Return the conditions of a rule as a cell."""
    return "; ".join(rule.conditions("`"))


def verdicts(*, are_remarks: bool) -> Iterator[str]:
    """Yield the table of rules with a verdict, or of those without."""
    rules = [rule for rule in verdict_rules() if are_remarks == (rule.verdict is None)]
    verdict = {rule.id: f"`{rule.verdict}`" if rule.verdict else "remark" for rule in rules}
    rows = [
        (f"`{rule.id}`", verdict[rule.id], conditions(rule), rule.text, rule.source)
        for rule in rules
    ]
    return table(VERDICTS, rows)


def states() -> Iterator[str]:
    """Yield the table of rules of monitors."""
    rows = [
        (
            f"`{rule.id}`",
            rule.monitor,
            rule.state,
            conditions(rule),
            str(rule.samples),
            rule.text,
            rule.source,
        )
        for rule in monitor_rules()
    ]
    return table(STATES, rows)


def main() -> int:
    """Write the pages, or compare them."""
    of_phases = [
        (f"`{name}`", figure.unit or "none", figure.description)
        for name, figure in phases.FIGURES.items()
    ]
    of_monitors = [
        (f"`{name}`", figure.unit, figure.text) for name, figure in monitors.FIGURES.items()
    ]
    pages = {
        DOCS / "explanation/verdicts.md": {
            "rules": verdicts(are_remarks=False),
            "remarks": verdicts(are_remarks=True),
            "figures": table(FIGURES, of_phases),
        },
        DOCS / "reference/monitor-rules.md": {
            "rules": states(),
            "figures": table(FIGURES, of_monitors),
        },
    }
    return update(pages, "tools/rule_tables.py")


if __name__ == "__main__":
    sys.exit(main())
