"""Digital twins: calibrate a machine, predict unseen cases, and measure them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from msgspec import UNSET

from headrace import simulate
from headrace._core import VERSION, ScenarioError
from headrace.calibrate import Calibration, CalibrationRun, mount_of, scenario_for_machine
from headrace.calibrate.calibration import PASSES, Step, interleave, run_rounds
from headrace.calibrate.case import Case, check_room
from headrace.calibrate.hodges_lehmann import hodges_lehmann
from headrace.calibrate.limiting_resource import limiting_resource
from headrace.calibrate.measurements import ProgressCallback
from headrace.calibrate.run_report import RunReport
from headrace.calibrate.settings import settings
from headrace.calibration_fields import missing_parameters
from headrace.environment import Environment, of_directory
from headrace.fields import convert, to_document
from headrace.measure import Measurement
from headrace.measure.report import ResultWarning
from headrace.measure.space import state_need
from headrace.measure.workload import load as load_workload
from headrace.validate.breakdown import Breakdown, Run, breakdown_from_counters
from headrace.validate.cases import CASES
from headrace.validate.discrepancy import discrepancy_record
from headrace.validate.interval_width import interval_width_warnings
from headrace.validate.oversized_cases import oversized_cases
from headrace.validate.point import Point, summary
from headrace.validate.prediction import predict
from headrace.validate.records import ApplicationRecord, TwinRecord
from headrace.validate.settings_overrides import Setting, settings_overrides


@dataclass(frozen=True)
class Twin:
    """Cases on a machine, measured in rounds and predicted."""

    machine: str
    """Text of the machine file."""
    points: tuple[Point, ...]
    warnings: tuple[ResultWarning, ...]
    breakdowns: tuple[Breakdown, ...] = ()
    """Time by component, for the cases where it is known."""
    cases: tuple[Case, ...] = ()
    """The cases, in the order of the points."""
    settings: tuple[Setting, ...] = ()
    """Settings that override the machine file."""
    calibration: Calibration | None = None
    """The calibration of the same rounds; None with a machine file."""
    environment: Environment | None = None
    """Where and when the cases were measured."""
    application: ApplicationRecord | None = None
    """The program of the only point; None for benchmarks."""

    def json(self) -> dict[str, Any]:
        """Return the JSON document."""
        record = TwinRecord(
            version=VERSION,
            environment=UNSET if self.environment is None else self.environment,
            machine=self.machine,
            settings=[setting.record() for setting in self.settings],
            points=[point.record() for point in self.points],
            summary=summary(self.points),
            warnings=list(self.warnings),
            breakdowns=[breakdown.record() for breakdown in self.breakdowns],
            discrepancy=discrepancy_record(self.breakdowns),
            calibration=UNSET if self.calibration is None else self.calibration.record(),
            application=UNSET if self.application is None else self.application,
        )
        document: dict[str, Any] = to_document(record)
        return document


def twin(
    directory: str | PathLike[str],
    machine: str | PathLike[str] | None = None,
    *,
    settings_now: bool = False,
    sets: Sequence[str] = (),
    cases: Sequence[Case] | None = None,
    rounds: int = 3,
    passes: int = PASSES,
    on_progress: ProgressCallback | None = None,
) -> Twin:
    """Predict the cases for a machine, and measure them in a directory.

    Without a machine file, each round measures the calibration's probes and the cases interleaved,
    so that both see the same load. Predictions use the calibration alone.

    Parameters
    ----------
    directory
        Directory on the file system to measure.
    machine
        Path of a machine file; None calibrates the directory.
    settings_now
        Override the file's settings with the kernel's current ones: dirty limits, read-ahead,
        scheduler, memory and device limits.
    sets
        Values as `path=value` that override both.
    cases
        The cases; by default `CASES` and those of `oversized_cases`.
    rounds
        Number of rounds.
    passes
        Passes per round for CPU-bound cases. One repetition is the Hodges-Lehmann estimate over
        the passes of a round.
    on_progress
        Called before each measurement and simulation.

    Raises
    ------
    ScenarioError
        If the file has no system that can be simulated, or the file system is not supported.
    RunError, OSError
        As `headrace.measure.measure_strict` does.
    """
    now = settings(mount_of(directory))
    environment = of_directory(directory)
    if cases is None:
        cases = (*CASES, *oversized_cases(now))
    overrides: dict[str, str] = {}
    compared: tuple[Setting, ...] = ()
    if machine is not None:
        # Check before measuring, so that a wrong file costs no time.
        overrides, compared = settings_overrides(
            check_machine_file(machine), cases[0].work, now if settings_now else (), sets
        )
    calibration_run = CalibrationRun(directory) if machine is None else None
    check_room([case.work for case in cases], directory)
    scenarios = [load_workload(case.work) for case in cases]
    state_need("the cases", scenarios, directory, rounds * passes)
    runs: list[list[list[Measurement]]] = [[[] for _ in range(rounds)] for _ in cases]
    ended = 0

    def measure(case: Case, into: list[list[Measurement]]) -> None:
        into[ended].append(case.measure(directory))

    steps = [
        Step(case.name, case.group, partial(measure, case, into), case.processes)
        for case, into in zip(cases, runs, strict=True)
    ]
    if calibration_run is not None:
        calibration_run.state_need(rounds, passes)
        steps = interleave(calibration_run.steps, steps)
    for number in run_rounds(steps, directory, rounds, passes, on_progress):
        ended = number + 1
        if calibration_run is not None:
            calibration_run.end_round()
    times = [
        [hodges_lehmann([case.seconds(RunReport.measured(it.report)) for it in of]) for of in into]
        for case, into in zip(cases, runs, strict=True)
    ]
    each = [[run for one in into for run in one] for into in runs]

    def time_breakdown(number: int, point: Point) -> Breakdown | None:
        case = cases[number]
        return breakdown_from_counters(
            point, case.processes, [Run.from_measurement(run, case) for run in each[number]]
        )

    warned = [warning for one in each for measured in one for warning in measured.report.warnings]
    if machine is not None:
        prediction = predict_twin(
            Path(machine).resolve(), cases, times, time_breakdown, overrides, warned, on_progress
        )
        return replace(prediction, settings=compared, environment=environment)
    assert calibration_run is not None
    calibration = calibration_run.calibration(on_progress)
    warned = [*calibration.warnings, *warned]
    return twin_from_calibration(calibration, cases, times, time_breakdown, warned, on_progress)


def check_machine_file(machine: str | PathLike[str]) -> Path:
    """Return the absolute path of a machine file.

    Raises
    ------
    ScenarioError
        If there is no such file, or it is no TOML file.
    """
    file = Path(machine)
    if file.suffix != ".toml" or not file.is_file():
        raise ScenarioError(
            f"{file}: not a machine file: expected a .toml file from headrace calibrate -o"
        )
    return file.resolve()


Times: TypeAlias = Sequence[Sequence[float]]
"""Seconds of each repetition, for each case."""
TimeBreakdown: TypeAlias = Callable[[int, Point], Breakdown | None]
"""Returns the breakdown of a case by its number; None if it is unknown."""


def twin_from_calibration(
    calibration: Calibration,
    cases: Sequence[Case],
    times: Times,
    time_breakdown: TimeBreakdown,
    warnings: Iterable[ResultWarning],
    on_progress: ProgressCallback | None = None,
) -> Twin:
    """Predict the cases from a calibration of the same rounds."""
    with TemporaryDirectory(prefix="headrace-") as folder:
        file = Path(folder) / "machine.toml"
        file.write_text(calibration.toml, encoding="utf-8")
        prediction = predict_twin(file, cases, times, time_breakdown, {}, warnings, on_progress)
    return replace(prediction, calibration=calibration, environment=calibration.environment)


def predict_twin(
    machine: Path,
    cases: Sequence[Case],
    times: Times,
    time_breakdown: TimeBreakdown,
    sets: Mapping[str, str],
    warnings: Iterable[ResultWarning],
    on_progress: ProgressCallback | None = None,
) -> Twin:
    """Predict the cases from a machine file and overriding values."""
    points, breakdowns = [], []
    warned = {note.condition: note for note in warnings}
    for number, (case, values) in enumerate(zip(cases, times, strict=True)):
        if on_progress is not None:
            on_progress(number, len(cases), f"simulated: {case.name}")
        outcome = predict(
            scenario_for_machine(machine, case.work), case.seconds, limiting_resource, sets
        )
        points.append(Point(case.name, limiting_resource(outcome.report), tuple(values), outcome))
        breakdowns.append(time_breakdown(number, points[-1]))
    loaded = simulate.load(scenario_for_machine(machine, cases[0].work), sets=sets).loaded
    for warning in (
        *convert(missing_parameters(loaded), list[ResultWarning]),
        *interval_width_warnings(points, machine, cases, sets),
    ):
        warned[warning.condition] = warning
    return Twin(
        machine.read_text(encoding="utf-8"),
        tuple(points),
        tuple(warned.values()),
        tuple(breakdown for breakdown in breakdowns if breakdown is not None),
        tuple(cases),
    )
