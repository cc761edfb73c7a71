"""Findings about a trace or a Darshan log: what its requests cost, and what to change.

The rules are in `trace_findings.toml`. They describe the requests
themselves; the verdict of a profile says what limits the program.
"""

from itertools import repeat
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, cast

import msgspec

from headrace import rules
from headrace.profile.access_totals import accesses
from headrace.profile.trace_figures import Figures, figures
from headrace.progress_events import OnCount
from headrace.toml_positions import FieldPath

Level: TypeAlias = Literal["warning", "note", "good"]
LEVELS: tuple[Level, ...] = ("warning", "note", "good")
"""Levels, the most urgent first."""
Comparison: TypeAlias = Literal["above", "at_least", "below", "at_most"]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A property of a program's requests that a rule reports."""

    rule: str
    """Identifier of the rule."""
    level: Level
    title: str
    figure: str
    """Name of the figure, as in `trace_figures.py`."""
    value: float
    unit: str
    """SI unit; "" for a ratio or a number."""
    threshold: float
    comparison: Comparison
    evidence: list[str]
    """The figures that the rule requires, as NAME = VALUE, and the files with the most of it."""
    recommendation: str
    source: str
    """Source of the threshold."""


class TraceFindings(msgspec.Struct, frozen=True):
    """The document of `headrace trace findings`."""

    trace: str
    """Path of the trace."""
    findings: list[Finding]
    """The most urgent first."""


class Rule(rules.Rule, frozen=True, kw_only=True):
    """A rule. Its first condition has the figure and the threshold of the finding."""

    level: Annotated[Level, msgspec.Meta(description=f"one of {', '.join(LEVELS)}")]
    recommendation: rules.AnyText


class Parameters(msgspec.Struct, frozen=True, kw_only=True):
    """Parameters of the figures."""

    small_request: Annotated[int, msgspec.Meta(description="a whole number")]
    """Requests of fewer bytes are small."""


class RuleTable(msgspec.Struct, frozen=True, kw_only=True):
    """The table of rules."""

    parameters: Parameters
    rules: tuple[Rule, ...]


def load_rules(path: str | Path | None = None) -> RuleTable:
    """Return the rules of Headrace with a user's changes.

    Parameters:
        path: File in the form of `trace_findings.toml`. A list of `[[rule]]`, as in files of
            earlier versions, replaces all rules of Headrace.

    Raises:
        ValueError: A rule, key or value in it is wrong. The message has file, line and column.
        OSError: It cannot be read.
    """
    name = "trace_findings.toml"
    table, where = rules.parse(name, rules.shipped_text(__package__, name))
    changes: dict[str, Any] = {}
    if path is not None:
        changes, where = rules.read(Path(path))
        rules.check_keys(changes, ("parameters", "rule"), (), where)
    for group, entries in changes.items():
        if not isinstance(entries, dict | list if group == "rule" else dict):
            raise where.wrong((group,), "expected a table")
    parameters = table["parameters"] | changes.get("parameters", {})
    reader = rules.Reader(Rule, where, lambda _: None)
    own = changes.get("rule", {})
    if isinstance(own, list):
        places = [("rule", str(place)) for place in range(len(own))]
        checked = tuple(map(_former_rule, own, places, repeat(reader)))
    else:
        rules.merge(
            table["rule"], own, where, f"user's rule, {Path(path or name).name}", at=("rule",)
        )
        checked = reader.rules(table["rule"], at=("rule",))
    for rule in checked:
        if next(iter(rule.when.values())).comparison not in rules.ORDERS:
            message = f"expected one of {', '.join(rules.ORDERS)} in the first condition"
            raise where.wrong(("rule", rule.id, "when"), message)
    return RuleTable(
        parameters=rules.read_table(Parameters, parameters, ("parameters",), where), rules=checked
    )


def _former_rule(entry: Any, at: FieldPath, reader: rules.Reader[Rule]) -> Rule:
    """Return a rule in the form of earlier versions: a figure, and figures that it requires."""
    if not isinstance(entry, dict):
        raise reader.where.wrong(at, "expected a table")
    rest = dict(entry)
    name = rules.read_value(rest.pop("id", None), rules.Text, (*at, "id"), reader.where)
    required = rest.pop("requires", {})
    if not isinstance(required, dict):
        raise reader.where.wrong((*at, "requires"), "expected a table of figures")
    if "when" in rest:
        expected = f"unknown key: expected a table [rule.{name}.when] in place of [[rule]]"
        raise reader.where.wrong((*at, "when"), expected)
    if "title" in rest:
        rest["text"] = rest.pop("title") or name
    rest |= {"source": "user's rule"} if rest.get("source") == "" else {}
    keys = rest.keys() & {"figure", *rules.COMPARISONS}
    when = {"figure": {key: rest.pop(key) for key in keys}}
    when |= {figure: {"figure": figure, "above": required[figure]} for figure in required}
    return reader.rule(name, rest | {"when": when}, at)


def findings(
    path: str | Path,
    *,
    format: str | None = None,
    rules: RuleTable | None = None,
    on_progress: OnCount | None = None,
) -> list[Finding]:
    """Apply the rules to a trace or Darshan log; the most urgent findings first.

    `on_progress` is called with the records read so far. Memory grows with the pairs of process
    and file of a trace, and with a Darshan log. Raises as
    `headrace.trace.open_trace`.
    """
    table = rules or load_rules()
    known = figures(accesses(path, format, table.parameters.small_request, on_progress))

    def value_of(name: str) -> float | None:
        return known[name].value if name in known else None

    reports = [_finding(rule, known, value_of) for rule in table.rules if rule.holds(value_of)]
    return sorted(filter(None, reports), key=lambda finding: LEVELS.index(finding.level))


def _finding(rule: Rule, known: Figures, value_of: rules.ValueOf) -> Finding | None:
    """Return the finding of a rule that holds; None if its own figure or threshold is unknown."""
    first = next(iter(rule.when.values()))
    figure, threshold = known.get(first.figure), first.limit(value_of)
    if figure is None or threshold is None:
        return None
    evidence = rule.evidence(value_of)
    others = [f"{name} = {evidence[name]:g}" for name in evidence if name != first.figure]
    return Finding(
        rule=rule.id,
        level=rule.level,
        title=rule.text,
        figure=first.figure,
        value=figure.value,
        unit=figure.unit,
        threshold=threshold,
        comparison=cast(Comparison, first.comparison),
        evidence=[*others, *figure.files],
        recommendation=rule.recommendation,
        source=rule.source,
    )
