"""Unknown answers of a worksheet, and what each costs in certainty."""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

import msgspec

from headrace.design.worksheet import Worksheet


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer that matters."""

    field: str
    """Field of the worksheet: `budget.initial`; `zones[].share` is one of each zone."""
    cost: str
    """What is uncertain without it."""
    unless: str = ""
    """Field whose answer makes this one superfluous: of the same list entry, or of the sheet."""


class _Answers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    answer: tuple[Answer, ...]


@cache
def answers() -> tuple[Answer, ...]:
    """Return the answers that matter, in the order of the worksheet."""
    text = files("headrace.design.recommendation").joinpath("answers.toml").read_text("utf-8")
    return msgspec.toml.decode(text, type=_Answers).answer


def unknown_answers(worksheet: Worksheet) -> tuple[str, ...]:
    """Return each missing answer that matters, with what it costs in certainty.

    Example: "budget.initial is unknown: no design is discarded for its price".
    """
    found = []
    for it in answers():
        names = list(_missing(worksheet, it))
        if names:
            verb = "is" if len(names) == 1 else "are"
            found.append(f"{', '.join(names)} {verb} unknown: {it.cost}")
    return tuple(found)


def _missing(worksheet: Worksheet, answer: Answer) -> Iterator[str]:
    """Yield the names of an answer's fields that are empty."""
    known = set(_answered(worksheet, answer.unless)) if answer.unless else set[str]()
    section, _, _ = answer.field.partition("[]")
    for entry, value in _values(worksheet, answer.field):
        if _is_empty(value) and "" not in known and entry not in known:
            field = answer.field.partition("[].")[2]
            yield f"{section}.{entry}.{field}" if entry else answer.field


def _answered(worksheet: Worksheet, field: str) -> Iterator[str]:
    """Yield the entries of a list, or "" for the sheet, that answer a field.

    Kinds of data answer for the zone that they are in, if all of the zone answer.
    """
    found = list(_values(worksheet, field))
    if field.startswith("data[]."):
        zones = {it.name: it.zone for it in worksheet.data}
        empty = {zones[entry] for entry, value in found if _is_empty(value)}
        yield from (zones[entry] for entry, _ in found if zones[entry] not in empty)
        return
    yield from (entry for entry, value in found if not _is_empty(value))


def _values(worksheet: Worksheet, field: str) -> Iterator[tuple[str, object]]:
    """Yield the values of a field with the names of their list entries."""
    section, is_list, rest = field.partition("[].")
    if is_list:
        for entry in getattr(worksheet, section):
            yield entry.name, getattr(entry, rest)
        return
    value: object = worksheet
    for part in field.split("."):
        value = getattr(value, part)
    yield "", value


def _is_empty(value: object) -> bool:
    return value is None or value == "" or value == ()
