"""A digital twin: a machine is calibrated, predicted for cases it has not seen, and measured."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from headrace import simulate
from headrace._core import VERSION, ScenarioError
from headrace.calibrate import Calibration, Probing, mount_of, work_on
from headrace.calibrate.bound import bound_by
from headrace.calibrate.calibration import PASSES, Step, in_rounds, in_turn
from headrace.calibrate.case import Case, check_room
from headrace.calibrate.measured import Told
from headrace.calibrate.middle import middle
from headrace.calibrate.settings import settings
from headrace.calibration_fields import missing_parameters
from headrace.environment import Environment, of_directory
from headrace.measure import Measurement
from headrace.validate.beyond import beyond
from headrace.validate.breakdown import Breakdown, Run, from_counters
from headrace.validate.cases import CASES
from headrace.validate.changed import Setting, over_file
from headrace.validate.discrepancy import explanation
from headrace.validate.point import Point, summary
from headrace.validate.prediction import predict
from headrace.validate.wide import wide


@dataclass(frozen=True)
class Twin:
    """Cases on a machine: measured in turns, and predicted."""

    machine: str
    """The text of the calibrated system's file."""
    points: tuple[Point, ...]
    warnings: tuple[dict[str, str], ...]
    breakdowns: tuple[Breakdown, ...] = ()
    """Where the time went, of those cases of which that is known."""
    cases: tuple[Case, ...] = ()
    """What was measured, in the order of the points."""
    settings: tuple[Setting, ...] = ()
    """What was put over the machine's file."""
    calibration: Calibration | None = None
    """That of the same rounds, if they had one."""
    environment: Environment | None = None
    """Where and when the cases were measured, as `headrace.environment` has it."""

    def json(self) -> dict[str, Any]:
        """All figures."""
        own = {} if self.calibration is None else {"calibration": self.calibration.json()}
        return {
            "kind": "validation",
            "scenario": {"name": "twin", "description": "a calibrated machine and itself"},
            "version": VERSION,
            **({} if self.environment is None else {"environment": self.environment}),
            "machine": self.machine,
            "settings": [it.json() for it in self.settings],
            "points": [point.json() for point in self.points],
            "summary": summary(self.points),
            "warnings": list(self.warnings),
            **explanation(self.breakdowns),
            **own,
        }


def twin(
    directory: str | PathLike[str],
    machine: str | PathLike[str] | None = None,
    *,
    settings_now: bool = False,
    sets: Sequence[str] = (),
    cases: Sequence[Case] | None = None,
    rounds: int = 3,
    passes: int = PASSES,
    told: Told | None = None,
) -> Twin:
    """Predicts the cases for a machine, and measures them in a directory, in rounds.

    The cases are those of `CASES`, and those `beyond` the limits of the machine, if these are
    small; or what is given. Without a `machine`, a system's file, the directory is calibrated:
    each round measures what the calibration needs and the cases in turn, so that both see the
    same minutes of a machine that others use too. The predictions are made from the calibration
    alone. With `settings_now`, settings are what the kernel tells now (dirty limits, read-ahead,
    scheduler, memory, limits of the device) instead of the file's: a machine that was
    changed is predicted from what was measured before that. `sets`, each as `path=value`, are
    put over both, for what the kernel does not tell. What processor and memory bound is measured
    `passes` times in each round; their middle is one repetition.

    Raises ScenarioError if the file describes no system that can be simulated, or nothing is
    known of the file system; otherwise as `headrace.measure.measure_strict` does.
    """
    now = settings(mount_of(directory))
    environment = of_directory(directory)
    if cases is None:
        cases = (*CASES, *beyond(now))
    over: dict[str, str] = {}
    compared: tuple[Setting, ...] = ()
    if machine is not None:
        # Before anything is measured, so that a wrong file costs no time.
        file = Path(machine)
        if file.suffix != ".toml" or not file.is_file():
            raise ScenarioError(
                f"{file}: expected a file that headrace calibrate -o saved, with a name in .toml"
            )
        over, compared = over_file(file.resolve(), cases[0].work, now if settings_now else (), sets)
    probing = Probing(directory) if machine is None else None
    check_room([case.work for case in cases], directory)
    runs: list[list[list[Measurement]]] = [[[] for _ in range(rounds)] for _ in cases]
    ended = 0

    def measure(case: Case, into: list[list[Measurement]]) -> None:
        into[ended].append(case.measured(directory))

    steps = [
        Step(case.name, case.group, partial(measure, case, into), case.processes)
        for case, into in zip(cases, runs, strict=True)
    ]
    if probing is not None:
        steps = in_turn(probing.steps, steps)
    for number in in_rounds(steps, directory, rounds, passes, told):
        ended = number + 1
        if probing is not None:
            probing.end_round()
    times = [
        [middle([case.seconds(it.document) for it in of]) for of in into]
        for case, into in zip(cases, runs, strict=True)
    ]
    each = [[it for of in into for it in of] for into in runs]

    def went(number: int, point: Point) -> Breakdown | None:
        case = cases[number]
        return from_counters(point, case.processes, [Run.of(it, case) for it in each[number]])

    warned = [it for of in each for measured in of for it in measured.document["warnings"]]
    if machine is not None:
        found = predicted(Path(machine).resolve(), cases, times, went, over, warned, told)
        return replace(found, settings=compared, environment=environment)
    assert probing is not None
    calibration = probing.calibration(told)
    warned = [*calibration.warnings, *warned]
    return of_calibration(calibration, cases, times, went, warned, told)


Times: TypeAlias = Sequence[Sequence[float]]
"""Of each case, what its repetitions took, in seconds."""
Went: TypeAlias = Callable[[int, Point], Breakdown | None]
"""Where the time of a case went, by its number, if that is known."""


def of_calibration(
    calibration: Calibration,
    cases: Sequence[Case],
    times: Times,
    went: Went,
    warnings: Iterable[dict[str, str]],
    told: Told | None = None,
) -> Twin:
    """A twin by a calibration of the same rounds."""
    with TemporaryDirectory(prefix="headrace-") as folder:
        file = Path(folder) / "machine.toml"
        file.write_text(calibration.toml, encoding="utf-8")
        found = predicted(file, cases, times, went, {}, warnings, told)
    return replace(found, calibration=calibration, environment=calibration.environment)


def predicted(
    machine: Path,
    cases: Sequence[Case],
    times: Times,
    went: Went,
    sets: Mapping[str, str],
    warnings: Iterable[dict[str, str]],
    told: Told | None = None,
) -> Twin:
    """A twin by a machine's file, with values over it by path."""
    points, breakdowns = [], []
    warned = {it["condition"]: it for it in warnings}
    for number, (case, of) in enumerate(zip(cases, times, strict=True)):
        if told is not None:
            told(number, len(cases), f"simulated: {case.name}")
        found = predict(work_on(machine, case.work), case.seconds, bound_by, sets)
        points.append(Point(case.name, bound_by(found.document), tuple(of), found))
        breakdowns.append(went(number, points[-1]))
    loaded = simulate.load(work_on(machine, cases[0].work), sets=sets).loaded
    for warning in (*missing_parameters(loaded), *wide(points, machine, cases, sets)):
        warned[warning["condition"]] = warning
    return Twin(
        machine.read_text(encoding="utf-8"),
        tuple(points),
        tuple(warned.values()),
        tuple(it for it in breakdowns if it is not None),
        tuple(cases),
    )
