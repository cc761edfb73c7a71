"""The engine of rules: any conditions on any figures, and any file."""

import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.document_io import toml_value
from headrace.rules import COMPARISONS, ORDERS, Condition, Reader, Rule, Value, merge, parse

FIGURES: dict[str, type] = {"rate": float, "load": float, "busy": bool, "kind": str}
VALUES: dict[type, st.SearchStrategy[Value]] = {
    float: st.floats() | st.integers(-9, 9).map(float),
    bool: st.booleans(),
    str: st.text(),
}
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9)
SHIPPED = """
[slow]
text = "the disk is slow"
source = "declared"
[slow.when]
rate = { figure = "rate", below = 2, of = "load", if_unknown = true }
busy = { figure = "busy", is = true }
"""


class OptionalRule(Rule, frozen=True, kw_only=True):
    """A rule that may have no conditions."""

    when: dict[str, Condition] = {}  # noqa: RUF012


@st.composite
def tables(draw: st.DrawFn) -> dict[str, Any]:
    """A correct condition as a file has it."""
    figure = draw(st.sampled_from(sorted(FIGURES)))
    kind = FIGURES[figure]
    others = [name for name in COMPARISONS if name not in ORDERS]
    if kind is not str:
        others.remove("one_of")
    comparison = draw(st.sampled_from([*ORDERS, *others] if kind is float else others))
    operands = {
        "one_of": st.lists(st.text()),
        "is_known": st.booleans(),
        "is": {float: NUMBERS, bool: st.booleans(), str: st.text().map("x".__add__)}[kind],
    }
    table = {"figure": figure, comparison: draw(operands.get(comparison, NUMBERS))}
    if comparison in ORDERS and draw(st.booleans()):
        table["of"] = draw(st.sampled_from(["rate", "load", "base.x"]))
    if draw(st.booleans()):
        table["if_unknown"] = draw(st.booleans())
    return table


values = st.fixed_dictionaries(
    {name: st.none() | VALUES[FIGURES.get(name, float)] for name in (*FIGURES, "base.x")}
)


def read(text: str, kind: type[Rule] = Rule) -> dict[str, Rule]:
    table, where = parse("x.toml", text)
    rules = Reader(kind, where, lambda _: FIGURES, family="base.").rules(table)
    return {rule.id: rule for rule in rules}


def expected(table: Mapping[str, Any], known: Mapping[str, Value | None]) -> bool | None:
    """Whether a condition holds, the obvious way."""
    value: Any = known[table["figure"]]
    if "is_known" in table:
        return (value is not None) is table["is_known"]
    factor: Any = known[table["of"]] if "of" in table else 1
    if value is None or factor is None:
        return True if table.get("if_unknown") else None
    (operand,) = (table[name] for name in COMPARISONS if name in table)
    if "one_of" in table or "is" in table:
        return value in operand if "one_of" in table else value == operand
    difference = value - float(operand) * factor
    if math.isnan(difference):
        # Infinities of one sign are equal.
        return value == float(operand) * factor and ("at_least" in table or "at_most" in table)
    if "above" in table or "at_most" in table:
        return (value > float(operand) * factor) is ("above" in table)
    return (value < float(operand) * factor) is ("below" in table)


@given(st.dictionaries(st.sampled_from("abc"), tables()), values)
def test_any_rule_of_any_figures(
    when: dict[str, dict[str, Any]], known: dict[str, Value | None]
) -> None:
    entry = {"r": {"text": "t", "source": "s", "when": when}}
    (rule,) = Reader(OptionalRule, parse("x", "").where, lambda _: FIGURES, family="base.").rules(
        entry
    )
    answers = [expected(table, known) for table in when.values()]
    assert [each.holds(known.__getitem__) for each in rule.when.values()] == answers
    holds = False if False in answers else None if None in answers else True
    assert rule.holds(known.__getitem__) is holds
    undecided = rule.undecided(known.__getitem__)
    assert bool(undecided) is (None in answers)
    assert not {name for name in undecided if known[name] is not None}
    evidence = rule.evidence(known.__getitem__)
    assert all(value is not None for value in evidence.values())
    names = {table[key] for table in when.values() for key in ("figure", "of") if key in table}
    assert set(evidence) | set(undecided) <= names
    assert len(rule.conditions("`")) == len(when)


@given(st.dictionaries(st.sampled_from("abc"), tables(), min_size=1))
def test_any_rule_is_read_from_its_text(when: dict[str, dict[str, Any]]) -> None:
    text = f"[r]\ntext = 't'\nsource = 's'\nwhen = {toml_value(when)}\n"
    assert list(read(text)["r"].when) == list(when)


scalars = st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text()
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner)
)
near = st.dictionaries(
    st.sampled_from(["text", "source", "enabled", "when", "id", "x"]),
    anything
    | st.dictionaries(
        st.sampled_from("ab"),
        tables()
        | st.dictionaries(st.sampled_from(["figure", "fact", "of", *COMPARISONS]), anything),
    ),
)


@given(st.dictionaries(st.sampled_from(["slow", "new"]), near | anything))
def test_any_file_is_read_or_refused(changes: dict[str, Any]) -> None:
    table, where = parse("x.toml", SHIPPED)
    try:
        merge(table, changes, where, source="own")
        rules = Reader(Rule, where, lambda _: FIGURES).rules(table)
    except ValueError as error:
        assert str(error).startswith("x.toml") and ": expected" in str(error)
    else:
        for rule in rules:
            rule.holds(lambda _: None)
            rule.conditions()


@pytest.mark.parametrize(
    ("change", "conditions"),
    [
        ("", ["rate < 2 of load, or unknown", "busy = yes"]),
        ("when.rate.at_most = 3", ["rate ≤ 3 of load, or unknown", "busy = yes"]),
        ("when.rate = { at_most = 1, if_unknown = false }", ["rate ≤ load", "busy = yes"]),
        ("when.rate = { fact = 'load', above = 3 }", ["load > 3", "busy = yes"]),
        (
            "when.kind = { figure = 'kind', one_of = ['ssd', 'nvme'] }",
            ["rate < 2 of load, or unknown", "busy = yes", "kind in ssd, nvme"],
        ),
        ("when.busy = { is_known = false }", ["rate < 2 of load, or unknown", "busy is unknown"]),
        ("when.rate.of = 'base.x'", ["rate < 2 of base.x, or unknown", "busy = yes"]),
    ],
)
def test_a_change_of_single_keys(change: str, conditions: list[str]) -> None:
    table, _ = parse("x.toml", SHIPPED)
    changes, where = parse("own.toml", f"[slow]\n{change}")
    merge(table, changes, where, source="own")
    (rule,) = Reader(Rule, where, lambda _: FIGURES, family="base.").rules(table)
    assert (rule.id, rule.source) == ("slow", "declared")
    assert rule.conditions() == conditions


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("{ figure = 'rate', above = 1, of = 'busy' }", r"1:\d+: .*\.of: unknown figure 'busy'"),
        ("{ figure = 'rate', above = 1, of = 'base.' }", r".*one of rate, load, base\.NAME$"),
        ("{ figure = 'base.x', above = 1 }", r"unknown figure 'base\.x'"),
        ("{ figure = 'rate', is = 1, of = 'load' }", r"\.of: expected one of above, .* with it"),
        ("{ figure = 'busy', is = 'yes' }", r"\.is: expected true or false"),
        ("{ figure = 'rate', is_known = 1 }", r"\.is_known: expected true or false"),
        ("{ figure = 'kind', one_of = 'ssd' }", r"\.one_of: expected a list of texts"),
        ("{ figure = 'kind', below = 1 }", r"kind is no number: expected is or one_of"),
        ("{ figure = 'rate', one_of = ['a'] }", r"rate is no text: expected another comparison"),
    ],
)
def test_a_wrong_condition_has_a_message_with_its_place(condition: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        read(f"r = {{ text = 't', source = 's', when = {{ a = {condition} }} }}")
    assert str(error.value).startswith("x.toml:1:")
