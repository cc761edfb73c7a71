"""A digital twin: a machine is calibrated, predicted for cases it has not seen, and measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias

from headrace import measure
from headrace._core import VERSION
from headrace.validate.breakdown import Breakdown, Run, from_counters
from headrace.validate.cases import CASES, Case
from headrace.validate.discrepancy import explanation
from headrace.validate.point import Point, seconds_in_calls, summary
from headrace.validate.prediction import predict

Told: TypeAlias = Callable[[int, int, str], object]
"""Called before each measurement with how many are done, how many there are, and what is next."""


@dataclass(frozen=True)
class Twin:
    """Cases on a machine: measured in turns, and predicted."""

    machine: str
    """The text of the calibrated system's file."""
    points: tuple[Point, ...]
    warnings: tuple[dict[str, str], ...]
    breakdowns: tuple[Breakdown, ...] = ()
    """Where the time went, of those cases of which that is known."""

    def json(self) -> dict[str, Any]:
        """All figures."""
        return {
            "kind": "validation",
            "scenario": {"name": "twin", "description": "a calibrated machine and itself"},
            "version": VERSION,
            "machine": self.machine,
            "points": [point.json() for point in self.points],
            "summary": summary(self.points),
            "warnings": list(self.warnings),
            **explanation(self.breakdowns),
        }


def twin(
    directory: str | PathLike[str],
    machine: str | PathLike[str],
    *,
    cases: Sequence[Case] = CASES,
    rounds: int = 3,
    told: Told | None = None,
) -> Twin:
    """Predicts the cases from a system's file, and measures them in a directory: all of them
    once, then all again.

    Raises ScenarioError if the file describes no system that can be simulated, OSError and
    RunError as `headrace.measure.measure` does, KeyboardInterrupt.
    """
    file = Path(machine).resolve()
    # Before anything is measured, so that a wrong file costs no time.
    predicted = [predict(_with(file, case), _figure(case)) for case in cases]
    runs: list[list[Run]] = [[] for _ in cases]
    warnings: dict[str, dict[str, str]] = {}
    for number in range(rounds * len(cases)):
        place = number % len(cases)
        case = cases[place]
        if told is not None:
            told(number, rounds * len(cases), case.name)
        measured = measure.measure(measure.load(case.work), directory)
        if measured.document["stop"]["reason"] == "interrupted":
            raise KeyboardInterrupt
        if measured.partial:
            raise OSError(measured.document["error"])
        runs[place].append(Run.of(measured, case.processes))
        for warning in measured.document["warnings"]:
            warnings.setdefault(warning["condition"], warning)
    points = [
        Point(case.name, case.group, tuple(run.seconds for run in of), it)
        for case, of, it in zip(cases, runs, predicted, strict=True)
    ]
    breakdowns = [
        from_counters(point, case.processes, of)
        for point, case, of in zip(points, cases, runs, strict=True)
    ]
    return Twin(
        file.read_text(encoding="utf-8"),
        tuple(points),
        tuple(warnings.values()),
        tuple(it for it in breakdowns if it is not None),
    )


def _with(machine: Path, case: Case) -> str:
    """A case on a machine."""
    name = fspath(machine).replace("\\", "\\\\").replace('"', '\\"')
    return f'system = "{name}"\n{case.work}'


def _figure(case: Case) -> Callable[[dict[str, Any]], float]:
    return lambda document: seconds_in_calls(document, case.processes)
