"""Reasons of choices and of rejections as rows of tables, each reason once."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from headrace.design.evaluation import Choice, Reason
from headrace.report.design_report.words import WHOLE, aspect
from headrace.report.document.content import Text, foreign


class Ground(NamedTuple):
    """A reason for or against a value of a choice."""

    choice: Choice
    value: str
    """The value that is rejected; empty for a reason of the choice."""
    reason: Reason


def rows(grounds: Iterable[Ground], *, with_value: bool) -> list[list[Text]]:
    """Return a row for each reason: aspect, value, zones, and the reason with its source.

    A reason of several zones, or of rules with one text, has one row. A reason of the whole system
    that repeats one of a zone names the zone at its start; it is merged with that one.

    Args:
        grounds: The reasons in their order.
        with_value: Whether rows have a cell for the value.
    """
    all_grounds = list(grounds)
    names = {it.choice.zone for it in all_grounds if it.choice.zone}
    zones: dict[tuple[str, str, str, str], dict[str, None]] = {}
    for it in all_grounds:
        zone, text = it.choice.zone, it.reason.text
        if not zone:
            zone, text = _zone_of(text, names)
        key = (it.choice.aspect, it.value, text, it.reason.source)
        zones.setdefault(key, {})[zone or WHOLE] = None
    order = {it.choice.aspect: at for at, it in reversed(list(enumerate(all_grounds)))}
    found: list[list[Text]] = []
    last: list[Text] = []
    # Rows of one aspect, then of one value, stand together.
    values = {it[:2]: at for at, it in reversed(list(enumerate(zones)))}
    for key in sorted(zones, key=lambda it: (order[it[0]], values[it[:2]])):
        name, value, text, source = key
        head: list[Text] = [aspect(name), *([foreign(value, 120)] if with_value else [])]
        # What the row above says already is left out.
        shown = _without_repetition(head, last)
        last = head
        where = foreign(", ".join(sorted(zones[key], key=lambda it: (it == WHOLE, it))), 120)
        found.append([*shown, where, f"{foreign(text)} ({foreign(source, 160)})"])
    return found


def _without_repetition(head: Sequence[Text], last: Sequence[Text]) -> list[Text]:
    if not last or head[0] != last[0]:
        return list(head)
    return [
        "",
        *("" if it == before else it for it, before in zip(head[1:], last[1:], strict=True)),
    ]


def _zone_of(text: str, names: Iterable[str]) -> tuple[str, str]:
    """Return the zone that a reason of the whole system names, and its text without it."""
    for name in names:
        start = f"zone {name}: "
        if text.startswith(start):
            return name, text.removeprefix(start)
    return "", text
