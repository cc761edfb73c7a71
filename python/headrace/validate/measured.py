"""Saved measurements, of which every field that a validation reads is looked at first."""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from headrace._core import ScenarioError
from headrace.saved import read_saved
from headrace.store.record import CALLS, NO_CALLS

LEAST, MOST = 1e-18, 1e18
"""Of anything, if it is not 0: products and quotients of such numbers can be written down."""

Check: TypeAlias = Callable[[str, Any], None]
"""Given where a value is, and the value. Raises _Wrong if it is none such."""


class _Wrong(Exception):
    """A field is not what it has to be."""

    def __init__(self, where: str, value: Any, expected: str) -> None:
        told = repr(value) if len(repr(value)) <= LONGEST else f"{repr(value)[:LONGEST]} ..."
        super().__init__(f"{where} = {told}: expected {expected}")


LONGEST = 40
"""Characters that an error has of a value."""


def measured(path: Path) -> dict[str, Any]:
    """The document of a measurement.

    Raises ScenarioError, which names file and field, if it is none, or a damaged one.
    """
    document = read_saved(path)
    if document is None or document.get("kind") != "measured" or "latency" not in document:
        raise ScenarioError(f"{path}: expected a result that headrace bench run -o saved")
    try:
        for field, check in FIELDS.items():
            if field in document:
                check(field, document[field])
        _scenario("scenario", document["scenario"])
        if "operations" not in document:
            raise _Wrong("operations", None, "what headrace bench run -o saved")
    except _Wrong as error:
        raise ScenarioError(f"{path}: {error}") from None
    return document


def _number(where: str, value: Any) -> None:
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not known or not (value == 0 or LEAST <= abs(value) <= MOST):
        raise _Wrong(where, value, f"a number, between {LEAST:g} and {MOST:g} if it is not 0")


def _amount(where: str, value: Any) -> None:
    _number(where, value)
    if value < 0:
        raise _Wrong(where, value, "0 or more")


def _count(where: str, value: Any) -> None:
    if not (isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST):
        raise _Wrong(where, value, "a whole number, 1 or more")


def _sample(where: str, value: Any) -> None:
    if value is not None:
        _number(where, value)


def _text(where: str, value: Any) -> None:
    if not isinstance(value, str):
        raise _Wrong(where, value, "text")


def _list(of: Check) -> Check:
    def check(where: str, value: Any) -> None:
        if not isinstance(value, list):
            raise _Wrong(where, value, "a list")
        for number, each in enumerate(value):
            of(f"{where}.{number}", each)

    return check


def _any(where: str, value: Any) -> None:
    """Nothing of it is read."""


def _each(of: Check) -> Check:
    """An object of which all values are alike."""

    def check(where: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise _Wrong(where, value, "an object")
        for name, each in value.items():
            of(f"{where}.{name}", each)

    return check


def _object(fields: Mapping[str, Check]) -> Check:
    """An object that has these fields; others are not read."""

    def check(where: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise _Wrong(where, value, "an object")
        for name, of in fields.items():
            if name not in value:
                raise _Wrong(where, value, f"an object with {name}")
            of(f"{where}.{name}", value[name])

    return check


def _scenario(where: str, value: Mapping[str, Any]) -> None:
    """`read_saved` has seen that there is a text."""
    where = f"{where}.toml"
    try:
        document = tomllib.loads(value["toml"])
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _Wrong(where, value["toml"], f"a scenario, and {error}") from None
    if "workload" not in document:
        raise _Wrong(where, value["toml"], "a scenario with a [[workload]]")
    _object({"count": _count, "processes": _count})(f"{where}: clients", document.get("clients"))
    _list(_text)("scenario.sets", value.get("sets", []))


def _real_calls(where: str, value: Any) -> None:
    if value == NO_CALLS:
        raise _Wrong(where, value, "a measurement of the storage, which makes calls")
    if value not in CALLS:
        raise _Wrong(where, value, f"one of {', '.join(CALLS)}")


FIELDS: dict[str, Check] = {
    "processes": _count,
    "calls": _real_calls,
    "hosts": _list(_any),
    "latency": _each(_object({"mean": _amount})),
    "operations": _each(_object({"count": _amount})),
    "counter_series": _each(_list(_sample)),
    "kernel": _object({"seconds": _each(_number), "requests": _amount}),
}
"""What a validation reads of a measurement, by its field."""
