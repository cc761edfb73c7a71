"""A machine's parameters, read and measured."""

import os
import statistics
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from headrace._core import VERSION, RunError
from headrace.calibrate.balance import BALANCES, Balance, balanced
from headrace.calibrate.case import carried_out, check_room
from headrace.calibrate.checks import CHECKS, Check, checked
from headrace.calibrate.equations import EQUATIONS
from headrace.calibrate.equations.equation import Equation
from headrace.calibrate.machine_file import machine_file
from headrace.calibrate.mount import Mount, mount_of
from headrace.calibrate.parameter import Parameter, seconds_text
from headrace.calibrate.probe import Probe
from headrace.calibrate.settings import settings
from headrace.calibrate.warned import Warned

Told: TypeAlias = Callable[[int, int, str], object]
"""Called before each measurement with how many are done, how many there are, and what is next."""


@dataclass(frozen=True)
class Calibration:
    """What a machine and a file system under a directory are like."""

    directory: str
    mount: Mount
    parameters: tuple[Parameter, ...]
    checks: tuple[Check, ...]
    started: datetime
    warnings: tuple[dict[str, str], ...] = ()
    """What a reader should know of its measurements: `condition` and `message`."""

    def json(self) -> dict[str, Any]:
        """All figures."""
        return {
            "kind": "calibration",
            "directory": self.directory,
            "file_system": self.mount.kind,
            "version": VERSION,
            "date": self.started.isoformat(timespec="seconds"),
            "parameters": [parameter.json() for parameter in self.parameters],
            "checks": [check.json() for check in self.checks],
            "warnings": list(self.warnings),
            "machine": self.toml,
        }

    @property
    def toml(self) -> str:
        """The system's file."""
        return machine_file(self.directory, self.mount, self.parameters, self.checks, self.started)


def calibrate(
    directory: str | PathLike[str], *, rounds: int = 5, told: Told | None = None
) -> Calibration:
    """Reads what the kernel tells, and measures the rest: all probes once, then all again.

    Raises ScenarioError if the file system under the directory is none that a simulation
    knows, RunError if a parameter that is needed cannot be told from any round, otherwise as
    `headrace.measure.measure_whole` does.
    """
    probing = Probing(directory)
    for number in range(rounds):
        for place, step in enumerate(probing.steps):
            if told is not None:
                done = number * len(probing.steps) + place
                told(done, rounds * len(probing.steps), step.name)
            step.carry_out(directory)
        probing.end_round()
    return probing.calibration()


@dataclass(frozen=True)
class Step:
    """One measurement of a round."""

    name: str
    measure: Callable[[], None]

    def carry_out(self, directory: str | PathLike[str]) -> None:
        """Measures it. Raises RunError, which says what failed and where, besides what the
        measurement raises."""
        try:
            self.measure()
        except RunError as error:
            raise RunError(f"{os.fspath(directory)}: {self.name}: {error}") from None


class Probing:
    """A calibration under way. Raises as `calibrate` does, and at the start if a workload takes
    more than the file system has.

    A round is: each of the `steps` in turn, then `end_round`.
    """

    def __init__(self, directory: str | PathLike[str]) -> None:
        self._directory = directory
        self._mount = mount_of(directory)
        self._started = datetime.now(UTC)
        self._read = settings(self._mount)
        probes = [probe for equation in EQUATIONS for probe in equation.probes]
        probes += [balance.probe for balance in BALANCES]
        self._times: list[dict[str, float]] = []
        self._checks: list[list[float]] = []
        self._of_round: dict[str, float] = {}
        self._checks_of_round: list[float] = []
        self._warned = Warned()
        # A workload that several probes look at is carried out once.
        alike: dict[tuple[str, str], list[Probe]] = {}
        for probe in probes:
            alike.setdefault((probe.workload, probe.made_by), []).append(probe)
        self.steps = [self._step(those) for those in alike.values()]
        self.steps += [Step(case.name, self._check(number)) for number, case in enumerate(CHECKS)]
        # Before anything is measured, so that what does not fit costs no time.
        texts = [those[0].text for those in alike.values()]
        check_room([*texts, *(case.work for case in CHECKS)], directory)

    def _step(self, probes: list[Probe]) -> Step:
        first = probes[0]

        def measure() -> None:
            document = carried_out(
                first.text, self._directory, first.bound, calls=first.made_by
            ).document
            self._warned.add(document)
            for probe in probes:
                self._of_round[probe.name] = probe.seconds(document)

        return Step(first.name, measure)

    def _check(self, number: int) -> Callable[[], None]:
        def measure() -> None:
            measurement = CHECKS[number].measured(self._directory)
            self._warned.add(measurement.document)
            self._checks_of_round.append(CHECKS[number].seconds(measurement.document))

        return measure

    def end_round(self) -> None:
        """The steps were all measured once more."""
        self._times.append(self._of_round)
        self._checks.append(self._checks_of_round)
        self._of_round, self._checks_of_round = {}, []

    def calibration(self) -> Calibration:
        """What the rounds gave."""
        parameters = [*self._read, *_solved(self._times, self._read)]
        directory = str(Path(self._directory).resolve())
        with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
            machine = Path(folder) / "machine.toml"

            def write() -> None:
                text = machine_file(directory, self._mount, parameters, (), self._started)
                machine.write_text(text, encoding="utf-8")

            for balance in BALANCES:
                write()
                times = [of_round[balance.probe.name] for of_round in self._times]
                values = tuple(balanced(balance, machine, time) for time in times)
                parameters.append(of_most_rounds(balance, values))
            write()
            checks = checked(str(machine), self._checks)
        warnings = self._warned.all()
        return Calibration(
            directory, self._mount, tuple(parameters), checks, self._started, warnings
        )


def of_most_rounds(balance: Balance, values: tuple[float, ...]) -> Parameter:
    """The parameter that was found so in each round: nothing if half of the rounds show nothing
    of it, since what the others saw was then something else that kept the device."""
    method = balance.method
    seen = sum(value > 0 for value in values)
    if 0 < seen <= len(values) / 2:
        method += f"; left out, as {seen} of {len(values)} rounds alone showed anything of it"
        values = (0.0,) * len(values)
    return Parameter(balance.field, values, "s", method)


def _solved(
    times: list[dict[str, float]],
    read: list[Parameter],
    equations: Iterable[Equation] = EQUATIONS,
) -> list[Parameter]:
    """Each equation for each round; what it gives is known to the next by its median.

    What an equation's rounds have in common is found first, from the medians of their times.
    A round that does not tell a parameter counts as the median of those that do.

    Raises RunError if no round tells one that is needed.
    """
    middle = {name: statistics.median(of[name] for of in times) for name in times[0]}
    settled = {it.field: it.value for it in read if isinstance(it.value, (int, float))}
    known = {field: float(value) for field, value in settled.items()}
    solved = []
    for equation in equations:
        common = equation.common(middle, known)
        known |= common
        rounds = [common | equation.solve(of_round, known) for of_round in times]
        fields = dict.fromkeys(field for found in rounds for field in found)
        for field in equation.needed:
            if field not in fields:
                raise RunError(
                    f"{field} cannot be told from {equation.method}: in each of {len(rounds)}"
                    " rounds the large ones took no longer than the small ones, which something"
                    " else kept waiting; repeat this when processors and device are less busy,"
                    " or with more rounds"
                )
        for field in fields:
            told = [found[field] for found in rounds if field in found]
            known[field] = statistics.median(told)
            values = tuple(found.get(field, known[field]) for found in rounds)
            unit = equation.units.get(field.rsplit(".", 1)[-1], "s")
            method = equation.method
            if len(told) < len(rounds):
                method += f"; {len(told)} of {len(rounds)} rounds tell it"
            points = equation.curves.get(field, {})
            curve = tuple(
                f"{name}: {seconds_text(middle[probe.name])}" for name, probe in points.items()
            )
            solved.append(Parameter(field, values, unit, method, curve))
    return solved
