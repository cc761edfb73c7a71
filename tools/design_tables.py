"""Write the reference pages of data classes and of the rules of recommendations.

python tools/design_tables.py           # after a change of rules.toml or data_classes.toml
python tools/design_tables.py --check   # exit status 1 if a page differs
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from generated_tables import update

from headrace.design.data_classes import data_classes
from headrace.design.recommendation.answers import answers
from headrace.design.recommendation.facts import FACTS
from headrace.design.recommendation.rule_table import Aspect, RuleTable, shipped_rules

DOCS = Path(__file__).parents[1] / "docs/reference"
SCOPES = {"zone": "each zone", "system": "the system", "both": "each zone and the system"}


def class_rows() -> Iterator[str]:
    """Yield the table of data classes."""
    yield "| class | files | access | formats | processed as | benefits from | suffers from |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for name, it in data_classes().items():
        benefits = [*it.benefits, *(f"candidate for {what}" for what in it.candidate)]
        cells = [
            f"`{name}`<br>{it.source}",
            it.sizes,
            it.access,
            "; ".join(it.formats),
            "; ".join(it.processing),
            ", ".join(benefits),
            ", ".join(it.suffers) or "nothing named",
        ]
        yield f"| {' | '.join(cells)} |"


def aspect_rows(table: RuleTable) -> Iterator[str]:
    """Yield the table of aspects."""
    yield "| aspect | meaning | chosen for | values |"
    yield "| --- | --- | --- | --- |"
    for it in table.aspects:
        several = "; several apply together" if it.several else ""
        needs = "".join(f"; only if {name} is {value}" for name, value in it.needs.items())
        values = ", ".join(f"`{value}`" for value in it.values)
        yield f"| `{it.name}` | {it.title} | {SCOPES[it.scope]}{several}{needs} | {values} |"


def rule_rows(table: RuleTable, aspect: Aspect) -> Iterator[str]:
    """Yield the table of an aspect's rules."""
    yield f"### {aspect.title[0].upper()}{aspect.title[1:]}"
    yield ""
    yield "| rule | choice | conditions | source |"
    yield "| --- | --- | --- | --- |"
    for it in table.of(aspect.name):
        signed = (("+", it.recommend), ("\N{MINUS SIGN}", it.reject))
        choices = [f"{sign}{it.weight:g} {', '.join(values)}" for sign, values in signed if values]
        conditions = "; ".join(it.conditions("`")) or "always"
        cells = (f"`{it.id}`", "; ".join(choices), conditions, short_source(it.source))
        yield f"| {' | '.join(cells)} |"
    yield ""


def short_source(source: str) -> str:
    """Return a source with the thesis that most rules come from as a letter."""
    short = re.sub(r"Hindman 2011, (sections? )?", "H ", source)
    return re.sub(r"(?<=\d) and (?=\d|[A-D]\b)", ", ", short)


def fact_rows() -> Iterator[str]:
    """Yield the table of facts."""
    yield "| fact | unit | meaning | answers that give it |"
    yield "| --- | --- | --- | --- |"
    for it in FACTS.values():
        fields = ", ".join(f"`{field}`" for field in it.answers)
        yield f"| `{it.name}` | {it.unit} | {it.description} | {fields} |"


def answer_rows() -> Iterator[str]:
    """Yield the table of answers and their costs."""
    yield "| answer | without it |"
    yield "| --- | --- |"
    for it in answers():
        unless = f", unless `{it.unless}` is answered" if it.unless else ""
        yield f"| `{it.field}` | {it.cost}{unless} |"


def main() -> int:
    """Write the pages, or compare them."""
    table = shipped_rules()
    pages = {
        DOCS / "data-classes.md": {"classes": class_rows()},
        DOCS / "design-rules.md": {
            "aspects": aspect_rows(table),
            "rules": (row for it in table.aspects for row in rule_rows(table, it)),
            "facts": fact_rows(),
            "answers": answer_rows(),
        },
    }
    return update(pages, "tools/design_tables.py")


if __name__ == "__main__":
    sys.exit(main())
