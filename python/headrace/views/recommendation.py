"""Recommendations for a worksheet: choices with their reasons, and what was rejected."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from headrace.design.evaluation import Choice, Reason, Violation
from headrace.design.recommendation.rule_table import Aspect, RuleTable
from headrace.plain_text import plain_line
from headrace.render.blocks import Block, Note, Table, View

Aspects = Mapping[str, Aspect]


def view(
    name: str,
    choices: Sequence[Choice],
    unknown: Sequence[str],
    clashes: Sequence[Violation],
    rules: RuleTable,
) -> View:
    """Return the choices of each zone and of the system, with reasons, rejections and doubts.

    Parameters:
        name: Name of the worksheet.
        choices: The choices, those of the whole system with an empty zone.
        unknown: Unknown answers with what they cost in certainty.
        clashes: Requirements that contradict each other.
        rules: The rules that made the choices; they have the titles.
    """
    aspects = {it.name: it for it in rules.aspects}
    blocks: list[Block] = [Note("", plain_line(name))]
    blocks += [Note(f"Contradiction: {it.message} ({it.field}).", style="error") for it in clashes]
    blocks.append(summary(choices, aspects))
    for title, own in by_zone(choices).items():
        blocks += [
            recommended(title, own, aspects),
            *rejected(f"{title}: rejected", own, aspects),
            *_doubts(f"{title}: unsure", (line for it in own for line in it.unsure)),
        ]
    return [*blocks, *_doubts("Unknown answers", unknown)]


def by_zone(choices: Sequence[Choice]) -> dict[str, list[Choice]]:
    """Return the choices by the titles of their zones."""
    zones: dict[str, list[Choice]] = {}
    for it in choices:
        zones.setdefault(f"Zone {it.zone}" if it.zone else "Whole system", []).append(it)
    return zones


def summary(choices: Sequence[Choice], aspects: Aspects) -> Table:
    """Return the best value of each aspect, with a column for each zone."""
    zones = list(dict.fromkeys(it.zone for it in choices))
    by_aspect = {(it.aspect, it.zone): it for it in choices}
    rows = []
    for name, aspect in aspects.items():
        cells = []
        for zone in zones:
            choice = by_aspect.get((name, zone))
            values = choice.values if choice is not None else ()
            cells.append(", ".join(values if aspect.several else values[:1]))
        if any(cells):
            rows.append([aspect.title, *cells])
    columns = ["aspect", *(f"zone {it}" if it else "system" for it in zones)]
    return Table.of_rows("Recommended", columns, rows, len(columns))


def recommended(title: str, choices: Iterable[Choice], aspects: Aspects) -> Table:
    """Return aspect, recommended values and reasons of each choice."""
    rows = []
    for it in choices:
        aspect = aspects[it.aspect]
        between = ", " if aspect.several else ", or "
        why = _reasons(it.reasons, with_values=len(it.values) > 1)
        rows.append((aspect.title, between.join(it.values) or "nothing", why))
    return Table.of_rows(title, ("aspect", "recommended", "why"), rows, 3)


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


def rejected(title: str, choices: Iterable[Choice], aspects: Aspects) -> list[Table]:
    """Return a row for each value, or for several that the same rules reject; no table if nothing
    is rejected."""
    rows = list(_rejected_rows(choices, aspects))
    return [Table.of_rows(title, ("aspect", "rejected", "why"), rows, 3)] if rows else []


def _rejected_rows(choices: Iterable[Choice], aspects: Aspects) -> Iterator[tuple[str, str, str]]:
    for it in choices:
        values: dict[str, list[str]] = {}
        for value in dict.fromkeys(value for value, _ in it.rejected):
            own = [reason for other, reason in it.rejected if other == value]
            why = _reasons(own, with_values=False, mark_against=False)
            values.setdefault(why, []).append(value)
        for why, names in values.items():
            yield aspects[it.aspect].title, ", ".join(names), why


def _doubts(title: str, lines: Iterable[str]) -> list[Note]:
    texts = [f"- {plain_line(it)}" for it in dict.fromkeys(lines)]
    return [Note("", f"\n{title}"), Note("\n".join(texts))] if texts else []
