"""Checks of documents from other programs, before they are imported: all that is catalogued,
displayed or compared.

Documents of earlier versions lack later fields, so a missing field is no error.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from headrace.environment import check as check_environment
from headrace.fields import (
    Check,
    WrongField,
    an_object,
    each_in_list,
    each_in_object,
    is_number,
    or_null,
    text,
)
from headrace.store.errors import StoreError
from headrace.store.record import CALLS, LARGEST

LEAST, MOST = 1e-30, 1e30
"""Range of figures other than 0, so that their squares, products and quotients are finite. Times in
ns and bytes of the largest systems are far from both ends."""
DEEPEST = 100
"""Levels of a document; Headrace's own have fewer than 20, and Python's JSON ends at some 1,000."""


def check_document(document: Mapping[str, Any]) -> None:
    """Look at a result's document. Raises StoreError, which names the field, if it is damaged."""
    try:
        check_values(document)
        MAIN("a result", dict(document))
        _different_names(document.get("steps", ()))
    except WrongField as error:
        raise StoreError(str(error).removeprefix("a result.")) from None


def check_values(document: Mapping[str, Any]) -> None:
    """Raise WrongField for values that JSON allows and databases do not."""
    # Iterative, because a document may be deeper than Python's stack. Paths become text only for an
    # error: a document has thousands of values.
    waiting: list[tuple[_Place, Any, int]] = [(None, document, 1)]
    while waiting:
        where, container, depth = waiting.pop()
        items: Iterable[tuple[Any, Any]] = (
            enumerate(container) if isinstance(container, list) else container.items()
        )
        for key, value in items:
            if isinstance(key, str) and (not key.isascii() or "\0" in key):
                _encodable(where or (None, key), key)
            if depth > DEEPEST:
                raise WrongField(_path((where, key)), "...", f"at most {DEEPEST} levels")
            if isinstance(value, str):
                if not value.isascii() or "\0" in value:
                    _encodable((where, key), value)
            elif isinstance(value, dict | list):
                waiting.append(((where, key), value, depth + 1))
            elif isinstance(value, float):
                # NaN compares as false.
                if not -MOST <= value <= MOST:
                    expected = (
                        f"a number of at most {MOST:g}" if math.isfinite(value) else "a number"
                    )
                    raise WrongField(_path((where, key)), value, expected)
            elif isinstance(value, int) and abs(value) > LARGEST:
                expected = f"a whole number of at most {LARGEST}"
                raise WrongField(_path((where, key)), float("inf"), expected)


_Place: TypeAlias = "tuple[_Place, object] | None"
"""Place of a value in a document: that of the value around it, and its key or number there."""


def _path(place: _Place) -> str:
    keys = []
    while place is not None:
        place, key = place
        keys.append(str(key))
    return ".".join(reversed(keys))


def _encodable(place: _Place, value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise WrongField(_path(place), value, "text in Unicode") from None
    # PostgreSQL's text knows no such character.
    if "\0" in value:
        raise WrongField(_path(place), value, "text without the character 0")


def _signed(where: str, value: Any) -> None:
    if not is_number(value):
        raise WrongField(where, value, "a number")
    if value != 0 and not LEAST <= abs(value) <= MOST:
        raise WrongField(where, value, f"a number, between {LEAST:g} and {MOST:g} if it is not 0")


def _amount(where: str, value: Any) -> None:
    _signed(where, value)
    if value < 0:
        raise WrongField(where, value, "a number, 0 or more")


def _seed(where: str, value: Any) -> None:
    if value is not None and not (type(value) is int and 0 <= value <= LARGEST):
        raise WrongField(where, value, f"a whole number from 0 to {LARGEST}")


def _calls(where: str, value: Any) -> None:
    if value not in CALLS:
        raise WrongField(where, value, f"one of {', '.join(CALLS)}")


def _left_out(where: str, value: Any) -> None:
    """Accept a list of what a model left out, or the reason of each operation that tuning did."""
    if isinstance(value, Mapping):
        each_in_object(text)(where, value)
    else:
        entry = an_object({"what": text, "count": _amount, "by": text, "reason": text})
        each_in_list(entry)(where, value)


def _list_or_count(inner: Check) -> Check:
    """Accept a list, or the number of its members."""

    def check(where: str, value: Any) -> None:
        if not is_number(value):
            each_in_list(inner)(where, value)

    return check


def _different_names(steps: Any) -> None:
    """A step is known by its name."""
    before: dict[str, int] = {}
    for number, step in enumerate(steps):
        name = step.get("name")
        if name is None:
            continue
        if name in before:
            other = f"another than that of steps.{before[name]}"
            raise WrongField(f"steps.{number}.name", name, other)
        before[name] = number


_TIMES = ("mean", "p50", "p95", "p99", "p999", "max")
_LATENCY = an_object({}, {"count": or_null(_amount)} | dict.fromkeys(_TIMES, or_null(_amount)))
_LATENCIES = each_in_object(or_null(_LATENCY))
_DONE: dict[str, Check] = {
    "group": or_null(text),
    "count": or_null(_amount),
    "bytes": or_null(_amount),
    "per_second": or_null(_amount),
}
_POINT = or_null(
    an_object(
        dict.fromkeys(("requested_per_second", "achieved_per_second"), _amount),
        {"response_mean_s": or_null(_amount)},
    )
)
_FIGURES: dict[str, Check] = {
    "throughput": each_in_object(or_null(_amount)),
    "operations": each_in_object(or_null(an_object({}, _DONE))),
    "operation_groups": each_in_object(
        an_object(
            {},
            _DONE
            | {
                "operations": each_in_list(text),
                "throughput": or_null(_amount),
                "latency": _LATENCY,
                "latency_from_intended": _LATENCY,
            },
        )
    ),
    "latency": _LATENCIES,
    "latency_from_intended": _LATENCIES,
    "unfinished": or_null(
        an_object(
            {},
            {
                "count": or_null(_amount),
                "in_flight": or_null(_amount),
                "mean": or_null(_amount),
                "max": or_null(_amount),
                "operations": each_in_object(or_null(_amount)),
            },
        )
    ),
    "counters": an_object({}, {key: or_null(_amount) for key in ("cpu_user", "cpu_system")}),
    "cache": an_object(
        {}, {key: or_null(_signed) for key in ("hit_rate", "asked_bytes", "read_ahead_bytes")}
    ),
    "warnings": each_in_list(an_object({"message": text})),
    "left_out": _left_out,
    "processes": _amount,
    "measured_seconds": _amount,
    "prepare_seconds": _amount,
    "seed": _seed,
    "knee": _POINT,
    "kept_up": _POINT,
    "cut_off": _POINT,
    "overall_response_s": or_null(_amount),
    "wanted_repeats": _amount,
}
"""Fields of a measurement, of each repetition, and of each step of a load sweep."""
_CURVES = each_in_list(
    an_object(
        {"client_hosts": _amount},
        dict.fromkeys(("knee", "kept_up", "cut_off"), _POINT)
        | {"overall_response_s": or_null(_amount), "achieved_at_most_per_second": or_null(_amount)},
    )
)
"""Curves of a client-host sweep, one for each number of hosts."""
_REPETITION = an_object({}, _FIGURES | {"curves": _CURVES})
_STEP = an_object(
    {},
    _FIGURES
    | {
        "name": text,
        "client_hosts": _amount,
        "requested_per_second": _amount,
        "offered_per_second": or_null(_amount),
        "achieved_per_second": or_null(_amount),
        "operations_per_second": or_null(_amount),
        "speedup": or_null(_amount),
        "efficiency": or_null(_amount),
        "response": or_null(_LATENCY),
        "service": or_null(_LATENCY),
        "repetitions": each_in_list(_REPETITION),
        "scenario_sha256": text,
    },
)
MAIN = an_object(
    {
        "scenario": an_object(
            {"name": text}, {key: or_null(text) for key in ("description", "toml")}
        ),
        "version": text,
    },
    _FIGURES
    | {
        "calls": _calls,
        "wall_seconds": or_null(_amount),
        "simulated_seconds": or_null(_amount),
        "environment": check_environment,
        "place": or_null(an_object({}, {key: or_null(text) for key in ("host", "file_system")})),
        "steps": each_in_list(_STEP),
        "curves": _CURVES,
        "stop": an_object({"reason": text}),
        "repetitions": _list_or_count(_REPETITION),
        "replications": _list_or_count(_REPETITION),
        "repeats": _list_or_count(_REPETITION),
        "summary": each_in_list(
            an_object({}, {key: or_null(_signed) for key in ("median", "mean", "half_width")})
        ),
    },
)
"""A document."""
