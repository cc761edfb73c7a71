"""Steps of a load sweep: stored figures of their measurements, and their recovery on resume."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import msgspec
import polars as pl

from headrace.fields import WrongField, convert
from headrace.histograms import ALL, check, with_exact
from headrace.histograms import SCHEMA as HISTOGRAMS
from headrace.measure.counters import SERIES as COUNTERS
from headrace.measure.measurement import SERIES, Measurement
from headrace.measure.report import Latency, Load, Report, ResultWarning, ScenarioText, Stop
from headrace.store.saved_documents import TABLES

SWEEP_KEYS = ("kind", "scenario", "seed", "version", "calls")
"""Keys that a sweep has once for all its steps."""
NOT_SAVED = (*SWEEP_KEYS, "phases", "stop", "error")
"""Keys of a measurement's document that a step and its repetitions do not have."""
NOT_FIGURES = (*NOT_SAVED, "load", "wanted_repeats", "intervals")
NUMBERED = pl.Schema({"step": pl.String, "repetition": pl.UInt32})
"""Columns of a sweep's tables: the step's name, and the repetition, from 1."""
SCHEMAS = {
    "series": pl.Schema([*SERIES.items(), *NUMBERED.items()]),
    "counters": pl.Schema([*COUNTERS.items(), *NUMBERED.items()]),
    "histograms": pl.Schema([*HISTOGRAMS.items(), *NUMBERED.items()]),
}
"""Tables of a sweep: those of its measurements, concatenated."""


@dataclass
class Step:
    """A step of a sweep: the figures of its measurement, or of the merged repetitions. The document
    has its own figures in a `SweepStep`."""

    name: str
    report: Report
    each: Sequence[Report]
    """Reports of the repetitions; that of the measurement, if there is one only."""
    client_hosts: int | None = None
    oversubscribed: bool | None = None
    operations_per_second: float | None = None
    speedup: float | None = None
    efficiency: float | None = None
    half_widths: dict[str, float | None] = field(default_factory=dict)
    """Half-widths of the confidence intervals of a client sweep's own figures."""
    digest: str = ""
    """Digest of the step's settings."""
    partial: bool = False
    keeps_up: bool | None = None
    """None in a client sweep."""

    @property
    def load(self) -> Load:
        """The rates of a step of a load sweep."""
        assert self.report.load is not None
        return self.report.load

    @property
    def response(self) -> Latency | None:
        """Response times of all operations."""
        return self.report.latency_from_intended.get(ALL)

    @property
    def service(self) -> Latency | None:
        """Service times of all operations."""
        return self.report.latency.get(ALL)

    @property
    def response_mean_s(self) -> float:
        """Mean response time; NaN without operations."""
        mean = None if self.response is None else self.response.mean
        return math.nan if mean is None else mean

    def json(self) -> dict[str, Any]:
        """Return the step as a sweep's document has it."""
        document = self.report.json()
        load = document.get("load", {})
        intervals = document.get("intervals") or {}
        figures = {key: value for key, value in document.items() if key not in NOT_FIGURES}
        if "repetitions" in figures:
            figures["repetitions"] = [
                {key: value for key, value in one.items() if key not in NOT_SAVED}
                for one in figures["repetitions"]
            ]
        row = {"name": self.name, **load, **_total_latency(document), **figures}
        if intervals:
            widths = intervals.pop("load", {})
            widths.pop("requested_per_second", None)
            row["intervals"] = {**widths, **_total_latency(intervals), **intervals}
            row["intervals"] |= self.half_widths
        own = {
            "oversubscribed": self.oversubscribed,
            "operations_per_second": self.operations_per_second,
            "client_hosts": self.client_hosts,
            DIGEST: self.digest or None,
            "partial": self.partial or None,
            "keeps_up": self.keeps_up,
        }
        row |= {key: value for key, value in own.items() if value is not None}
        if self.operations_per_second is not None:
            # None if the first step did nothing.
            row |= {"speedup": self.speedup, "efficiency": self.efficiency}
        return row


StepOf: TypeAlias = Callable[[Report, Sequence[Report]], Step | None]
"""Function that returns the step for the merged report of some repetitions; None if no operation
was done."""
DIGEST = "scenario_sha256"
"""Key of a step's digest."""


def _total_latency(document: Mapping[str, Any]) -> dict[str, Any]:
    """The latencies of all operations, as a step has them."""
    keys = {"response": "latency_from_intended", "service": "latency"}
    return {key: document[name].get(ALL) for key, name in keys.items() if name in document}


def step_tables(name: str, repetition: int, measurement: Measurement) -> dict[str, pl.DataFrame]:
    """Return the tables of one of a step's measurements, with the columns of step and
    repetition."""
    return {
        table: getattr(measurement, table)
        .with_columns(step=pl.lit(name), repetition=pl.lit(repetition, dtype=pl.UInt32))
        .cast(schema)
        for table, schema in SCHEMAS.items()
    }


class SavedStep(msgspec.Struct):
    """Fields of a saved step that its recovery needs."""

    name: str
    processes: int
    scenario_sha256: str | None = None
    partial: bool = False
    repetitions: list[dict[str, Any]] = []


class SweepStep(Report, kw_only=True):
    """A step as a sweep's document has it. From three repetitions on, `intervals` also has its own
    rates, times, speedup and efficiency."""

    name: str
    """Name in tables and the store: `400/s`, `processes 4` or `400/s on 2 hosts`."""
    requested_per_second: float | None = None
    offered_per_second: float | None = None
    """Rate of intended starts as drawn."""
    achieved_per_second: float | None = None
    response: Latency | None = None
    """Response times of all operations."""
    service: Latency | None = None
    """Service times of all operations."""
    client_hosts: int | None = None
    oversubscribed: bool | None = None
    operations_per_second: float | None = None
    """With numbers of processes: operations of all of them."""
    speedup: float | None = None
    """Ratio of the operations a second to those of the first step."""
    efficiency: float | None = None
    """Speedup over the ratio of the processes to those of the first step."""
    partial: bool = False
    """True if the step was interrupted, or an operation failed."""
    keeps_up: bool | None = None
    """True if the load was sustained."""


class LoadPoint(msgspec.Struct, frozen=True):
    """A point of the curve of load and response time; None where no step shows it."""

    requested_per_second: float
    achieved_per_second: float
    response_mean_s: float


class Curve(msgspec.Struct, kw_only=True):
    """Findings of a curve of load and response time, as a sweep's document has them."""

    client_hosts: int | None = None
    knee: LoadPoint | None = None
    kept_up: LoadPoint | None = None
    cut_off: LoadPoint | None = None
    achieved_at_most_per_second: float | None = None
    overall_response_s: float | None = None
    """Overall response time; None if no load was sustained."""


class Curves(Curve, kw_only=True):
    """The findings of a sweep, or of one of its repetitions."""

    curves: list[Curve] = []
    """Findings of each number of client hosts, in ascending order; a sweep has none of its own."""


class Limits(msgspec.Struct, frozen=True):
    """Criteria by which a load is sustained."""

    achieved: float
    response_s: float


class SweepDocument(Curves, kw_only=True):
    """A sweep's document."""

    of: str
    """`loads`, `client-hosts` or `clients`."""
    scenario: ScenarioText
    place: dict[str, str]
    calls: str = "posix"
    cores: int
    """Processors that the benchmark may use."""
    criteria: Limits
    steps: list[SweepStep]
    """In order of load."""
    stop: Stop
    ranks: int
    warnings: list[ResultWarning]
    wanted_repeats: int = 1
    repetitions: list[Curves] = []
    """Findings of each complete sweep of several."""

    def curve(self, client_hosts: int | None) -> "SweepDocument":
        """Return the load sweep on a number of client hosts."""
        several = (curve for curve in self.curves if curve.client_hosts == client_hosts)
        own = next(several, Curve())
        steps = [step for step in self.steps if step.client_hosts == client_hosts]
        return msgspec.structs.replace(self, of="loads", steps=steps, **msgspec.structs.asdict(own))


class EarlierMeasurements:
    """Measurements of an earlier run of a sweep."""

    def __init__(self, resumed: Mapping[str, Any] | None) -> None:
        """Raise ValueError if the steps or tables of the resumed sweep are malformed."""
        self._sweep = resumed or {}
        self._tables = {name: _table(self._sweep, name) for name in SCHEMAS}
        self._found: dict[str, list[Measurement]] = {}
        try:
            for saved in self._sweep.get("steps", ()):
                step = convert(saved, SavedStep)
                if not step.partial:
                    self._found[str(step.scenario_sha256)] = list(self._of(step, saved))
        except WrongField as error:
            raise _malformed(self._sweep, "steps") from error

    def measurements(self) -> dict[str, list[Measurement]]:
        """Return the measurements of each complete step, in the order of repetitions, by digest.
        Steps without tables are left out."""
        return {digest: several for digest, several in self._found.items() if several}

    def _of(self, step: SavedStep, saved: Mapping[str, Any]) -> Iterator[Measurement]:
        """A step's measurements, up to the first that lacks its tables."""
        common = {key: self._sweep.get(key) for key in SWEEP_KEYS}
        common |= {"kind": "measured", "processes": step.processes, "stop": {"reason": "done"}}
        for repetition, figures in enumerate(step.repetitions or [_figures(saved)], 1):
            tables = {
                name: table.filter(step=step.name, repetition=repetition).drop(*NUMBERED)
                for name, table in self._tables.items()
            }
            if not tables["histograms"].height:
                return
            report = convert(common | figures, Report)
            yield Measurement(report, tables["series"], tables["counters"], tables["histograms"])


def _table(resumed: Mapping[str, Any], name: str) -> pl.DataFrame:
    """Return a table of a saved sweep, which has different names in a file and in the store."""
    saved = next(key for key, table in TABLES.items() if table == name)
    columns = resumed.get(saved) or resumed.get(name) or {}
    try:
        if name == "histograms":
            columns = with_exact(columns)
        table = pl.DataFrame(columns, schema=SCHEMAS[name])
        if name == "histograms":
            check(table)
        return table
    except (KeyError, TypeError, ValueError, pl.exceptions.PolarsError):
        raise _malformed(resumed, saved) from None


def _malformed(resumed: Mapping[str, Any], part: str) -> ValueError:
    named = resumed.get("named", "the resumed result")
    return ValueError(
        f"{named}: its {part} are not as they were saved: start again without --resume"
    )


def _figures(step: Mapping[str, Any]) -> dict[str, Any]:
    """Return the saved figures of a step's only measurement; a step has its load beside them."""
    there = "requested_per_second" in step
    load = {key: step.get(key) for key in Load.__struct_fields__}
    return {**step, "load": load} if there else dict(step)
