"""Points that are measured in turn, several times over, and summed up by medians."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from typing import Any, TypeAlias

import polars as pl
import psutil

from headrace import _core, ranks
from headrace.host import this_host
from headrace.measure.benchmark import measure
from headrace.measure.measurement import Measurement
from headrace.measure.workload import load
from headrace.report.units import binary_size
from headrace.store import open as open_store

Parameter: TypeAlias = int | str
Told: TypeAlias = Callable[[int, int, str], object]
"""Called before each measurement with how many are done, how many there are, and what is next."""

THROUGHPUT, RATE = "throughput", "per_second"
"""What counts of a test: bytes a second, or operations a second."""


@dataclass(frozen=True)
class Figure:
    """One figure of a point: what was done in a phase of its workload."""

    name: str
    phase: int
    operation: str
    until: tuple[int, str] | None = None
    """The phase and operation whose end counts, if not its own: the sync behind a write."""
    rate: bool = False
    """Whether operations a second count, rather than bytes."""


@dataclass(frozen=True)
class Point:
    """A workload, and the figures that are taken from it."""

    parameters: Mapping[str, Parameter]
    """By the names of the study's columns; sizes in bytes."""
    scenario: str
    """Clients and workload, as a scenario has them."""
    tests: Sequence[Figure]
    stable: bool = False
    """Whether the page cache has no part in it: it is passed by, or emptied before."""

    def in_memory(self, held: int) -> bool:
        """Whether memory may have answered for files that together hold so many bytes."""
        return not self.stable and held < psutil.virtual_memory().total


@dataclass(frozen=True)
class Study:
    """A micro-benchmark."""

    name: str
    """As the command is called."""
    title: str
    points: Sequence[Point]
    sizes: Sequence[str] = ()
    """The parameters that are sizes in bytes."""


@dataclass(frozen=True)
class StudyResult:
    """What the points gave."""

    document: dict[str, Any]
    """All figures, as the command prints them with `--json`."""
    rows: pl.DataFrame
    """Every single figure: parameters, test, repeat, bytes, operations and seconds."""

    def keep(
        self, *, started: datetime | None = None, labels: Mapping[str, str] | None = None
    ) -> str:
        """Keeps it in the store; gives the identifier."""
        return open_store().add(
            self.document,
            {"rows": self.rows},
            kind="measured",
            started=started or datetime.now(UTC),
            labels=labels,
        )


def carry_out(
    study: Study, below: str | PathLike[str], *, repeats: int = 3, told: Told | None = None
) -> StudyResult:
    """Measures every point once, then every point again: whatever else the machine does
    disturbs all of them alike.

    On Ctrl-C the figures until then are summed up, and `document["stop"]["reason"]` is
    `interrupted`.

    Raises OSError or RunError as `measure` does.
    """
    rows: list[dict[str, Any]] = []
    warnings: dict[str, dict[str, str]] = {}
    reason = "workload"
    error = None
    total = repeats * len(study.points)
    for number in range(total):
        repeat, point = number // len(study.points), study.points[number % len(study.points)]
        if told is not None:
            told(number, total, _called(study, point.parameters))
        # On several hosts, each has the processes of one.
        several = {"clients.count": ranks.count()} if ranks.count() > 1 else None
        measured = measure(load(point.scenario, several), below)
        if measured.partial:
            reason = measured.document["stop"]["reason"]
            error = measured.document.get("error")
            break
        rows.extend(_rows(point, repeat, measured))
        for warning in measured.document["warnings"]:
            warnings.setdefault(warning["condition"], warning)
    return StudyResult(
        _document(study, repeats, rows, list(warnings.values()), reason, error),
        pl.DataFrame(rows, infer_schema_length=None),
    )


def _rows(point: Point, repeat: int, measured: Measurement) -> list[dict[str, Any]]:
    phases = {(it["phase"], it["operation"]): it for it in measured.document["phases"]}
    rows = []
    for test in point.tests:
        phase = phases[test.phase, test.operation]
        end = phases[test.until or (test.phase, test.operation)]
        rows.append(
            {
                **point.parameters,
                "test": test.name,
                "repeat": repeat,
                "unit": RATE if test.rate else THROUGHPUT,
                "bytes": phase["bytes"],
                "operations": phase["count"],
                # From the common start to the slowest process's end: a lower bound of the
                # aggregate rate (Hindman 2011, section 4.2.4).
                "seconds": end["to_s"] - phase["from_s"],
                "in_memory": point.in_memory(measured.document["files"]["bytes"]),
            }
        )
    return rows


def _document(
    study: Study,
    repeats: int,
    rows: Sequence[Mapping[str, Any]],
    warnings: Sequence[Mapping[str, str]],
    reason: str,
    error: str | None,
) -> dict[str, Any]:
    keys = list(study.points[0].parameters)
    by_point: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        by_point.setdefault((*(row[key] for key in keys), row["test"]), []).append(row)
    summary = []
    for (*values, test), of_point in by_point.items():
        rates = sorted(rate for row in of_point if (rate := _rate(row)) is not None)
        summary.append(
            {
                **dict(zip(keys, values, strict=True)),
                "test": test,
                "unit": of_point[0]["unit"],
                "median": statistics.median(rates) if rates else None,
                "least": rates[0] if rates else None,
                "most": rates[-1] if rates else None,
                "repeats": len(rates),
                "in_memory": any(row["in_memory"] for row in of_point),
            }
        )
    document: dict[str, Any] = {
        "kind": "measured",
        "benchmark": study.name,
        "scenario": {"name": f"bench {study.name}", "description": study.title},
        "version": _core.VERSION,
        "host": this_host(),
        "stop": {"reason": reason},
        "wanted_repeats": repeats,
        "parameters": keys,
        "sizes": list(study.sizes),
        "summary": summary,
        "repeats": [
            _catalogued(study, [(row, _rate(row)) for row in rows if row["repeat"] == repeat])
            for repeat in range(repeats)
        ],
        "warnings": list(warnings),
        "points": [
            {"parameters": dict(point.parameters), "scenario": point.scenario}
            for point in study.points
        ],
    }
    if ranks.count() > 1:
        # The clients of each point's scenario, each with its processes.
        document["ranks"] = ranks.count()
    if error is not None:
        document["error"] = error
    # As the store catalogues them: one figure for each point and test.
    return document | _catalogued(study, [(it, it["median"]) for it in summary])


def _rate(row: Mapping[str, Any]) -> float | None:
    """Bytes or operations a second; none if it took no time."""
    amount: int = row["operations"] if row["unit"] == RATE else row["bytes"]
    return amount / row["seconds"] if row["seconds"] > 0 else None


def _catalogued(
    study: Study, figures: Sequence[tuple[Mapping[str, Any], float | None]]
) -> dict[str, Any]:
    throughput, rates = {}, {}
    for row, value in figures:
        if value is None:
            continue
        if row["unit"] == THROUGHPUT:
            throughput[_label(study, row)] = value
        else:
            rates[_label(study, row)] = {"per_second": value}
    return {"throughput": throughput, "operations": rates}


def _label(study: Study, row: Mapping[str, Any]) -> str:
    parameters = {key: row[key] for key in study.points[0].parameters}
    return f"{row['test']} {_called(study, parameters)}".strip()


def _called(study: Study, parameters: Mapping[str, Parameter]) -> str:
    """A point in a few words."""
    return ", ".join(
        f"{key} {binary_size(int(value))}" if key in study.sizes else f"{key} {value}"
        for key, value in parameters.items()
    )
