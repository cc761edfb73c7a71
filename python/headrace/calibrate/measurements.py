"""Measured times of a calibration, and the parameters estimated from them."""

import dataclasses
import platform
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self, TypeAlias

from msgspec import UNSET

from headrace._core import VERSION, RunError, ScenarioError
from headrace.calibrate.checks import ADDED, CHECKS, Check, predict_check
from headrace.calibrate.estimators import ESTIMATORS, probes_for
from headrace.calibrate.estimators.estimator import Estimator, known_settings
from headrace.calibrate.fitted_parameter import (
    CONDITION,
    FITTED_PARAMETERS,
    FitResult,
    FittedParameter,
    combine,
    fit,
    not_found_warning,
)
from headrace.calibrate.hodges_lehmann import hodges_lehmann
from headrace.calibrate.machine_file import machine_file
from headrace.calibrate.other_load import CONDITION as BUSY
from headrace.calibrate.other_load import busy_warnings
from headrace.calibrate.parameter import Parameter
from headrace.calibrate.probe import Probe
from headrace.calibrate.records import (
    CalibrationRecord,
    MeasuredCalibration,
    ProbeRecord,
    SavedCalibration,
)
from headrace.environment import Environment
from headrace.fields import to_document
from headrace.measure.report import ResultWarning
from headrace.quantities import measured_time

REMOVED_SETTINGS = frozenset({"machine.copying.l1"})
"""Settings that earlier versions read from the kernel and saved."""

ProgressCallback: TypeAlias = Callable[[int, int, str], object]
"""Called before each measurement with the number done, the total, and the name of the next."""


@dataclass(frozen=True)
class Calibration:
    """Parameters and checks of a machine and of the file system under a directory."""

    directory: str
    file_system: str
    """Type of the file system, such as ext4."""
    parameters: tuple[Parameter, ...]
    checks: tuple[Check, ...]
    started: datetime
    warnings: tuple[ResultWarning, ...] = ()
    measured: "Measurements | None" = None
    """The measured times; None for a calibration of servers."""
    host: str = dataclasses.field(default_factory=platform.node)
    """Name of the machine."""
    environment: Environment | None = None
    """Where and when the calibration ran."""

    def json(self) -> dict[str, Any]:
        """Return the JSON document."""
        document: dict[str, Any] = to_document(self.record())
        return document

    def record(self) -> CalibrationRecord:
        """Return the record of the calibration."""
        record = CalibrationRecord(
            directory=self.directory,
            file_system=self.file_system,
            host=self.host,
            version=VERSION,
            date=self.started.isoformat(timespec="seconds"),
            parameters=[parameter.record() for parameter in self.parameters],
            checks=[check.record() for check in self.checks],
            warnings=list(self.warnings),
            machine=self.toml,
            environment=UNSET if self.environment is None else self.environment,
        )
        return record if self.measured is None else self.measured.add_to(record)

    @property
    def toml(self) -> str:
        """Text of the machine file."""
        others = self.measured.others if self.measured is not None else ()
        return machine_file(
            self.directory,
            self.file_system,
            self.parameters,
            self.checks,
            self.started,
            self.host,
            others,
        )


@dataclass(frozen=True)
class Measurements:
    """All settings and times of a calibration. They determine every parameter."""

    directory: str
    file_system: str
    started: datetime
    read: tuple[Parameter, ...]
    """Settings read from the kernel."""
    times: tuple[Mapping[str, float], ...]
    """Seconds of each probe by name, one mapping per round."""
    checks: Mapping[str, tuple[float, ...]]
    """Seconds of each check, one value per round."""
    memory_given_back: bool
    """True on a virtual machine that reports free pages to its host."""
    warnings: tuple[ResultWarning, ...] = ()
    host: str = dataclasses.field(default_factory=platform.node)
    """Name of the machine."""
    environment: Environment | None = None
    """Where and when the calibration ran; None in files of earlier versions."""
    others: tuple[float, ...] = ()
    """Share of the processors that other programs used, one value per round; empty in files of
    earlier versions."""

    def add_to(self, record: CalibrationRecord) -> MeasuredCalibration:
        """Return a calibration's record with that from which its parameters can be estimated
        again."""
        names = self.times[0]
        own = {field: getattr(record, field) for field in record.__struct_fields__}
        return MeasuredCalibration(
            **own,
            settings=[setting.field for setting in self.read],
            memory_given_back=self.memory_given_back,
            probes=[ProbeRecord(name, [times[name] for times in self.times]) for name in names],
            others=list(self.others),
        )

    @classmethod
    def of_record(cls, record: SavedCalibration) -> Self:
        """Read the measurements from a calibration's record.

        Raises
        ------
        ScenarioError
            If a probe or check of this version is missing or incomplete.
        ValueError
            If a text cannot be parsed.
        """
        check_once("probes", (one.name for one in record.probes))
        check_once("checks", (check.name for check in record.checks))
        settings = set(record.settings).difference(REMOVED_SETTINGS)
        read = tuple(Parameter.of_setting(it) for it in record.parameters if it.field in settings)
        rounds = {one.name: one.rounds_s for one in record.probes}
        checks = {it.name: tuple(round_.measured_s for round_ in it.rounds) for it in record.checks}
        count = max(map(len, rounds.values()), default=0)
        estimates = {**rounds, **checks}
        further = {probe.name for fitted in FITTED_PARAMETERS for probe in fitted.more_probes}
        missing = further - rounds.keys()
        probes = [probe for probe in all_probes(read) if probe.name not in missing]
        needed = [case.name for case in CHECKS if case.name not in ADDED or case.name in checks]
        for name in (*(probe.name for probe in probes), *needed):
            if len(estimates.get(name, ())) != count or count == 0:
                raise ScenarioError(
                    f"the probe {name!r} lacks times of some rounds, which this version needs:"
                    " measure again with headrace twin"
                )
        for probe in probes:
            if probe.made_by != "null" and min(rounds[probe.name]) <= 0:
                raise ScenarioError(
                    f"the probe {probe.name!r} has a time of 0 s: expected more than 0 s"
                )
        rounds = {name: times for name, times in rounds.items() if len(times) == count}
        return cls(
            record.directory,
            record.file_system,
            datetime.fromisoformat(record.date),
            read,
            tuple(
                {name: times[number] for name, times in rounds.items()} for number in range(count)
            ),
            checks,
            record.memory_given_back,
            (
                *(old for old in record.warnings if old.condition not in (CONDITION, BUSY)),
                *_ignored_settings(record.settings),
            ),
            record.host,
            record.environment,
            tuple(record.others),
        )

    def calibration(self, on_progress: ProgressCallback | None = None) -> Calibration:
        """Estimate all parameters and simulate all checks.

        Raises
        ------
        RunError
            If no round yields a required parameter.
        """
        parameters = [*self.read, *_estimate_parameters(self.times, self.read)]
        fitted_parameters = fitted_parameters_for(self.read)
        results: list[tuple[FittedParameter, FitResult]] = []
        with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
            machine = Path(folder) / "machine.toml"

            def write() -> None:
                text = machine_file(
                    self.directory, self.file_system, parameters, (), self.started, self.host
                )
                machine.write_text(text, encoding="utf-8")

            cases = [case for case in CHECKS if case.name in self.checks]
            simulations = len(fitted_parameters) + len(cases)
            for done, fitted in enumerate(fitted_parameters):
                if on_progress is not None:
                    on_progress(done, simulations, f"simulated: {fitted.probe.name}")
                write()
                applies = self.memory_given_back or not fitted.free_page_reporting_only
                rounds = [
                    [
                        value
                        for probe in fitted.probes
                        if applies
                        and probe.name in times
                        and (value := fit(fitted, probe, machine, times[probe.name], own))
                    ]
                    for times, own in self._rounds(parameters)
                ]
                results.append((fitted, combine(fitted, rounds)))
                parameters.append(results[-1][1].parameter)
            write()
            own = [values for _, values in self._rounds(parameters)]
            checks = []
            for number, case in enumerate(cases):
                if on_progress is not None:
                    on_progress(
                        len(fitted_parameters) + number, simulations, f"simulated: {case.name}"
                    )
                checks.append(predict_check(str(machine), case, self.checks[case.name], own))
        return Calibration(
            self.directory,
            self.file_system,
            tuple(parameters),
            tuple(checks),
            self.started,
            (*self.warnings, *not_found_warning(results), *busy_warnings(self.others)),
            self,
            self.host,
            self.environment,
        )

    def _rounds(
        self, parameters: Iterable[Parameter]
    ) -> Iterator[tuple[Mapping[str, float], Mapping[str, str]]]:
        """Yield each round's probe times, and its own parameters by field. One round describes the
        machine at one time, so its values belong together."""
        measured = [parameter for parameter in parameters if parameter.measured]
        for number, times in enumerate(self.times):
            yield times, {entry.field: entry.text(entry.values[number]) for entry in measured}


def _ignored_settings(settings: Iterable[str]) -> tuple[ResultWarning, ...]:
    """Return a warning if a document has settings that only earlier versions read."""
    ignored = [setting for setting in settings if setting in REMOVED_SETTINGS]
    if not ignored:
        return ()
    message = f"the calibration has settings of an earlier version: {', '.join(ignored)}: ignored"
    return (ResultWarning("settings-ignored", message),)


def check_once(kind: str, names: Iterable[str]) -> None:
    """Check that no name occurs twice in a list of a document.

    Raises
    ------
    ScenarioError
        If one does.
    """
    for name, times in Counter(names).items():
        if times > 1:
            raise ScenarioError(f"{kind}: {name!r} occurs {times} times: expected it once")


def fitted_parameters_for(read: Iterable[Parameter]) -> list[FittedParameter]:
    """Return the fitted parameters for a machine with these settings."""
    known = {setting.field for setting in read}
    return [fitted.for_machine(known) for fitted in FITTED_PARAMETERS]


def all_probes(read: Sequence[Parameter]) -> list[Probe]:
    """Return all probes for a machine with these settings; checks are not included."""
    return [
        *probes_for(known_settings(read)),
        *(probe for fitted in fitted_parameters_for(read) for probe in fitted.probes),
    ]


def _estimate_parameters(
    times: Sequence[Mapping[str, float]],
    read: Sequence[Parameter],
    estimators: Iterable[Estimator] = ESTIMATORS,
) -> list[Parameter]:
    """Apply all estimators to the rounds.

    The value of a parameter follows from the Hodges-Lehmann estimates of the probe times. Its
    spread follows from the single rounds. Parameters that an estimator shares between rounds come
    first. A round that does not yield a parameter takes the estimate of the others.

    Raises
    ------
    RunError
        If no round yields a required parameter.
    """
    middles = {name: hodges_lehmann([row[name] for row in times]) for name in times[0]}
    known = known_settings(read)
    # One round describes the machine at one time, so its values belong together.
    known_then = [dict(known) for _ in times]
    solved = []
    for estimator in (one for one in estimators if one.applies(known)):
        common = estimator.common(middles, known)
        known |= common
        rounds = []
        for measured, then in zip(times, known_then, strict=True):
            then |= common
            rounds.append(common | estimator.solve(measured, then))
        whole = common | estimator.solve(middles, known)
        fields = dict.fromkeys(field for round_ in rounds for field in round_)
        for field in estimator.needed:
            if field not in fields:
                raise RunError(
                    f"{field} cannot be estimated from {estimator.method}: in all"
                    f" {len(rounds)} rounds large transfers took no longer than"
                    " small ones, because other programs delayed them: repeat"
                    " when processors and device are less busy, or raise --repetitions"
                )
        for field in fields:
            estimates = [round_[field] for round_ in rounds if field in round_]
            pooled = whole.get(field) if len(estimates) == len(rounds) else None
            known[field] = hodges_lehmann(estimates) if pooled is None else pooled
            values = tuple(round_.get(field, known[field]) for round_ in rounds)
            for then, value in zip(known_then, values, strict=True):
                then[field] = value
            unit = estimator.units.get(field.rsplit(".", 1)[-1], "s")
            method = estimator.method
            if len(estimates) < len(rounds):
                method += f"; from {len(estimates)} of {len(rounds)} rounds"
            points = estimator.curves.get(field, {})
            curve = tuple(
                f"{name}: {measured_time(middles[probe.name])}" for name, probe in points.items()
            )
            solved.append(Parameter(field, values, unit, method, curve, pooled))
    return solved
