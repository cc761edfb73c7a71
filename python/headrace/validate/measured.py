"""Saved measurements, of which every field that a validation reads is looked at first."""

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
            raise WrongField("operations", None, "what headrace bench run -o saved")
    except WrongField as error:
        raise ScenarioError(f"{path}: {error}") from None
    return document


def _sample(where: str, value: Any) -> None:
    if value is not None:
        number(where, value)


def _scenario(where: str, value: Mapping[str, Any]) -> None:
    """`read_saved` has seen that there is a text."""
    where = f"{where}.toml"
    try:
        document = tomllib.loads(value["toml"])
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise WrongField(where, value["toml"], f"a scenario, and {error}") from None
    if "workload" not in document:
        raise WrongField(where, value["toml"], "a scenario with a [[workload]]")
    an_object({"count": count, "processes": count})(f"{where}: clients", document.get("clients"))
    each_in_list(text)("scenario.sets", value.get("sets", []))


def _real_calls(where: str, value: Any) -> None:
    if value == NO_CALLS:
        raise WrongField(where, value, "a measurement of the storage, which makes calls")
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
"""What a validation reads of a measurement, by its field."""
