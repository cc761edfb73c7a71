"""Alternatives of a scenario, each checked by loading it."""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headrace._core import ScenarioError
from headrace.alternatives.choices import Choice, Device, choices
from headrace.alternatives.devices import device_choices, has_volatile_cache, link_values
from headrace.alternatives.table import Group, caution_of, group_of, is_left_out, table
from headrace.simulate.scenario import Scenario


@dataclass(frozen=True)
class Alternative:
    """A kind or level that a scenario can have instead of its own."""

    path: str
    """The field, or the section of another kind."""
    before: str
    after: str
    what: str
    """What the field is, or how the kind works."""
    group: Group
    caution: str
    """What it costs in safety; empty for nothing."""
    sets: Mapping[str, Any]
    """Values by path that make the change."""


@dataclass(frozen=True)
class LeftOut:
    """An alternative that the scenario cannot have as it is."""

    path: str
    after: str
    group: Group
    error: str
    """The reason, such as a required field without a default."""


def alternatives(
    scenario: Scenario, is_chosen: Callable[[str], bool] | None = None
) -> tuple[list[Alternative], list[LeftOut]]:
    """Return the kinds and levels that a scenario can have instead of its own.

    Args:
        scenario: The scenario.
        is_chosen: Whether a path is to be changed; by default all but those of the load.

    Returns:
        Alternatives in the order of the schema, and those that are no valid scenario.
    """
    document = tomllib.loads(scenario.toml)
    entries: list[Alternative] = []
    left_out: list[LeftOut] = []
    for choice in every_choice(document):
        path, after = choice.path, choice.after
        if is_left_out(path, choice.before, after):
            continue
        if is_chosen is None:
            if table().load.fits(path, after):
                continue
        elif not (is_chosen(path) or (choice.is_kind and is_chosen(f"{path}.kind"))):
            continue
        group = group_of(path, after)
        sets = _completed(choice, document, scenario)
        try:
            changed = scenario.with_(sets)
        except ScenarioError as error:
            left_out.append(LeftOut(path, after, group, error.message))
            continue
        if changed.toml == scenario.toml:
            continue
        caution = caution_of(path, after)
        if not caution and has_volatile_cache(sets.get(path, {}) if choice.is_kind else {}):
            caution = caution_of(f"{path}.write_cache", "true")
        entries.append(Alternative(path, choice.before, after, choice.what, group, caution, sets))
    return entries, left_out


def every_choice(document: Mapping[str, Any]) -> Iterator[Choice]:
    """Yield every choice of the schema and the catalogues, valid or not.

    Args:
        document: The complete scenario, defaults included.
    """
    for each in choices(document):
        if isinstance(each, Device):
            yield from device_choices(each)
        else:
            yield each


def _completed(choice: Choice, document: Mapping[str, Any], scenario: Scenario) -> dict[str, Any]:
    """Return the values of a change with those that belong to it."""
    sets = dict(choice.sets)
    if choice.path == "network.link":
        return sets | {f"network.{key}": value for key, value in link_values(choice.after).items()}
    for entry in table().keep:
        if not entry.fits(choice.path, choice.after):
            continue
        machine = "machine" if choice.path == "system" else choice.path.removesuffix(".system")
        for field in entry.keep:
            path = f"{machine}.{field}"
            value = _at(document, path)
            if value is not None and not scenario.gives(path):
                sets[path] = value
    return sets


def _at(document: Mapping[str, Any], path: str) -> Any:
    value: Any = document
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
