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
    aspects = {aspect.name: aspect for aspect in rules.aspects}
    blocks: list[Block] = [Note("", plain_line(name))]
    blocks += [Note(f"Contradiction: {it.message} ({it.field}).", style="error") for it in clashes]
    blocks.append(summary(choices, aspects))
    for title, own in by_zone(choices).items():
        blocks += [
            recommended(title, own, aspects),
            *rejected(f"{title}: rejected", own, aspects),
            *_doubts(f"{title}: unsure", (line for choice in own for line in choice.unsure)),
        ]
    return [*blocks, *_doubts("Unknown answers", unknown)]


def by_zone(choices: Sequence[Choice]) -> dict[str, list[Choice]]:
    """Return the choices by the titles of their zones."""
    zones: dict[str, list[Choice]] = {}
    for pick in choices:
        zones.setdefault(f"Zone {pick.zone}" if pick.zone else "Whole system", []).append(pick)
    return zones


def summary(choices: Sequence[Choice], aspects: Aspects) -> Table:
    """Return the best value of each aspect, with a column for each zone."""
    zones = list(dict.fromkeys(option.zone for option in choices))
    by_aspect = {(option.aspect, option.zone): option for option in choices}
    rows = []
    for name, aspect in aspects.items():
        cells = []
        for zone in zones:
            choice = by_aspect.get((name, zone))
            values = choice.values if choice is not None else ()
            cells.append(", ".join(values if aspect.several else values[:1]))
        if any(cells):
            rows.append([aspect.title, *cells])
    columns = ["aspect", *(f"zone {key}" if key else "system" for key in zones)]
    return Table.of_rows("Recommended", columns, rows, len(columns))


def recommended(title: str, choices: Iterable[Choice], aspects: Aspects) -> Table:
    """Return aspect, recommended values and reasons of each choice."""
    rows = []
    for choice in choices:
        aspect = aspects[choice.aspect]
        between = ", " if aspect.several else ", or "
        why = _reasons(choice.reasons, with_values=len(choice.values) > 1)
        rows.append((aspect.title, between.join(choice.values) or "nothing", why))
    return Table.of_rows(title, ("aspect", "recommended", "why"), rows, 3)


def _reasons(reasons: Iterable[Reason], with_values: bool, mark_against: bool = True) -> str:
    """Return a line for each rule: its values, whether it is against them, text and source."""
    rules: dict[tuple[str, str, bool], list[Reason]] = {}
    for reason in reasons:
        rules.setdefault((reason.rule, reason.text, reason.weight < 0), []).append(reason)
    lines = []
    for (_, text, is_against), votes in rules.items():
        words = ["against"] if is_against and mark_against else []
        words += [", ".join(vote.value for vote in votes)] if with_values else []
        prefix = f"{' '.join(words)}: " if words else ""
        lines.append(f"{prefix}{text} [{votes[0].source}]")
    return "\n".join(lines)


def rejected(title: str, choices: Iterable[Choice], aspects: Aspects) -> list[Table]:
    """Return a row for each value, or for several that the same rules reject; no table if nothing
    is rejected."""
    rows = list(_rejected_rows(choices, aspects))
    return [Table.of_rows(title, ("aspect", "rejected", "why"), rows, 3)] if rows else []


def _rejected_rows(choices: Iterable[Choice], aspects: Aspects) -> Iterator[tuple[str, str, str]]:
    for choice in choices:
        values: dict[str, list[str]] = {}
        for value in dict.fromkeys(value for value, _ in choice.rejected):
            own = [reason for other, reason in choice.rejected if other == value]
            why = _reasons(own, with_values=False, mark_against=False)
            values.setdefault(why, []).append(value)
        for why, names in values.items():
            yield aspects[choice.aspect].title, ", ".join(names), why


def _doubts(title: str, lines: Iterable[str]) -> list[Note]:
    texts = [f"- {plain_line(line)}" for line in dict.fromkeys(lines)]
    return [Note("", f"\n{title}"), Note("\n".join(texts))] if texts else []
