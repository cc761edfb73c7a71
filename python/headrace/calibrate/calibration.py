"""A machine's parameters, read and measured."""

import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from headrace import measure
from headrace._core import VERSION
from headrace.calibrate.balance import BALANCES, balanced
from headrace.calibrate.equations import EQUATIONS
from headrace.calibrate.machine_file import machine_file
from headrace.calibrate.mount import Mount, mount_of
from headrace.calibrate.parameter import Parameter
from headrace.calibrate.probe import Probe
from headrace.calibrate.settings import settings

Told: TypeAlias = Callable[[int, int, str], object]
"""Called before each probe with how many are done, how many there are, and what is next."""


@dataclass(frozen=True)
class Calibration:
    """What a machine and a file system under a directory are like."""

    directory: str
    mount: Mount
    parameters: tuple[Parameter, ...]
    started: datetime

    def json(self) -> dict[str, Any]:
        """All figures."""
        return {
            "kind": "calibration",
            "directory": self.directory,
            "file_system": self.mount.kind,
            "version": VERSION,
            "date": self.started.isoformat(timespec="seconds"),
            "parameters": [parameter.json() for parameter in self.parameters],
            "machine": self.toml,
        }

    @property
    def toml(self) -> str:
        """The system's file."""
        return machine_file(self.directory, self.mount, self.parameters, self.started)


def calibrate(
    directory: str | PathLike[str], *, rounds: int = 5, told: Told | None = None
) -> Calibration:
    """Reads what the kernel tells, and measures the rest: all probes once, then all again.

    Raises ScenarioError if the file system under the directory is none that a simulation
    knows, OSError and RunError as `headrace.measure.measure` does, KeyboardInterrupt.
    """
    mount = mount_of(directory)
    started = datetime.now(UTC)
    read = settings(mount)
    probes = [probe for equation in EQUATIONS for probe in equation.probes]
    probes += [balance.probe for balance in BALANCES]
    times: list[dict[str, float]] = []
    for number in range(rounds):
        times.append({})
        done: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
        for place, probe in enumerate(probes):
            key = (probe.workload, probe.made_by)
            if key not in done:
                if told is not None:
                    told(number * len(probes) + place, rounds * len(probes), probe.name)
                done[key] = _measured(probe, directory)
            times[-1][probe.name] = done[key][probe.operation][probe.statistic]
    parameters = [*read, *_solved(times, read)]
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        machine = Path(folder) / "machine.toml"
        for balance in BALANCES:
            machine.write_text(machine_file(str(directory), mount, parameters, started))
            values = [balanced(balance, machine, it[balance.probe.name]) for it in times]
            parameters.append(Parameter(balance.field, tuple(values), "s", balance.method))
    return Calibration(str(Path(directory).resolve()), mount, tuple(parameters), started)


def _measured(probe: Probe, directory: str | PathLike[str]) -> dict[str, dict[str, float]]:
    """Service times of the operations of a probe's workload."""
    measured = measure.measure(measure.load(probe.text), directory, calls=probe.made_by)
    if measured.document["stop"]["reason"] == "interrupted":
        raise KeyboardInterrupt
    if measured.partial:
        raise OSError(measured.document["error"])
    latency: dict[str, dict[str, float]] = measured.document["latency"]
    return latency


def _solved(times: list[dict[str, float]], read: list[Parameter]) -> list[Parameter]:
    """Each equation for each round; what it gives is known to the next by its median."""
    settled = {it.field: it.value for it in read if isinstance(it.value, (int, float))}
    known = {field: float(value) for field, value in settled.items()}
    solved = []
    for equation in EQUATIONS:
        rounds = [equation.solve(of_round, known) for of_round in times]
        for field in rounds[0]:
            values = tuple(found[field] for found in rounds)
            known[field] = statistics.median(values)
            unit = equation.units.get(field.rsplit(".", 1)[-1], "s")
            solved.append(Parameter(field, values, unit, equation.method))
    return solved
