"""Read saved measurements and check every field that a validation uses."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headrace import environment
from headrace._core import ScenarioError
from headrace.document_io import read_saved
from headrace.fields import (
    Check,
    WrongField,
    amount,
    an_object,
    anything,
    count,
    each_in_list,
    each_in_object,
    number,
    text,
)
from headrace.store.record import CALLS, NO_CALLS


def read_measurement(path: Path) -> dict[str, Any]:
    """Return the document of a saved measurement.

    Raises
    ------
    ScenarioError
        If the file is not a measurement, or a field is invalid. The message names both.
    """
    document = read_saved(path)
    if document is None or document.get("kind") != "measured" or "latency" not in document:
        raise ScenarioError(
            f"{path}: not a saved measurement: expected a file from headrace bench run -o"
        )
    try:
        for field, check in FIELDS.items():
            if field in document:
                check(field, document[field])
        _scenario("scenario", document["scenario"])
        if "operations" not in document:
            raise WrongField(
                "operations", None, "a field of a measurement saved by headrace bench run -o"
            )
    except WrongField as error:
        raise ScenarioError(f"{path}: {error}") from None
    return document


def _sample(where: str, value: Any) -> None:
    if value is not None:
        number(where, value)


def _scenario(where: str, value: Mapping[str, Any]) -> None:
    """Check the scenario of a document; `read_saved` has checked that its text exists."""
    where = f"{where}.toml"
    try:
        document = tomllib.loads(value["toml"])
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise WrongField(where, value["toml"], f"a scenario in TOML ({error})") from None
    if "workload" not in document:
        raise WrongField(where, value["toml"], "a scenario with a [[workload]]")
    an_object({"count": count, "processes": count})(f"{where}: clients", document.get("clients"))
    each_in_list(text)("scenario.sets", value.get("sets", []))


def _real_calls(where: str, value: Any) -> None:
    if value == NO_CALLS:
        raise WrongField(where, value, "a measurement with system calls, made without --calls null")
    if value not in CALLS:
        raise WrongField(where, value, f"one of {', '.join(CALLS)}")


FIELDS: dict[str, Check] = {
    "processes": count,
    "calls": _real_calls,
    "hosts": each_in_list(anything),
    "environment": environment.check,
    "latency": each_in_object(an_object({"mean": amount})),
    "operations": each_in_object(an_object({"count": amount})),
    "counter_series": each_in_object(each_in_list(_sample)),
    "kernel": an_object({"seconds": each_in_object(number), "requests": amount}),
}
"""Fields of a measurement that a validation uses, and their checks."""
