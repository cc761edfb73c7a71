"""Points that are measured in turn, several times over."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from headrace import _core, kinds, progress_events, ranks
from headrace.environment import of_directory
from headrace.environment import resumed as resumed_environment
from headrace.files import save_json
from headrace.host import this_host
from headrace.interruption import STOP_EXCEPTIONS
from headrace.measure import space
from headrace.measure.benchmark import measure
from headrace.measure.measurement import Measurement
from headrace.measure.measurement_site import measurement_site
from headrace.measure.micro.completed_points import CompletedPoints
from headrace.measure.micro.study import RATE, THROUGHPUT, Point, Row, Study, called
from headrace.measure.micro.summary import KIND, summed_up
from headrace.measure.removal import with_note
from headrace.measure.report import Stop
from headrace.measure.workload import load
from headrace.quantities import numbered
from headrace.store import open as open_store

ProgressCallback: TypeAlias = Callable[[int, int, str], object]
"""Callback before each measurement: points done, their total, and the name of the next one."""


@dataclass(frozen=True)
class StudyResult:
    """Result of a study: one row for each figure of a point and repetition."""

    document: dict[str, Any]
    """All figures, as the command prints them with `--json`."""
    rows: pl.DataFrame
    """Every single figure: parameters, test, repeat, bytes, operations and seconds."""

    def _repr_html_(self) -> str:
        return kinds.html(KIND, self.document)

    def keep(
        self, *, started: datetime | None = None, labels: Mapping[str, str] | None = None
    ) -> str:
        """Save the result in the store and return its identifier."""
        return open_store().add(
            self.document, {"rows": self.rows}, kind=KIND, started=started, labels=labels
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Save the result as JSON, atomically."""
        rows = self.rows.to_dict(as_series=False)
        save_json(Path(path), self.document | {"host": this_host(), "rows": rows})


SoFar: TypeAlias = Callable[[StudyResult], object]
"""Callback with the partial result after each point."""


def run_study(
    study: Study,
    below: str | PathLike[str],
    *,
    repeats: int = 3,
    seconds: float | None = None,
    on_progress: ProgressCallback | None = None,
    resumed: Mapping[str, Any] | None = None,
    so_far: SoFar | None = None,
) -> StudyResult:
    """Measure every point once, then every point again, so that disturbances affect all points
    alike.

    On Ctrl-C the partial result is returned, and `document["stop"]["reason"]` is `interrupted`.
    Points of `resumed`, the document of an earlier run with its rows, are not measured again.
    `so_far` is called with the result after each point. After `seconds` no more points begin, and
    `document["stop"]["reason"]` is `time`.

    Raises OSError or RunError as `measure` does. Raises ValueError if the files of a point do not
    fit, or if `resumed` is of another study, version, host or file system.
    """
    here = measurement_site(below)
    environment = resumed_environment(of_directory(below), resumed)
    known = CompletedPoints.of(study, here, resumed)
    # On several hosts, each has the processes of one.
    several = {"clients.count": ranks.count()} if ranks.count() > 1 else None
    scenarios = [load(point.scenario, several) for point in study.points]
    ranks.current().run_on_all(lambda: _check_room(study, scenarios, below))
    space.state_need(numbered(len(scenarios), "point"), scenarios, below, repeats)
    shown = known.with_points_of(study)
    rows = known.rows
    warnings = dict(known.warnings)
    stop = Stop("unfinished")

    def result() -> StudyResult:
        in_order = _in_order(shown, rows)
        repeated = max([repeats, *(1 + row.repeat for row in rows)])
        document = summed_up(
            shown, here, environment, repeated, in_order, list(warnings.values()), stop
        )
        table = [row.columns() for row in in_order]
        return StudyResult(document, pl.DataFrame(table, infer_schema_length=None))

    total = repeats * len(study.points)
    began, begun = time.monotonic(), False
    for number in range(total):
        repeat, point = number // len(study.points), study.points[number % len(study.points)]
        if known.measured(point, repeat):
            continue
        if seconds is not None and begun and _passed(began) >= seconds:
            stop = Stop("time")
            break
        begun = True
        if on_progress is not None:
            on_progress(number, total, called(study, point.parameters))
        try:
            measured = measure(scenarios[number % len(scenarios)], below)
        except STOP_EXCEPTIONS as error:
            # While files were made: there is nothing of this point.
            stop = Stop("interrupted")
            warnings |= {one.condition: one for one in with_note(error)}
            break
        except (_core.RunError, _core.ScenarioError, OSError) as error:
            # Such as a full disk. The finished points remain.
            if not rows or ranks.count() > 1:
                raise
            stop = Stop("failed", f"{called(study, point.parameters)}: {error}")
            warnings |= {one.condition: one for one in with_note(error)}
            break
        for warning in measured.report.warnings:
            warnings.setdefault(warning.condition, warning)
        if (early := measured.report.early) is not None:
            stop = early
            break
        # Replace rows of a point whose measurement was saved only in part.
        rows = [row for row in rows if not row.is_of(point, repeat)]
        new = _rows(point, repeat, measured)
        rows += new
        progress_events.finish_step(
            number + 1, called(study, point.parameters), _step_figures(point, repeat, new)
        )
        if measured.stop_signal is not None and number + 1 < total:
            stop = Stop("interrupted")
            break
        if so_far is not None and number + 1 < total:
            so_far(result())
    else:
        stop = Stop("workload")
    return result()


def _step_figures(point: Point, repeat: int, rows: Sequence[Row]) -> dict[str, float | str]:
    """Return the parameters of a measured point, and its rate by test: operations/s, or MB/s."""
    values: dict[str, float | str] = {**point.parameters, "repetition": repeat + 1}
    for row in rows:
        if row.seconds > 0:
            rate = row.unit == RATE
            amount = row.operations if rate else row.bytes / 1e6
            values[f"{row.test} ({'operations/s' if rate else 'MB/s'})"] = amount / row.seconds
    return values


def _passed(began: float) -> float:
    """Seconds since a time; of several ranks, by the first one's clock."""
    passed: float = ranks.current().broadcast(time.monotonic() - began)
    return passed


def _in_order(study: Study, rows: Sequence[Row]) -> list[Row]:
    """Rows repeat by repeat, and in each as the points of a study are."""
    keys = list(study.points[0].parameters)
    places: dict[tuple[Any, ...], int] = {}
    for at, point in enumerate(study.points):
        values = tuple(point.parameters[key] for key in keys)
        # Tests of an earlier run's points are known from their rows only.
        places |= {values: at} | {(*values, test.name): at for test in point.tests}

    def place_of(row: Row) -> tuple[int, int]:
        values = tuple(row.parameters[key] for key in keys)
        return row.repeat, places.get((*values, row.test), places.get(values, len(places)))

    return sorted(rows, key=place_of)


def _check_room(
    study: Study, scenarios: Sequence[_core.Loaded], below: str | PathLike[str]
) -> None:
    """Check, before any point is measured, that the files of each fit; the largest first."""
    points = zip(study.points, scenarios, strict=True)
    for point, scenario in sorted(points, key=lambda it: _core.room_needed(it[1]), reverse=True):
        try:
            space.check_room(scenario, below)
        except ValueError as error:
            raise ValueError(f"{called(study, point.parameters)}: {error}") from None


def _rows(point: Point, repeat: int, measured: Measurement) -> list[Row]:
    report = measured.report
    phases = {(entry.phase, entry.operation): entry for entry in report.phases or ()}
    rows = []
    for test in point.tests:
        phase = phases[test.phase, test.operation]
        end = phases[test.until or (test.phase, test.operation)]
        rows.append(
            Row(
                parameters=point.parameters,
                test=test.name,
                repeat=repeat,
                unit=RATE if test.rate else THROUGHPUT,
                bytes=int(phase.bytes),
                operations=int(phase.count),
                # From the common start to the slowest process's end: a lower bound of the
                # aggregate rate (Hindman 2011, section 4.2.4).
                seconds=end.to_s - phase.from_s,
                # Share of one processor over the whole point.
                cpu=report.counters.cpu_own * report.counters.processors,
                in_memory=point.in_memory(report.files.bytes),
            )
        )
    return rows
