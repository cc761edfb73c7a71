"""Read and measure the parameters of a machine."""

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

from headrace._core import RunError, open_directory
from headrace.calibrate.case import Resource, check_room, run_workload
from headrace.calibrate.checks import CHECKS
from headrace.calibrate.cpu_affinity import cpu_for_run, pin_to_cpu
from headrace.calibrate.hodges_lehmann import hodges_lehmann
from headrace.calibrate.measurements import Calibration, Measurements, ProgressCallback, all_probes
from headrace.calibrate.mount import mount_of
from headrace.calibrate.other_load import MOST, OtherLoad, check_idle
from headrace.calibrate.probe import Probe
from headrace.calibrate.run_report import RunReport
from headrace.calibrate.settings import settings
from headrace.calibrate.warning_collector import WarningCollector
from headrace.environment import of_directory
from headrace.measure.conditions import memory_is_given_back
from headrace.measure.space import state_need
from headrace.measure.workload import load as load_workload

PASSES = 4
"""Passes per round for CPU-bound cases. The hyperthread sibling of a virtual CPU may be busy or
idle: calls then took 1.4 or 1.0 times as long, for tenths of a second to seconds. One pass of 10 ms
sees one speed; several passes, seconds apart, average both."""


def calibrate(
    directory: str | PathLike[str],
    *,
    rounds: int = 5,
    passes: int = PASSES,
    busy: bool = True,
    on_progress: ProgressCallback | None = None,
) -> Calibration:
    """Calibrate the machine and the file system under a directory.

    A round in which other programs used much of the processors is measured again. That happens at
    most as often as there are rounds, and the quietest rounds count.

    Settings are read from the kernel. All probes are measured once in each round. For CPU-bound
    probes one repetition is the Hodges-Lehmann estimate over the passes of a round.

    Parameters
    ----------
    directory
        Directory on the file system to measure.
    rounds
        Number of rounds.
    passes
        Passes per round for CPU-bound probes.
    busy
        Calibrate a busy machine, too, and repeat no round.
    on_progress
        Called before each measurement.

    Raises
    ------
    ScenarioError
        If simulations do not support the file system under the directory.
    RunError
        If other programs use much of the processors before the first round, unless `busy`. If no
        round yields a required parameter; also as `headrace.measure.measure_strict` does.
    """
    probing = CalibrationRun(directory)
    probing.state_need(rounds, passes)
    if not busy:
        # Another user's directory is refused first.
        os.close(open_directory(directory, strictly=True))
        check_idle()
    for _ in run_rounds(probing.steps, directory, rounds, passes, on_progress):
        probing.end_round()
    for _ in range(0 if busy else rounds):
        if not probing.has_busy_round():
            break
        for _ in run_rounds(probing.steps, directory, 1, passes, on_progress):
            probing.end_round()
        probing.drop_busiest_round()
    return probing.calibration(on_progress)


@dataclass(frozen=True)
class Step:
    """One measurement of a round."""

    name: str
    resource: Resource
    measure: Callable[[], None]
    processes: int = 1

    def run(self, directory: str | PathLike[str], on: int | None = None) -> None:
        """Run the measurement.

        Parameters
        ----------
        directory
            Directory that an error message names.
        on
            CPU to pin the measurement to; None leaves the affinity unchanged.

        Raises
        ------
        RunError
            With the directory and the name of the step; also what the measurement raises.
        """
        try:
            with nullcontext() if on is None else pin_to_cpu(on):
                self.measure()
        except RunError as error:
            named = RunError(f"{os.fspath(directory)}: {self.name}: {error}")
            for note in getattr(error, "__notes__", ()):
                named.add_note(note)
            raise named from None


def run_rounds(
    steps: Sequence[Step],
    directory: str | PathLike[str],
    rounds: int,
    passes: int,
    on_progress: ProgressCallback | None = None,
) -> Iterator[int]:
    """Run all steps in a directory, round by round, and yield each round's number at its end.

    Steps with one process are pinned to each CPU in turn.

    Raises
    ------
    ValueError
        If `passes` is less than 1.
    """
    if passes < 1:
        raise ValueError(f"passes = {passes}: expected 1 or more")
    order = round_order(steps, passes)
    runs_per_step, runs_done = Counter(map(id, order)), Counter[int]()
    processors = sorted(os.sched_getaffinity(0))
    for number in range(rounds):
        for place, step in enumerate(order):
            if on_progress is not None:
                on_progress(number * len(order) + place, rounds * len(order), step.name)
            on = cpu_for_run(runs_done[id(step)], rounds * runs_per_step[id(step)], processors)
            step.run(directory, on if step.processes == 1 else None)
            runs_done[id(step)] += 1
        yield number


def round_order(steps: Sequence[Step], passes: int) -> list[Step]:
    """Return the order of steps within a round.

    Device-bound steps are split into as many parts as there are passes. All CPU-bound steps run
    before each part.
    """
    cached = [step for step in steps if step.resource == "cache"]
    others = [step for step in steps if step.resource != "cache"]
    ends = [len(others) * number // passes for number in range(passes + 1)]
    return [step for start, end in pairwise(ends) for step in (*cached, *others[start:end])]


def interleave(some: Sequence[Step], others: Sequence[Step]) -> list[Step]:
    """Merge two lists of steps so that both are spread over the whole round.

    The load on a shared device changes within minutes; interleaved steps see the same load. Order
    within each list and resource is preserved.
    """
    placed = []
    for steps in (some, others):
        for bound in get_args(Resource):
            by_workload = [step for step in steps if step.resource == bound]
            placed += [((at + 0.5) / len(by_workload), step) for at, step in enumerate(by_workload)]
    return [step for _, step in sorted(placed, key=lambda pair: pair[0])]


class CalibrationRun:
    """A calibration in progress.

    Run each of `steps` one or more times, then call `end_round`, for every round.

    Raises
    ------
    ScenarioError
        On construction, if the file system has too little free space; else as `calibrate` does.
    """

    def __init__(self, directory: str | PathLike[str]) -> None:
        self._directory = directory
        self._mount = mount_of(directory)
        self._started = datetime.now(UTC)
        self._environment = of_directory(directory, self._started)
        self._read = settings(self._mount)
        probes = all_probes(self._read)
        self._times: list[dict[str, float]] = []
        self._checks: list[list[float]] = []
        self._of_round: dict[str, list[float]] = {}
        self._checks_of_round: dict[int, list[float]] = {}
        self._collector = WarningCollector()
        self._load = OtherLoad()
        self._others: list[float] = []
        # A workload shared by several probes runs once.
        by_workload: dict[tuple[str, str], list[Probe]] = {}
        for probe in probes:
            by_workload.setdefault((probe.workload, probe.made_by), []).append(probe)
        self.steps = [self._step(those) for those in by_workload.values()]
        self.steps += [
            Step(case.name, case.group, self._check(number), case.processes)
            for number, case in enumerate(CHECKS)
        ]
        # Check before measuring, so that a lack of space costs no time.
        texts = [those[0].text for those in by_workload.values()]
        texts += [case.work for case in CHECKS]
        check_room(texts, directory)
        self._texts = texts

    def state_need(self, rounds: int, passes: int) -> None:
        """State the space and time of all rounds, each step in every pass."""
        scenarios = map(load_workload, self._texts)
        state_need("calibration", scenarios, self._directory, rounds * passes)

    def _step(self, probes: list[Probe]) -> Step:
        first = probes[0]

        def measure() -> None:
            run = run_workload(
                first.text, self._directory, first.resource, calls=first.made_by
            ).report
            self._collector.add(run.warnings)
            report = RunReport.measured(run)
            for probe in probes:
                self._of_round.setdefault(probe.name, []).append(probe.seconds(report))

        return Step(first.name, first.resource, measure, first.processes)

    def _check(self, number: int) -> Callable[[], None]:
        def measure() -> None:
            report = CHECKS[number].measure(self._directory).report
            self._collector.add(report.warnings)
            seconds = CHECKS[number].seconds(RunReport.measured(report))
            self._checks_of_round.setdefault(number, []).append(seconds)

        return measure

    def end_round(self) -> None:
        """Reduce the passes of the current round to one value per probe and check."""
        self._others.append(self._load.share())
        self._times.append({name: hodges_lehmann(times) for name, times in self._of_round.items()})
        self._checks.append(
            [hodges_lehmann(self._checks_of_round[number]) for number in range(len(CHECKS))]
        )
        self._of_round, self._checks_of_round = {}, {}

    def has_busy_round(self) -> bool:
        """Return True if others used much of the processors in one of the rounds."""
        return max(self._others, default=0.0) > MOST

    def drop_busiest_round(self) -> None:
        """Forget the round in which others used most of the processors."""
        busiest = self._others.index(max(self._others))
        for rounds in (self._others, self._times, self._checks):
            rounds.pop(busiest)

    def calibration(self, on_progress: ProgressCallback | None = None) -> Calibration:
        """Estimate the parameters from the rounds measured so far."""
        return self.measurements().calibration(on_progress)

    def measurements(self) -> Measurements:
        """Return the measured times of all rounds."""
        checks = {
            case.name: tuple(times) for case, *times in zip(CHECKS, *self._checks, strict=True)
        }
        return Measurements(
            str(Path(self._directory).resolve()),
            self._mount.kind,
            self._started,
            tuple(self._read),
            tuple(self._times),
            checks,
            memory_is_given_back(),
            self._collector.all(),
            environment=self._environment,
            others=tuple(self._others),
        )
