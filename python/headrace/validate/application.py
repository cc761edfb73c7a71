"""Predict the run time of a program on a calibrated machine, and measure it.

The program runs once under strace. Its calls on files in the working directory are simulated, all
other time is taken as measured, less the time that the tracer added.
"""

import math
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory

from headrace import _core, simulate
from headrace._core import RunError
from headrace.calibrate import Calibration, calibrate, mount_of
from headrace.calibrate.calibration import PASSES
from headrace.calibrate.case import scenario, scenario_for_machine
from headrace.calibrate.limiting_resource import limiting_resource
from headrace.calibrate.measurements import ProgressCallback
from headrace.calibrate.run_report import RunReport
from headrace.calibrate.settings import settings
from headrace.calibration_fields import missing_parameters
from headrace.document_io import toml_value
from headrace.environment import of_directory
from headrace.fields import convert
from headrace.measure.conditions import OTHERS
from headrace.measure.report import ResultWarning
from headrace.profile.capture.overhead import REPETITIONS, OverheadMeasurement, TracerOverhead
from headrace.profile.capture.strace import Strace
from headrace.profile.paced_trace import write_paced
from headrace.profile.prediction import Case
from headrace.validate.captured_run import QUANTILE, CapturedRun, read_captured, with_processor_use
from headrace.validate.point import Point
from headrace.validate.prediction import NOTHING, Predicted, predict
from headrace.validate.program_run import ProgramRun, ProgramRuns
from headrace.validate.records import ApplicationRecord, PartRecord, TracerRecord
from headrace.validate.settings_overrides import Setting, settings_overrides
from headrace.validate.twin import Twin, check_machine_file

CONDITION = "others-computed"
"""Condition of the warnings about other programs."""
TRACER = "time of the tracer"
GROUP = "application"
"""Group of the point."""
COMPUTING, START_AND_END = "computing", "start and end"
"""Parts of the predicted time that are not simulated."""
NO_PHASES = scenario("application", 'block = "1 MiB"', 1)
"""A workload for the check of a machine file, which is no scenario without one."""


@dataclass(frozen=True)
class Application:
    """A captured program on a machine, and its prediction."""

    runs: ProgramRuns
    captured: CapturedRun
    captured_s: float
    """Time of the captured run, with the tracer."""
    overhead: TracerOverhead
    predicted: Predicted

    def record(self) -> ApplicationRecord:
        """Return the record of the program."""
        call, process = self.overhead.call, self.overhead.process_s
        simulated = self.captured.simulated_calls
        return ApplicationRecord(
            list(self.runs.command),
            self.runs.prepare,
            self.runs.cold,
            self.captured_s,
            simulated,
            max(self.captured.calls - simulated, 0),
            self.captured.measured_calls_s,
            TracerRecord(
                (call.gap_s.value, call.gap_s.half_width),
                (call.duration_s.value, call.duration_s.half_width),
                (process.value, process.half_width),
                self.captured.tracer_s,
            ),
            self._parts(),
        )

    def _parts(self) -> list[PartRecord]:
        """Return the parts of the predicted time."""
        report = self.predicted.report
        parts = [PartRecord(COMPUTING, None, self.captured.computing_s, None)]
        for name, completed in report.operations.items():
            if name in report.latency:
                seconds = completed.count * (report.latency[name].mean or 0.0)
                recorded = self.captured.durations_s.get(name)
                parts.append(PartRecord(name, completed.count, seconds, recorded))
        outside = self.captured.tail_s + self.overhead.launch_s
        return [*parts, PartRecord(START_AND_END, None, outside, None)]


def twin_of_program(
    directory: str | PathLike[str],
    command: Sequence[str],
    machine: str | PathLike[str] | None = None,
    *,
    prepare: str | None = None,
    cold: bool = False,
    settings_now: bool = False,
    sets: Sequence[str] = (),
    rounds: int = 5,
    passes: int = PASSES,
    on_prediction: Callable[[Predicted], object] | None = None,
    on_progress: ProgressCallback | None = None,
) -> Twin:
    """Predict the run time of a program, and measure it.

    Parameters
    ----------
    directory
        Directory on the file system to measure. Each run has a working directory of its own there.
    command
        The program and its arguments.
    machine
        Path of a machine file; None calibrates the directory.
    prepare
        Shell command that is run in the working directory before each run.
    cold
        Evict the files of the working directory from the page cache before each run.
    settings_now, sets, passes
        As in `headrace.validate.twin`.
    rounds
        Number of uncaptured runs, and of rounds of the calibration.
    on_prediction
        Called with the prediction before the program is measured.
    on_progress
        Called before each measurement and simulation.

    Raises
    ------
    ScenarioError
        If the file system is not supported, or the machine file cannot be simulated.
    RunError
        If programs cannot be traced, or the program fails or uses no file in its directory.
    OSError
        If a directory cannot be made or removed, or belongs to another user and root works.
    """
    report = on_progress or (lambda *_: None)
    now = settings(mount_of(directory))
    # Another user must not exchange files while root writes to them.
    os.close(_core.open_directory(directory, strictly=True))
    environment = of_directory(directory)
    strace = Strace(messages=True)
    if (reason := strace.available()) is not None:
        raise RunError(reason)
    runs = ProgramRuns.of_command(command, Path(directory), prepare, cold)
    overrides: dict[str, str] = {}
    compared: tuple[Setting, ...] = ()
    calibration: Calibration | None = None
    if machine is not None:
        overrides, compared = settings_overrides(
            check_machine_file(machine), NO_PHASES, now if settings_now else (), sets
        )
    with TemporaryDirectory(prefix="headrace-") as folder:
        if machine is None:
            # A program that cannot run costs no calibration.
            report(0, 1, runs.name)
            runs.run()
            calibration = calibrate(
                directory, rounds=rounds, passes=passes, on_progress=on_progress
            )
            file = Path(folder) / "machine.toml"
            file.write_text(calibration.toml, encoding="utf-8")
        else:
            file = Path(machine).resolve()
        steps = rounds + 4
        captured_run, captured, overhead = _captured(
            runs, strace, Path(folder), lambda done, name: report(done, steps, name)
        )
        report(3, steps, f"simulated: {runs.name}")
        predicted = predict_run(captured, overhead, file, Path(folder), cold, overrides)
        text = file.read_text(encoding="utf-8")
        loaded = simulate.load(scenario_for_machine(file, NO_PHASES), sets=overrides).loaded
    if on_prediction is not None:
        on_prediction(predicted)
    measured: list[ProgramRun] = []
    for number in range(rounds):
        report(4 + number, steps, f"run {number + 1} of {rounds}: {runs.name}")
        measured.append(runs.run())
    application = Application(runs, captured, captured_run.seconds, overhead, predicted)
    return Twin(
        text,
        (Point(runs.name, GROUP, tuple(run.seconds for run in measured), predicted),),
        (
            *(() if calibration is None else calibration.warnings),
            *convert(missing_parameters(loaded), list[ResultWarning]),
            *load_warnings(captured_run, measured),
        ),
        settings=compared,
        calibration=calibration,
        environment=environment,
        application=application.record(),
    )


def _captured(
    runs: ProgramRuns, strace: Strace, folder: Path, report: Callable[[int, str], object]
) -> tuple[ProgramRun, CapturedRun, TracerOverhead]:
    """Run a program under strace, and measure the time of the tracer before and after."""
    report(0, TRACER)
    measurement = OverheadMeasurement(strace.wrap, runs.directory)
    _measure(measurement)
    report(1, f"captured: {runs.name}")
    trace = folder / "trace"
    run = runs.run(lambda words: strace.wrap(words, trace))
    # Again: its time depends on the load of the processors.
    report(2, TRACER)
    _measure(measurement)
    overhead = measurement.overhead()
    try:
        captured = read_captured(trace, run.directory, overhead)
        return run, with_processor_use(captured, run.use, overhead), overhead
    except ValueError as error:
        raise RunError(f"{runs.name}: its calls cannot be evaluated: {error}") from None


def _measure(measurement: OverheadMeasurement) -> None:
    try:
        measurement.measure_calls(REPETITIONS)
        measurement.measure_processes(REPETITIONS)
    except (ValueError, subprocess.SubprocessError) as error:
        raise RunError(f"the time that strace adds cannot be measured: {error}") from None


def load_warnings(captured: ProgramRun, measured: Sequence[ProgramRun]) -> list[ResultWarning]:
    """Return a warning if other programs used the processors during the runs of a program."""
    warnings = []
    share = max((run.others for run in measured), default=0.0)
    if captured.others >= OTHERS:
        warnings.append(
            f"other programs and kernel threads used {captured.others:.0%} of the processors during"
            " the captured run: the time of the tracer is then uncertain"
        )
    if share >= OTHERS:
        warnings.append(
            f"other programs and kernel threads used up to {share:.0%} of the processors during the"
            " measured runs"
        )
    return [ResultWarning(CONDITION, message) for message in warnings]


def predict_run(
    captured: CapturedRun,
    overhead: TracerOverhead,
    machine: Path,
    folder: Path,
    cold: bool,
    sets: dict[str, str] | None = None,
) -> Predicted:
    """Predict the run time of a captured program.

    The interval contains the errors of the calibration for the simulated calls. It also contains
    the uncertainty of the tracer's time, and the spread of the processor's speed for all other
    time.

    Parameters
    ----------
    captured
        The captured run.
    overhead
        Time that the tracer adds.
    machine
        Path of the machine file.
    folder
        Directory for the trace that is simulated.
    cold
        True if no file is in the page cache at the start.
    sets
        Values that override the machine file, by path.

    Raises
    ------
    RunError
        If there is no call to simulate.
    ScenarioError
        As `predict` does.
    """
    if captured.simulated_calls == 0:
        raise RunError(
            "the program used no file in its working directory, so there is nothing to simulate:"
            " name files relative to that directory, and make its input with --prepare"
        )
    trace = folder / "calls.csv"
    write_paced(captured.records, trace)
    system = f"system = {toml_value(str(machine))}\n"
    # Waits occupy no core.
    case = Case(system, captured.records, "wait" if captured.waits else "compute", cached=not cold)
    in_calls = partial(seconds_in_calls, computing_s=captured.computing_s)
    calls = predict(case.scenario(trace), in_calls, limiting_resource, sets or NOTHING)
    seconds = calls.report.elapsed + captured.tail_s + overhead.launch_s
    if calls.interval is None:
        return replace(calls, seconds=seconds)
    rest = max(seconds - calls.seconds - captured.pauses_s, 0.0)
    others = math.hypot(
        captured.measured_half_width_s, QUANTILE * overhead.call.speed_spread * rest
    )
    least, most = calls.interval
    interval = (
        # All other time is at least 0.
        max(seconds - math.hypot(calls.seconds - least, others), least),
        seconds + math.hypot(most - calls.seconds, others),
    )
    return replace(calls, seconds=seconds, interval=interval)


def seconds_in_calls(report: RunReport, computing_s: float) -> float:
    """Return the part of a simulated time that is spent in calls, in seconds.

    Processes that run at the same time spend their times at the same time. The part of the run is
    the part of the sum over all processes.
    """
    in_calls = report.seconds_in_calls()
    whole = in_calls + computing_s
    return report.elapsed * in_calls / whole if whole > 0 else 0.0
