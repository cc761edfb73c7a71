"""Settings that override a machine file: current kernel settings, and values of `--set`."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from headrace import simulate
from headrace._core import ScenarioError
from headrace.calibrate.case import scenario_for_machine
from headrace.calibrate.limits import FIELDS
from headrace.calibrate.parameter import Parameter
from headrace.calibration_fields import rounds_of
from headrace.document_io import as_sets
from headrace.simulate import Scenario
from headrace.validate.records import SettingRecord

NO_LIMIT = {"B/s": "1e15 B/s", "": "1e9"}
"""Value by unit for a limit that the file has and the kernel no longer has. It exceeds any device,
because a scenario cannot unset a value."""


@dataclass(frozen=True)
class Setting:
    """A field's value in a machine file, and the value that overrides it."""

    field: str
    file: Any
    """Value in the file, or its default; None if neither exists."""
    used: Any
    source: str
    """Source of the value used: a kernel file, or `--set`."""

    @property
    def changed(self) -> bool:
        """True if the values differ."""
        return bool(self.file != self.used)

    def record(self) -> SettingRecord:
        """Return the record of the setting."""
        return SettingRecord(self.field, self.file, self.used, self.changed, self.source)


def settings_overrides(
    machine: str | PathLike[str], work: str, now: Iterable[Parameter], given: Sequence[str]
) -> tuple[dict[str, str], tuple[Setting, ...]]:
    """Return the values that override a machine file, and how they compare with it.

    A device limit that the file has and the kernel no longer has is removed.

    Parameters
    ----------
    machine
        Path of the machine file.
    work
        TOML of the clients and the workload.
    now
        Current settings of the kernel.
    given
        Values of `--set` as `path=value`, which take precedence.

    Returns
    -------
    tuple
        Values by path, and a `Setting` for each.

    Raises
    ------
    ScenarioError
        If the file cannot be simulated, or not with these values, or a path is unknown.
    """
    for setting in given:
        _refuse_work(setting)
    text = scenario_for_machine(machine, work)
    file = tomllib.loads(_load_machine(machine, text).toml)
    _check_rounds(machine, text, file)
    now = list(now)
    sets = {one.field: one.text() for one in now}
    sources = {one.field: one.method for one in now}
    if now:
        for name, unit in FIELDS.values():
            field = f"machine.device.{name}"
            if field not in sets and _value_at(file, field) is not None:
                sets[field], sources[field] = NO_LIMIT[unit], "limit removed"
    # Parse like the command line, so that errors are the same.
    simulate.load_with_sets(text, given)
    for setting in given:
        field, _, value = (part.strip() for part in setting.partition("="))
        sets[field], sources[field] = value, "--set"
    used = tomllib.loads(simulate.load(text, sets=sets).toml)
    settings = (Setting(it, _value_at(file, it), _value_at(used, it), sources[it]) for it in sets)
    return sets, tuple(settings)


NOT_OF_SYSTEM = ("name", "description", "system", "calibration", "check", "workload", "run")
"""Sections that a twin sets itself, or that only the file may have."""
PROCESSES = ("clients.count", "clients.processes")
"""Fields that each case sets."""


def _refuse_work(given: str) -> None:
    field = given.partition("=")[0].strip()
    if field in PROCESSES or field.split(".")[0] in NOT_OF_SYSTEM:
        raise ScenarioError(
            f"--set {given}: a twin sets its workload: expected a field of the machine, such as"
            ' machine.device.rate="60 MB/s"'
        )


def _load_machine(machine: str | PathLike[str], text: str) -> Scenario:
    """Load the system of a machine file, so that an error names that file."""
    try:
        return simulate.load(text)
    except ScenarioError as error:
        if error.file != TEXT:
            raise
        raise ScenarioError(
            f"{fspath(machine)}: the system cannot be simulated: {error.message}: expected a file"
            " from headrace calibrate -o"
        ) from None


def _check_rounds(machine: str | PathLike[str], text: str, file: Mapping[str, Any]) -> None:
    """Check before any measurement that every round of the calibration can be simulated.

    Raises
    ------
    ScenarioError
        If one cannot.
    """
    for number, values in enumerate(rounds_of(file), 1):
        try:
            simulate.load_with_sets(text, as_sets(values))
        except ScenarioError as error:
            wrong = str(error).removeprefix("--set ")
            raise ScenarioError(
                f"{fspath(machine)}: value {number} of [[calibration]]: {wrong}"
            ) from None


TEXT = "scenario.toml"
"""Name in error messages of a scenario without a file."""


def _value_at(table: Mapping[str, Any], field: str) -> Any:
    """Return the value at a path; None if it does not exist."""
    value: Any = table
    for name in field.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return None
        value = value[name]
    return value
