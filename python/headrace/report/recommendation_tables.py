"""Recommendations for a worksheet, as tables for a terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.design.evaluation import Choice, Reason, Violation
from headrace.design.recommendation.rule_table import Aspect, RuleTable
from headrace.plain_text import plain, plain_line
from headrace.render.fitted_table import FittedTable

RECOMMENDED = ("aspect", "recommended", "why")
REJECTED = ("aspect", "rejected", "why")
"""Headings of the rows of choices and rejections."""


def recommendation(
    name: str,
    choices: Sequence[Choice],
    unknown: Sequence[str],
    clashes: Sequence[Violation],
    rules: RuleTable,
) -> RenderableType:
    """Return the choices of each zone and of the system, with reasons, rejections and doubts.

    Args:
        name: Name of the worksheet.
        choices: The choices, those of the whole system with an empty zone.
        unknown: Unknown answers with what they cost in certainty.
        clashes: Requirements that contradict each other.
        rules: The rules that made the choices; they have the titles.
    """
    aspects = {it.name: it for it in rules.aspects}
    parts: list[RenderableType] = [Text(plain_line(name), style="bold")]
    for it in clashes:
        parts.append(Text(f"Contradiction: {plain(it.message)} ({it.field}).", style="red"))
    parts.append(_summary(choices, aspects))
    for zone in dict.fromkeys(it.zone for it in choices):
        own = [it for it in choices if it.zone == zone]
        title = f"Zone {zone}" if zone else "Whole system"
        parts += [
            _recommended(title, own, aspects),
            *_rejected(f"{title}: rejected", own, aspects),
            *_doubts(f"{title}: unsure", (line for it in own for line in it.unsure)),
        ]
    parts += _doubts("Unknown answers", unknown)
    return Group(*parts)


def _summary(choices: Sequence[Choice], aspects: dict[str, Aspect]) -> FittedTable:
    """Return a table with the best value of each aspect, with a column for each zone."""
    columns, rows = summary_rows(choices, aspects)
    table = FittedTable("Recommended", len(columns), columns)
    for row in rows:
        table.add_row(*row)
    return table


def summary_rows(
    choices: Sequence[Choice], aspects: Mapping[str, Aspect]
) -> tuple[list[str], list[list[str]]]:
    """Return the headings and rows of the best value of each aspect, a column for each zone."""
    zones = list(dict.fromkeys(it.zone for it in choices))
    found = {(it.aspect, it.zone): it for it in choices}
    rows = []
    for name, aspect in aspects.items():
        cells = []
        for zone in zones:
            choice = found.get((name, zone))
            values = choice.values if choice is not None else ()
            cells.append(", ".join(values if aspect.several else values[:1]))
        if any(cells):
            rows.append([aspect.title, *cells])
    return ["aspect", *(f"zone {it}" if it else "system" for it in zones)], rows


def _recommended(title: str, choices: Iterable[Choice], aspects: dict[str, Aspect]) -> FittedTable:
    table = FittedTable(title, 3, RECOMMENDED)
    for row in recommended_rows(choices, aspects):
        table.add_row(*row)
    return table


def recommended_rows(
    choices: Iterable[Choice], aspects: Mapping[str, Aspect]
) -> Iterator[tuple[str, str, str]]:
    """Yield aspect, recommended values and reasons of each choice, as in `RECOMMENDED`."""
    for it in choices:
        aspect = aspects[it.aspect]
        between = ", " if aspect.several else ", or "
        why = _reasons(it.reasons, with_values=len(it.values) > 1)
        yield aspect.title, between.join(it.values) or "nothing", why


def _reasons(reasons: Iterable[Reason], with_values: bool, mark_against: bool = True) -> str:
    """Return a line for each rule: its values, whether it is against them, text and source."""
    rules: dict[tuple[str, str, bool], list[Reason]] = {}
    for it in reasons:
        rules.setdefault((it.rule, it.text, it.weight < 0), []).append(it)
    lines = []
    for (_, text, is_against), votes in rules.items():
        words = ["against"] if is_against and mark_against else []
        words += [", ".join(it.value for it in votes)] if with_values else []
        prefix = f"{' '.join(words)}: " if words else ""
        lines.append(f"{prefix}{text} [{votes[0].source}]")
    return "\n".join(lines)


def _rejected(
    title: str, choices: Iterable[Choice], aspects: dict[str, Aspect]
) -> list[RenderableType]:
    """Return a table with a row for each value, or for several that the same rules reject."""
    table = FittedTable(title, 3, REJECTED)
    for row in rejected_rows(choices, aspects):
        table.add_row(*row)
    return [table] if table.rows else []


def rejected_rows(
    choices: Iterable[Choice], aspects: Mapping[str, Aspect]
) -> Iterator[tuple[str, str, str]]:
    """Yield aspect, rejected values and reasons, as in `REJECTED`."""
    for it in choices:
        values: dict[str, list[str]] = {}
        for value in dict.fromkeys(value for value, _ in it.rejected):
            own = [reason for other, reason in it.rejected if other == value]
            why = _reasons(own, with_values=False, mark_against=False)
            values.setdefault(why, []).append(value)
        for why, names in values.items():
            yield aspects[it.aspect].title, ", ".join(names), why


def _doubts(title: str, lines: Iterable[str]) -> list[RenderableType]:
    texts = [f"- {plain_line(it)}" for it in dict.fromkeys(lines)]
    if not texts:
        return []
    return [Text(f"\n{title}", style="bold"), Text("\n".join(texts))]
