"""Findings about a trace or a Darshan log: what its requests cost, and what to change.

The rules are a table in `trace_findings.toml`, which a user may replace. They describe the requests
themselves; the verdict of a profile says what limits the program.
"""

import math
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from headrace.document_io import read_toml
from headrace.fields import convert
from headrace.profile.access_totals import accesses
from headrace.profile.trace_figures import figures
from headrace.progress_events import OnCount

Level: TypeAlias = Literal["warning", "note", "good"]
LEVELS: tuple[Level, ...] = ("warning", "note", "good")
"""Levels, the most urgent first."""


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
    comparison: Literal["above", "below"]
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


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rule of the table. Exactly one of `above` and `below` is given."""

    id: str
    level: Level
    title: str
    figure: str
    above: float | None = None
    below: float | None = None
    requires: dict[str, float] = {}
    """Figures that must be above a value."""
    source: str
    recommendation: str

    def __post_init__(self) -> None:
        if (self.above is None) == (self.below is None):
            raise ValueError(f"rule {self.id!r}: expected either above or below")
        numbers = [self.above, self.below, *self.requires.values()]
        if any(number is not None and not math.isfinite(number) for number in numbers):
            raise ValueError(f"rule {self.id!r}: expected finite numbers")


class Parameters(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Parameters of the figures."""

    small_request: int
    """Requests of fewer bytes are small."""


class Rules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table of rules."""

    parameters: Parameters
    rule: list[Rule]


def load_rules(path: str | Path | None = None) -> Rules:
    """Read a table of rules; without a path, the one of Headrace.

    Raises OSError if the file cannot be read, ValueError if it is no table of rules.
    """
    if path is None:
        text = files("headrace.profile").joinpath("trace_findings.toml").read_text("utf-8")
        document = tomllib.loads(text)
    else:
        document = read_toml(Path(path), "a table of rules in TOML")
    try:
        return convert(document, Rules)
    except ValueError as error:
        problem = str(error).splitlines()[0]
        raise ValueError(f"{path}: not a table of rules: {problem}") from None


def findings(
    path: str | Path,
    *,
    format: str | None = None,
    rules: Rules | None = None,
    on_progress: OnCount | None = None,
) -> list[Finding]:
    """Apply the rules to a trace or Darshan log; the most urgent findings first.

    `on_progress` is called with the records read so far. Memory grows with the pairs of process
    and file of a trace, and with a Darshan log. Raises as
    `headrace.trace.open_trace`.
    """
    rules = rules or load_rules()
    found = figures(accesses(path, format, rules.parameters.small_request, on_progress))
    made: list[Finding] = []
    for rule in rules.rule:
        figure = found.get(rule.figure)
        if figure is None:
            continue
        if rule.above is not None:
            threshold, comparison = rule.above, "above"
            applies = figure.value > rule.above
        else:
            assert rule.below is not None
            threshold, comparison = rule.below, "below"
            applies = figure.value < rule.below
        required = {name: found.get(name) for name in rule.requires}
        if not applies or not all(
            it is not None and it.value > rule.requires[name] for name, it in required.items()
        ):
            continue
        evidence = [f"{name} = {it.value:g}" for name, it in required.items() if it is not None]
        made.append(
            Finding(
                rule=rule.id,
                level=rule.level,
                title=rule.title,
                figure=rule.figure,
                value=figure.value,
                unit=figure.unit,
                threshold=threshold,
                comparison="above" if comparison == "above" else "below",
                evidence=[*evidence, *figure.files],
                recommendation=rule.recommendation,
                source=rule.source,
            )
        )
    return sorted(made, key=lambda it: LEVELS.index(it.level))
