"""What was measured for a calibration, and the parameters that follow from it."""

import dataclasses
import platform
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self, TypeAlias

from headrace._core import VERSION, RunError, ScenarioError
from headrace.calibrate.checks import CHECKS, Check, predict_check
from headrace.calibrate.estimators import ESTIMATORS, probes_for
from headrace.calibrate.estimators.estimator import Estimator, known_settings
from headrace.calibrate.fitted_parameter import FITTED_PARAMETERS, FittedParameter, fit
from headrace.calibrate.hodges_lehmann import hodges_lehmann
from headrace.calibrate.machine_file import machine_file
from headrace.calibrate.parameter import Parameter, seconds_text
from headrace.calibrate.probe import Probe
from headrace.environment import Environment

ProgressCallback: TypeAlias = Callable[[int, int, str], object]
"""Called before each measurement with how many are done, how many there are, and what is next."""


@dataclass(frozen=True)
class Calibration:
    """What a machine and a file system under a directory are like."""

    directory: str
    file_system: str
    """Its kind, as ext4."""
    parameters: tuple[Parameter, ...]
    checks: tuple[Check, ...]
    started: datetime
    warnings: tuple[dict[str, str], ...] = ()
    """What a reader should know of its measurements: `condition` and `message`."""
    measured: "Measurements | None" = None
    """All that it follows from, if it follows from probes of a file system."""
    host: str = dataclasses.field(default_factory=platform.node)
    """The machine's name."""
    environment: Environment | None = None
    """Where and when it was measured, as `headrace.environment` has it."""

    def json(self) -> dict[str, Any]:
        """All figures."""
        return {
            "kind": "calibration",
            "directory": self.directory,
            "file_system": self.file_system,
            "host": self.host,
            "version": VERSION,
            "date": self.started.isoformat(timespec="seconds"),
            "parameters": [parameter.json() for parameter in self.parameters],
            "checks": [check.json() for check in self.checks],
            "warnings": list(self.warnings),
            "machine": self.toml,
            **({} if self.environment is None else {"environment": self.environment}),
            **({} if self.measured is None else self.measured.json()),
        }

    @property
    def toml(self) -> str:
        """The system's file."""
        return machine_file(
            self.directory, self.file_system, self.parameters, self.checks, self.started, self.host
        )


@dataclass(frozen=True)
class Measurements:
    """All that a calibration has read and measured: parameters follow from it alone."""

    directory: str
    file_system: str
    started: datetime
    read: tuple[Parameter, ...]
    """Settings that the kernel tells."""
    times: tuple[Mapping[str, float], ...]
    """What each round took of each probe, in seconds, by its name."""
    checks: Mapping[str, tuple[float, ...]]
    """What each round took of each check."""
    memory_given_back: bool
    """Whether the machine is a virtual one that gives free memory back to its host."""
    warnings: tuple[dict[str, str], ...] = ()
    host: str = dataclasses.field(default_factory=platform.node)
    """The machine's name."""
    environment: Environment | None = None
    """Where and when it was measured; None of what earlier versions saved."""

    def json(self) -> dict[str, Any]:
        """What a calibration's document has besides parameters and checks, so that it can be
        made again."""
        names = self.times[0]
        return {
            "settings": [it.field for it in self.read],
            "memory_given_back": self.memory_given_back,
            "probes": [{"name": it, "rounds_s": [of[it] for of in self.times]} for it in names],
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """By a calibration's document.

        The fields that are read are there and of their types. Raises ScenarioError if it lacks
        what this version measures, or rounds of it, ValueError if a text says nothing.
        """
        for kind in ("probes", "checks"):
            check_once(kind, document[kind])
        settings = set(document["settings"])
        parameters = (it for it in document["parameters"] if it["field"] in settings)
        rounds = {it["name"]: [float(time) for time in it["rounds_s"]] for it in document["probes"]}
        read = tuple(map(Parameter.from_json, parameters))
        checks = {
            it["name"]: tuple(float(of["measured_s"]) for of in it["rounds"])
            for it in document["checks"]
        }
        count = max(map(len, rounds.values()), default=0)
        told = {**rounds, **checks}
        for name in (*(it.name for it in all_probes(read)), *(case.name for case in CHECKS)):
            if len(told.get(name, ())) != count or count == 0:
                raise ScenarioError(
                    f"it has no times of {name!r} in each round, which this version measures:"
                    " measure again"
                )
        for probe in all_probes(read):
            if probe.made_by != "null" and min(rounds[probe.name]) <= 0:
                raise ScenarioError(f"{probe.name!r} took no time: expected more than 0 s")
        rounds = {name: times for name, times in rounds.items() if len(times) == count}
        return cls(
            str(document["directory"]),
            str(document["file_system"]),
            datetime.fromisoformat(document["date"]),
            read,
            tuple(
                {name: times[number] for name, times in rounds.items()} for number in range(count)
            ),
            checks,
            bool(document["memory_given_back"]),
            tuple(document["warnings"]),
            str(document["host"]),
            document.get("environment"),
        )

    def calibration(self, on_progress: ProgressCallback | None = None) -> Calibration:
        """What follows from it. Raises RunError if a parameter that is needed cannot be told from
        any round."""
        parameters = [*self.read, *_estimate_parameters(self.times, self.read)]
        fitted_parameters = fitted_parameters_for(self.read)
        with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
            machine = Path(folder) / "machine.toml"

            def write() -> None:
                text = machine_file(
                    self.directory, self.file_system, parameters, (), self.started, self.host
                )
                machine.write_text(text, encoding="utf-8")

            simulations = len(fitted_parameters) + len(CHECKS)
            for done, fitted in enumerate(fitted_parameters):
                if on_progress is not None:
                    on_progress(done, simulations, f"simulated: {fitted.probe.name}")
                write()
                applies = self.memory_given_back or not fitted.free_page_reporting_only
                values = tuple(
                    fit(fitted, machine, times[fitted.probe.name], own) if applies else 0.0
                    for times, own in self._rounds(parameters)
                )
                parameters.append(fitted_from_majority(fitted, values))
            write()
            own = [values for _, values in self._rounds(parameters)]
            checks = []
            for number, case in enumerate(CHECKS):
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
            self.warnings,
            self,
            self.host,
            self.environment,
        )

    def _rounds(
        self, parameters: Iterable[Parameter]
    ) -> Iterator[tuple[Mapping[str, float], Mapping[str, str]]]:
        """Of each round the times of the probes, and its own values of parameters by path: what
        the machine was at a time goes together."""
        measured = [it for it in parameters if it.measured]
        for number, times in enumerate(self.times):
            yield times, {it.field: it.text(it.values[number]) for it in measured}


def check_once(kind: str, found: Iterable[Mapping[str, Any]]) -> None:
    """Raises ScenarioError if one of what a document has of a kind is there twice."""
    for name, times in Counter(it["name"] for it in found).items():
        if times > 1:
            raise ScenarioError(f"{kind} has {name!r} {times} times: expected each once")


def fitted_parameters_for(read: Iterable[Parameter]) -> list[FittedParameter]:
    """The balances, as they are on a machine of such settings."""
    known = {it.field for it in read}
    return [fitted.for_machine(known) for fitted in FITTED_PARAMETERS]


def all_probes(read: Sequence[Parameter]) -> list[Probe]:
    """All that a calibration measures on a machine of such settings, but for the checks."""
    return [
        *probes_for(known_settings(read)),
        *(fitted.probe for fitted in fitted_parameters_for(read)),
    ]


def fitted_from_majority(fitted: FittedParameter, values: tuple[float, ...]) -> Parameter:
    """The parameter that was found so in each round: nothing if half of the rounds show nothing
    of it, since what the others saw was then something else that kept the device."""
    method = fitted.method
    seen = sum(value > 0 for value in values)
    if 0 < seen <= len(values) / 2:
        method += f"; left out, as {seen} of {len(values)} rounds alone showed anything of it"
        values = (0.0,) * len(values)
    return Parameter(fitted.field, values, "s", method)


def _estimate_parameters(
    times: Sequence[Mapping[str, float]],
    read: Sequence[Parameter],
    estimators: Iterable[Estimator] = ESTIMATORS,
) -> list[Parameter]:
    """Each equation for the middles of the rounds' times, which tell the parameter, and for each
    round with what that round gave before, which tells its spread.

    What an equation's rounds have in common is found first. Where a round does not tell a
    parameter, the middle of those that do is its value, for that round too.

    Raises RunError if no round tells one that is needed.
    """
    middles = {name: hodges_lehmann([of[name] for of in times]) for name in times[0]}
    known = known_settings(read)
    # One round is what the machine was at a time: its values go together.
    known_then = [dict(known) for _ in times]
    solved = []
    for estimator in (it for it in estimators if it.applies(known)):
        common = estimator.common(middles, known)
        known |= common
        rounds = []
        for of, then in zip(times, known_then, strict=True):
            then |= common
            rounds.append(common | estimator.solve(of, then))
        whole = common | estimator.solve(middles, known)
        fields = dict.fromkeys(field for found in rounds for field in found)
        for field in estimator.needed:
            if field not in fields:
                raise RunError(
                    f"{field} cannot be told from {estimator.method}: in each of {len(rounds)}"
                    " rounds the large ones took no longer than the small ones, which something"
                    " else kept waiting; repeat this when processors and device are less busy,"
                    " or with more rounds"
                )
        for field in fields:
            told = [found[field] for found in rounds if field in found]
            pooled = whole.get(field) if len(told) == len(rounds) else None
            known[field] = hodges_lehmann(told) if pooled is None else pooled
            values = tuple(found.get(field, known[field]) for found in rounds)
            for then, value in zip(known_then, values, strict=True):
                then[field] = value
            unit = estimator.units.get(field.rsplit(".", 1)[-1], "s")
            method = estimator.method
            if len(told) < len(rounds):
                method += f"; {len(told)} of {len(rounds)} rounds tell it"
            points = estimator.curves.get(field, {})
            curve = tuple(
                f"{name}: {seconds_text(middles[probe.name])}" for name, probe in points.items()
            )
            solved.append(Parameter(field, values, unit, method, curve, pooled))
    return solved
