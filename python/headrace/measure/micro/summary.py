"""A study's document: medians, means and their intervals over the repeats."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from headrace import _core
from headrace.environment import Environment
from headrace.fields import convert, partial, to_document
from headrace.intervals import FEWEST, half_width
from headrace.measure.calls import POSIX
from headrace.measure.micro.study import THROUGHPUT, Parameter, Point, Row, Study, called
from headrace.measure.report import CataloguedRate, PlanText, ResultWarning, Stop
from headrace.measure.resume import rank_count_field

KIND = "study"


class PointText(msgspec.Struct, frozen=True):
    """A point as a study's document has it."""

    parameters: dict[str, Parameter]
    scenario: str

    @classmethod
    def of(cls, point: Point) -> "PointText":
        """Return the record of a point."""
        return cls(dict(point.parameters), point.scenario)


class SummaryRow(msgspec.Struct):
    """Figures of a point and a test over the repeats, beside the point's parameters."""

    test: str
    unit: Literal["throughput", "per_second"]
    """Of the figures: bytes a second, or operations a second."""
    median: float | None
    mean: float | None
    half_width: float | None
    least: float | None
    most: float | None
    repeats: int
    cpu: float | None
    """Processors that the benchmark used."""
    in_memory: bool
    """True if memory may hold the files."""
    parameters: dict[str, Parameter] = {}
    """Parameters of the point: in the document, fields beside the figures."""

    @property
    def value(self) -> float | None:
        """The mean, or the median of repeats that are too few for an interval."""
        return self.median if self.half_width is None else self.mean

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The 95 % confidence interval of the mean, or the least and the most."""
        if self.half_width is None or self.mean is None:
            return self.least, self.most
        return self.mean - self.half_width, self.mean + self.half_width


class StudyReport(msgspec.Struct):
    """Types of a study's document."""

    benchmark: str
    scenario: PlanText
    version: str
    place: dict[str, str]
    stop: Stop
    wanted_repeats: int
    parameters: list[str]
    sizes: list[str]
    summary: list[SummaryRow]
    warnings: list[ResultWarning]
    points: list[PointText]

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> "StudyReport":
        """Return a document, which may lack fields of later versions.

        Raises WrongField if a field has another type.
        """
        report: StudyReport = convert(dict(document), partial(cls))
        keys = report.parameters
        for row, fields in zip(report.summary, document["summary"], strict=True):
            row.parameters = {key: fields[key] for key in keys}
        return report


class StudyFigures(msgspec.Struct, frozen=True):
    """Figures for the store's catalogue, one for each point and test."""

    throughput: dict[str, float]
    operations: dict[str, CataloguedRate]


def summed_up(
    study: Study,
    here: Mapping[str, str],
    environment: Environment,
    repeats: int,
    rows: Sequence[Row],
    warnings: Sequence[ResultWarning],
    stop: Stop,
) -> dict[str, Any]:
    """Return a study's document."""
    keys = list(study.points[0].parameters)
    by_point: dict[tuple[Parameter | str, ...], list[Row]] = {}
    for row in rows:
        by_point.setdefault((*(row.parameters[key] for key in keys), row.test), []).append(row)
    summary: list[dict[str, Any]] = []
    figures: list[tuple[Row, float | None]] = []
    for (*values, test), of_point in by_point.items():
        rates = sorted(rate for row in of_point if (rate := row.rate) is not None)
        median = statistics.median(rates) if rates else None
        figures.append((of_point[0], median))
        summary.append(
            {
                **dict(zip(keys, values, strict=True)),
                "test": test,
                "unit": of_point[0].unit,
                "median": median,
                "mean": statistics.fmean(rates) if rates else None,
                "half_width": half_width(rates) if len(rates) >= FEWEST else None,
                "least": rates[0] if rates else None,
                "most": rates[-1] if rates else None,
                "repeats": len(rates),
                "cpu": statistics.median(row.cpu for row in of_point),
                "in_memory": any(row.in_memory for row in of_point),
            }
        )
    return {
        "kind": KIND,
        "benchmark": study.name,
        "scenario": {"name": f"bench {study.name}", "description": study.title},
        "version": _core.VERSION,
        "place": dict(here),
        "environment": environment,
        "calls": POSIX,
        "stop": to_document(stop),
        "wanted_repeats": repeats,
        "parameters": keys,
        "sizes": list(study.sizes),
        "summary": summary,
        "repeats": [
            to_document(
                _catalogued(study, [(row, row.rate) for row in rows if row.repeat == repeat])
            )
            for repeat in range(repeats)
        ],
        "warnings": to_document(warnings),
        "points": to_document([PointText.of(point) for point in study.points]),
        # The clients of each point's scenario, each with its processes.
        **rank_count_field(),
        # The store catalogues one figure for each point and test.
        **to_document(_catalogued(study, figures)),
    }


def _catalogued(study: Study, figures: Sequence[tuple[Row, float | None]]) -> StudyFigures:
    throughput: dict[str, float] = {}
    rates: dict[str, CataloguedRate] = {}
    for row, value in figures:
        if value is None:
            continue
        parameters = {key: row.parameters[key] for key in study.points[0].parameters}
        label = f"{row.test} {called(study, parameters)}".strip()
        if row.unit == THROUGHPUT:
            throughput[label] = value
        else:
            rates[label] = CataloguedRate(value)
    return StudyFigures(throughput, rates)
