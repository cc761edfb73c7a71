"""A machine's parameters, read and measured."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import get_args

from headrace._core import RunError
from headrace.calibrate.case import Bound, carried_out, check_room
from headrace.calibrate.checks import CHECKS
from headrace.calibrate.measured import Calibration, Measured, Told, probes_of
from headrace.calibrate.middle import middle
from headrace.calibrate.mount import mount_of
from headrace.calibrate.probe import Probe
from headrace.calibrate.settings import settings
from headrace.calibrate.turns import only_on, processor
from headrace.calibrate.warned import Warned
from headrace.environment import of_directory
from headrace.measure.conditions import memory_is_given_back

PASSES = 4
"""How often a round measures what processor and memory bound. A core of a virtual machine may run
at two speeds, as the other thread of its physical core is at work for someone else or not: here
1.0 and 1.4 times the time of a call, for tenths of a second to seconds each. One measurement of ten
milliseconds sees one of them; several, seconds apart, come to what is between."""


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
    `headrace.measure.measure_strict` does.
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
        self._environment = of_directory(directory, self._started)
        self._read = settings(self._mount)
        probes = probes_of(self._read)
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
        return self.measured().calibration(told)

    def measured(self) -> Measured:
        """What the rounds took."""
        checks = {
            case.name: tuple(times) for case, *times in zip(CHECKS, *self._checks, strict=True)
        }
        return Measured(
            str(Path(self._directory).resolve()),
            self._mount.kind,
            self._started,
            tuple(self._read),
            tuple(self._times),
            checks,
            memory_is_given_back(),
            self._warned.all(),
            environment=self._environment,
        )
