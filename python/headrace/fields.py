"""Checks for the fields of documents from other programs and versions.

A check takes the field's path and its value, and raises `WrongField` if the value is invalid.
"""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Check: TypeAlias = Callable[[str, Any], None]

LEAST, MOST = 1e-18, 1e18
"""Range of numbers other than 0, so that their products and quotients are finite."""

LONGEST = 40
"""Characters that an error has of a value."""


class WrongField(Exception):
    """The value of a field is invalid."""

    def __init__(self, where: str, value: Any, expected: str) -> None:
        text = repr(value) if len(repr(value)) <= LONGEST else f"{repr(value)[:LONGEST]} ..."
        super().__init__(f"{where} = {text}: expected {expected}")


def is_number(value: Any) -> bool:
    """Return whether a value is a number; JSON's true and false are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def text(where: str, value: Any) -> None:
    """Any text."""
    if not isinstance(value, str):
        raise WrongField(where, value, "text")


def anything(where: str, value: Any) -> None:
    """Accept any value; the field is not read."""


def or_null(of: Check) -> Check:
    """Accept null, or what `of` accepts."""

    def check(where: str, value: Any) -> None:
        if value is not None:
            of(where, value)

    return check


def each_in_list(of: Check) -> Check:
    """A list whose members are alike."""

    def check(where: str, value: Any) -> None:
        if not isinstance(value, list):
            raise WrongField(where, value, "a list")
        for number, each in enumerate(value):
            of(f"{where}.{number}", each)

    return check


def each_in_object(of: Check) -> Check:
    """An object of which all values are alike."""

    def check(where: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise WrongField(where, value, "an object")
        for name, each in value.items():
            of(f"{where}.{name}", each)

    return check


def an_object(fields: Mapping[str, Check], maybe: Mapping[str, Check] | None = None) -> Check:
    """Accept an object that has `fields`. Those in `maybe` are optional; others are ignored."""

    def check(where: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise WrongField(where, value, "an object")
        for name, of in fields.items():
            if name not in value:
                raise WrongField(where, value, f"an object with {name}")
            of(f"{where}.{name}", value[name])
        for name, of in (maybe or {}).items():
            if name in value:
                of(f"{where}.{name}", value[name])

    return check


def number(where: str, value: Any) -> None:
    """A number that can be reckoned with."""
    if not is_number(value) or not (value == 0 or LEAST <= abs(value) <= MOST):
        raise WrongField(where, value, f"a number, between {LEAST:g} and {MOST:g} if it is not 0")


def amount(where: str, value: Any) -> None:
    """Accept a number that is 0 or more."""
    number(where, value)
    if value < 0:
        raise WrongField(where, value, "0 or more")


def count(where: str, value: Any) -> None:
    """Accept a positive whole number."""
    if not (isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST):
        raise WrongField(where, value, "a whole number, 1 or more")


def flag(where: str, value: Any) -> None:
    """Yes or no."""
    if not isinstance(value, bool):
        raise WrongField(where, value, "true or false")
