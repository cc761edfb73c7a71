"""A machine that was changed since its file was saved: the settings that its prediction takes."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from headrace import simulate
from headrace._core import ScenarioError
from headrace.calibrate.limits import FIELDS
from headrace.calibrate.machine_work import work_on
from headrace.calibrate.parameter import Parameter
from headrace.calibration_fields import rounds_of
from headrace.simulate import Scenario

NO_LIMIT = {"B/s": "1e15 B/s", "": "1e9"}
"""By a limit's unit, what a limit of the file's is that the kernel has no more: far more than any
device gives, since a scenario cannot take a value back."""


@dataclass(frozen=True)
class Setting:
    """A field's value in a machine's file, and the one that is put over it."""

    field: str
    file: Any
    """As the file has it, or the default that it leaves; None if neither has one."""
    used: Any
    source: str
    """Where the value that is used was read, or that it was given."""

    @property
    def changed(self) -> bool:
        """Whether that is another value."""
        return bool(self.file != self.used)

    def json(self) -> dict[str, Any]:
        """As documents have it."""
        return {
            "field": self.field,
            "file": self.file,
            "used": self.used,
            "changed": self.changed,
            "source": self.source,
        }


def over_file(
    machine: str | PathLike[str], work: str, now: Iterable[Parameter], given: Sequence[str]
) -> tuple[dict[str, str], tuple[Setting, ...]]:
    """What is put over a machine's file, by path: what the kernel tells `now`, and what was
    `given`, each as `path=value`, above that; and how both compare with the file.

    A limit that the file has of the device, and the kernel has not now, is none.

    Raises ScenarioError if the file cannot be simulated, or not with these values, or if one of
    them is not the system's.
    """
    for it in given:
        _refuse_work(it)
    text = work_on(machine, work)
    file = tomllib.loads(_of_machine(machine, text).toml)
    _check_rounds(machine, text, file)
    now = list(now)
    sets = {it.field: it.text() for it in now}
    sources = {it.field: it.method for it in now}
    if now:
        for name, unit in FIELDS.values():
            field = f"machine.device.{name}"
            if field not in sets and _at(file, field) is not None:
                sets[field], sources[field] = NO_LIMIT[unit], "no limit now"
    # As the command line has them, so that one that is none is refused as there.
    simulate.load_with_sets(text, given)
    for it in given:
        field, _, value = (part.strip() for part in it.partition("="))
        sets[field], sources[field] = value, "--set"
    used = tomllib.loads(simulate.load(text, sets=sets).toml)
    found = (Setting(it, _at(file, it), _at(used, it), sources[it]) for it in sets)
    return sets, tuple(found)


NOT_OF_SYSTEM = ("name", "description", "system", "calibration", "check", "workload", "run")
"""What a twin has itself, or the file alone."""
PROCESSES = ("clients.count", "clients.processes")
"""The cases' own too."""


def _refuse_work(given: str) -> None:
    field = given.partition("=")[0].strip()
    if field in PROCESSES or field.split(".")[0] in NOT_OF_SYSTEM:
        raise ScenarioError(
            f"--set {given}: a twin's cases are its own: expected a value of the machine, such as"
            ' machine.device.rate="60 MB/s"'
        )


def _of_machine(machine: str | PathLike[str], text: str) -> Scenario:
    """The system of a machine's file. What is wrong is the file's, and not the text's, which
    nobody else has seen."""
    try:
        return simulate.load(text)
    except ScenarioError as error:
        if error.file != TEXT:
            raise
        raise ScenarioError(
            f"{fspath(machine)}: this is no system that can be simulated: {error.message}:"
            " expected a file that headrace calibrate -o saved"
        ) from None


def _check_rounds(machine: str | PathLike[str], text: str, file: Mapping[str, Any]) -> None:
    """Raises ScenarioError if a round of the calibration cannot be simulated: the rounds are, after
    everything is measured."""
    for number, values in enumerate(rounds_of(file), 1):
        try:
            simulate.load(text, sets=values)
        except ScenarioError as error:
            wrong = str(error).removeprefix("--set ")
            raise ScenarioError(
                f"{fspath(machine)}: value {number} of [[calibration]]: {wrong}"
            ) from None


TEXT = "scenario.toml"
"""What errors call a scenario that is a text."""


def _at(table: Mapping[str, Any], field: str) -> Any:
    """The value at a path; None if there is none."""
    value: Any = table
    for name in field.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return None
        value = value[name]
    return value
