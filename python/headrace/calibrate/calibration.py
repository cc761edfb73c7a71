"""A machine's parameters, read and measured."""

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias, get_args

from headrace._core import VERSION, RunError
from headrace.calibrate.balance import BALANCES, Balance, balanced
from headrace.calibrate.case import Bound, carried_out, check_room
from headrace.calibrate.checks import CHECKS, Check, checked
from headrace.calibrate.equations import EQUATIONS
from headrace.calibrate.equations.equation import Equation
from headrace.calibrate.machine_file import machine_file
from headrace.calibrate.middle import middle
from headrace.calibrate.mount import Mount, mount_of
from headrace.calibrate.parameter import Parameter, seconds_text
from headrace.calibrate.probe import Probe
from headrace.calibrate.settings import settings
from headrace.calibrate.turns import only_on, processor
from headrace.calibrate.warned import Warned

PASSES = 4
"""How often a round measures what processor and memory bound. A core of a virtual machine may run
at two speeds, as the other thread of its physical core is at work for someone else or not: here
1.0 and 1.4 times the time of a call, for tenths of a second to seconds each. One measurement of ten
milliseconds sees one of them; several, seconds apart, come to what is between."""

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
    probes: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """What each round took of each probe, in seconds: all that the equations have."""

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
            "probes": [
                {"name": name, "rounds_s": list(rounds)} for name, rounds in self.probes.items()
            ],
            "warnings": list(self.warnings),
            "machine": self.toml,
        }

    @property
    def toml(self) -> str:
        """The system's file."""
        return machine_file(self.directory, self.mount, self.parameters, self.checks, self.started)


def calibrate(
    directory: str | PathLike[str],
    *,
    rounds: int = 5,
    passes: int = PASSES,
    told: Told | None = None,
) -> Calibration:
    """Reads what the kernel tells, and measures the rest: all probes once, then all again; in
    each round those that processor and memory bound `passes` times, of which the middle counts.

    Raises ScenarioError if the file system under the directory is none that a simulation
    knows, RunError if a parameter that is needed cannot be told from any round, otherwise as
    `headrace.measure.measure_whole` does.
    """
    probing = Probing(directory)
    for _ in in_rounds(probing.steps, directory, rounds, passes, told):
        probing.end_round()
    return probing.calibration(told)


@dataclass(frozen=True)
class Step:
    """One measurement of a round."""

    name: str
    bound: Bound
    measure: Callable[[], None]
    processes: int = 1

    def carry_out(self, directory: str | PathLike[str], on: int | None = None) -> None:
        """Measures it, on one processor if that is given. Raises RunError, which says what failed
        and where, besides what the measurement raises."""
        try:
            with nullcontext() if on is None else only_on(on):
                self.measure()
        except RunError as error:
            named = RunError(f"{os.fspath(directory)}: {self.name}: {error}")
            for note in getattr(error, "__notes__", ()):
                named.add_note(note)
            raise named from None


def in_rounds(
    steps: Sequence[Step],
    directory: str | PathLike[str],
    rounds: int,
    passes: int,
    told: Told | None = None,
) -> Iterator[int]:
    """Measures all steps in a directory, then all again, those of one process on each processor
    in turn; gives the number of each round when it has ended.

    Raises ValueError if there are no passes.
    """
    if passes < 1:
        raise ValueError(f"passes = {passes}: expected 1 or more")
    order = of_round(steps, passes)
    of_each, turns = Counter(map(id, order)), Counter[int]()
    processors = sorted(os.sched_getaffinity(0))
    for number in range(rounds):
        for place, step in enumerate(order):
            if told is not None:
                told(number * len(order) + place, rounds * len(order), step.name)
            on = processor(turns[id(step)], rounds * of_each[id(step)], processors)
            step.carry_out(directory, on if step.processes == 1 else None)
            turns[id(step)] += 1
        yield number


def of_round(steps: Sequence[Step], passes: int) -> list[Step]:
    """The order within a round: before each of as many parts of what the device bounds as there
    are passes, all that processor and memory bound."""
    cached = [step for step in steps if step.bound == "cache"]
    others = [step for step in steps if step.bound != "cache"]
    ends = [len(others) * number // passes for number in range(passes + 1)]
    return [step for start, end in pairwise(ends) for step in (*cached, *others[start:end])]


def in_turn(some: Sequence[Step], others: Sequence[Step]) -> list[Step]:
    """All steps of two lists, those that are bound alike each spread over all of them, in their
    order: a device that others use too is another within minutes."""
    placed = []
    for steps in (some, others):
        for bound in get_args(Bound):
            alike = [step for step in steps if step.bound == bound]
            placed += [((at + 0.5) / len(alike), step) for at, step in enumerate(alike)]
    return [step for _, step in sorted(placed, key=lambda it: it[0])]


class Probing:
    """A calibration under way. Raises as `calibrate` does, and at the start if a workload takes
    more than the file system has.

    A round is: each of the `steps` once or more often, then `end_round`.
    """

    def __init__(self, directory: str | PathLike[str]) -> None:
        self._directory = directory
        self._mount = mount_of(directory)
        self._started = datetime.now(UTC)
        self._read = settings(self._mount)
        probes = [probe for equation in EQUATIONS for probe in equation.probes]
        known = {it.field for it in self._read}
        self._balances = [balance.where(known) for balance in BALANCES]
        probes += [balance.probe for balance in self._balances]
        self._times: list[dict[str, float]] = []
        self._checks: list[list[float]] = []
        self._of_round: dict[str, list[float]] = {}
        self._checks_of_round: dict[int, list[float]] = {}
        self._warned = Warned()
        # A workload that several probes look at is carried out once.
        alike: dict[tuple[str, str], list[Probe]] = {}
        for probe in probes:
            alike.setdefault((probe.workload, probe.made_by), []).append(probe)
        self.steps = [self._step(those) for those in alike.values()]
        self.steps += [
            Step(case.name, case.group, self._check(number), case.processes)
            for number, case in enumerate(CHECKS)
        ]
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
                self._of_round.setdefault(probe.name, []).append(probe.seconds(document))

        return Step(first.name, first.bound, measure, first.processes)

    def _check(self, number: int) -> Callable[[], None]:
        def measure() -> None:
            document = CHECKS[number].measured(self._directory).document
            self._warned.add(document)
            seconds = CHECKS[number].seconds(document)
            self._checks_of_round.setdefault(number, []).append(seconds)

        return measure

    def end_round(self) -> None:
        """The steps were all measured once more, or some times more."""
        self._times.append({name: middle(times) for name, times in self._of_round.items()})
        self._checks.append(
            [middle(self._checks_of_round[number]) for number in range(len(CHECKS))]
        )
        self._of_round, self._checks_of_round = {}, {}

    def calibration(self, told: Told | None = None) -> Calibration:
        """What the rounds gave."""
        parameters = [*self._read, *_solved(self._times, self._read)]
        directory = str(Path(self._directory).resolve())
        with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
            machine = Path(folder) / "machine.toml"

            def write() -> None:
                text = machine_file(directory, self._mount, parameters, (), self._started)
                machine.write_text(text, encoding="utf-8")

            simulations = len(self._balances) + len(CHECKS)
            for done, balance in enumerate(self._balances):
                if told is not None:
                    told(done, simulations, f"simulated: {balance.probe.name}")
                write()
                values = tuple(
                    balanced(balance, machine, times[balance.probe.name], own)
                    if balance.applies()
                    else 0.0
                    for times, own in self._rounds(parameters)
                )
                parameters.append(of_most_rounds(balance, values))
            write()
            own = [values for _, values in self._rounds(parameters)]
            checks = []
            for number, (case, *times) in enumerate(zip(CHECKS, *self._checks, strict=True)):
                if told is not None:
                    told(len(self._balances) + number, simulations, f"simulated: {case.name}")
                checks.append(checked(str(machine), case, times, own))
        probes = {name: tuple(of[name] for of in self._times) for name in self._times[0]}
        return Calibration(
            directory,
            self._mount,
            tuple(parameters),
            tuple(checks),
            self._started,
            self._warned.all(),
            probes,
        )

    def _rounds(
        self, parameters: Iterable[Parameter]
    ) -> Iterator[tuple[Mapping[str, float], Mapping[str, str]]]:
        """Of each round the times of the probes, and its own values of parameters by path: what
        the machine was at a time goes together."""
        measured = [it for it in parameters if it.measured]
        for number, times in enumerate(self._times):
            yield times, {it.field: it.text(it.values[number]) for it in measured}


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
    """Each equation for the middles of the rounds' times, which tell the parameter, and for each
    round with what that round gave before, which tells its spread.

    What an equation's rounds have in common is found first. Where a round does not tell a
    parameter, the middle of those that do is its value, for that round too.

    Raises RunError if no round tells one that is needed.
    """
    middles = {name: middle([of[name] for of in times]) for name in times[0]}
    settled = {it.field: it.value for it in read if isinstance(it.value, (int, float))}
    known = {field: float(value) for field, value in settled.items()}
    # One round is what the machine was at a time: its values go together.
    known_then = [dict(known) for _ in times]
    solved = []
    for equation in equations:
        common = equation.common(middles, known)
        known |= common
        rounds = []
        for of, then in zip(times, known_then, strict=True):
            then |= common
            rounds.append(common | equation.solve(of, then))
        whole = common | equation.solve(middles, known)
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
            of_middles = whole.get(field) if len(told) == len(rounds) else None
            known[field] = middle(told) if of_middles is None else of_middles
            values = tuple(found.get(field, known[field]) for found in rounds)
            for then, value in zip(known_then, values, strict=True):
                then[field] = value
            unit = equation.units.get(field.rsplit(".", 1)[-1], "s")
            method = equation.method
            if len(told) < len(rounds):
                method += f"; {len(told)} of {len(rounds)} rounds tell it"
            points = equation.curves.get(field, {})
            curve = tuple(
                f"{name}: {seconds_text(middles[probe.name])}" for name, probe in points.items()
            )
            solved.append(Parameter(field, values, unit, method, curve, of_middles))
    return solved
