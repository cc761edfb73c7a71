"""Reasons of choices and of rejections as rows of tables, each reason once."""

from collections.abc import Iterable
from typing import NamedTuple

from headrace.design.evaluation import Choice, Reason
from headrace.report.design_report.words import WHOLE, aspect
from headrace.report.document.content import Text, foreign


class Ground(NamedTuple):
    """A reason for or against a value of a choice."""

    choice: Choice
    value: str
    reason: Reason


class _Key(NamedTuple):
    """Equal for reasons that share a row."""

    aspect: str
    is_against: bool
    text: str
    source: str


COLUMNS = ("Aspect", "Value", "Zones", "Why")


def rows(grounds: Iterable[Ground], *, mark_against: bool) -> list[list[Text]]:
    """Return a row for each reason: aspect, values, zones, and the reason with its source.

    A reason of several zones or values, or of rules with one text, has one row. A reason of the
    whole system that repeats one of a zone names the zone at its start; it is merged with that
    one.

    Args:
        grounds: The reasons in their order.
        mark_against: Whether the values of reasons against them are marked.
    """
    all_grounds = list(grounds)
    names = {ground.choice.zone for ground in all_grounds if ground.choice.zone}
    zones: dict[_Key, dict[str, None]] = {}
    values: dict[_Key, dict[str, None]] = {}
    for one in all_grounds:
        zone, text = one.choice.zone, one.reason.text
        if not zone:
            zone, text = _zone_of(text, names)
        key = _Key(one.choice.aspect, one.reason.weight < 0, text, one.reason.source)
        zones.setdefault(key, {})[zone or WHOLE] = None
        values.setdefault(key, {})[one.value] = None
    order = {ground.choice.aspect: at for at, ground in reversed(list(enumerate(all_grounds)))}
    # Rows of one aspect, then of one value, stand together.
    first = {(key.aspect, *values[key]): at for at, key in reversed(list(enumerate(zones)))}
    texts_: list[list[Text]] = []
    last = ""
    for key in sorted(zones, key=lambda it: (order[it.aspect], first[(it.aspect, *values[it])])):
        name = "" if key.aspect == last else aspect(key.aspect)
        last = key.aspect
        value = ", ".join(values[key])
        value = f"not {value}" if mark_against and key.is_against else value
        where = ", ".join(sorted(zones[key], key=lambda place: (place == WHOLE, place)))
        why = f"{foreign(key.text)} ({foreign(key.source, 160)})"
        texts_.append([name, foreign(value, 120), foreign(where, 120), why])
    return texts_


def _zone_of(text: str, names: Iterable[str]) -> tuple[str, str]:
    """Return the zone that a reason of the whole system names, and its text without it."""
    for name in names:
        start = f"zone {name}: "
        if text.startswith(start):
            return name, text.removeprefix(start)
    return "", text
