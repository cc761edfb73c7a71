"""A scenario measured several times over, each time with files of its own."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Self, TypeVar

import msgspec
import polars as pl

from headrace import _core, ranks
from headrace._core import replication_seed
from headrace.fields import to_document
from headrace.histograms import By, latencies
from headrace.interruption import INTERRUPTED, STOP_EXCEPTIONS
from headrace.intervals import FEWEST, half_widths, means
from headrace.io500 import Io500
from headrace.measure.benchmark import Progress, measure
from headrace.measure.cache import cache_of_all
from headrace.measure.measurement import Measurement
from headrace.measure.removal import with_note
from headrace.measure.report import (
    CounterMeans,
    GroupFigures,
    Latency,
    LeftOut,
    Load,
    OperationFigures,
    Report,
    Stop,
    Unfinished,
)
from headrace.training import Training, of_interest

PERCENTILES = ("mean", "p50", "p95", "p99")
Of = TypeVar("Of")
Record = TypeVar("Record", bound=msgspec.Struct)


def repeat(
    loaded: _core.Loaded,
    below: str | PathLike[str],
    repeats: int | None = None,
    *,
    calls: str = "posix",
    keep: bool = False,
    progress: Progress | None = None,
) -> Measurement:
    """Measure a scenario several times, as `measure` does, and merge the measurements.

    Without `repeats`, it is measured `run.replications` times, each time with another seed as in a
    simulation. With `repeats`, the seed is always the same.

    A repetition that ends early ends the measurement; it is included only if it is the first.

    Raises as `measure` does; KeyboardInterrupt on Ctrl-C while the first repetition's files are
    made.

    Examples:
        >>> sets = {"clients.count": 2, "workload.files": 4}
        >>> workload = hr.measure.load("scenarios/striped-read.toml", sets)
        >>> measured = hr.measure.repeat(workload, ".", 3)
        >>> measured.report.intervals["throughput"]["read"] > 0
        True
    """
    each = [loaded] * repeats if repeats else _replications(loaded)
    repeats = len(each)
    done: list[Measurement] = []
    early: Stop | None = None
    stop_signal: int | None = None
    while len(done) < repeats and early is None:
        try:
            one = measure(each[len(done)], below, calls=calls, keep=keep, progress=progress)
        except STOP_EXCEPTIONS as error:
            if not done:
                raise
            done[-1].report.warnings += with_note(error)
            early = Stop("interrupted")
            stop_signal = getattr(error, "status", INTERRUPTED) - 128
            break
        except (_core.RunError, _core.ScenarioError, OSError) as error:
            # Such as a full disk. The finished repetitions remain.
            if not done or ranks.count() > 1:
                raise
            done[-1].report.warnings += with_note(error)
            early = Stop("failed", f"repetition {len(done) + 1}: {error}")
            break
        early, stop_signal = one.report.early, one.stop_signal
        if early is None or not done:
            done.append(one)
        if early is None and one.stop_signal is not None and len(done) < repeats:
            early = Stop("interrupted")
    if repeats == 1:
        return done[0]
    whole = replace(merge_repetitions(done, repeats, early), stop_signal=stop_signal)
    # The seed is that of the first.
    whole.report.scenario.toml, whole.report.seed = loaded.toml, loaded.seed
    return whole


def _replications(loaded: _core.Loaded) -> list[_core.Loaded]:
    """A scenario once for each of its replications."""
    if loaded.replications == 1:
        return [loaded]
    return [
        loaded.with_sets(
            [f"run.seed={replication_seed(loaded.seed, number)}", "run.replications=1"]
        )
        for number in range(loaded.replications)
    ]


def merge_repetitions(
    measurements: Sequence[Measurement], needed: int, early: Stop | None = None
) -> Measurement:
    """Several measurements of one scenario as one.

    Rates are means over the repetitions, counts and times spent are sums, latencies are of all
    their operations, from the merged histograms. Added are `repetitions`, the figures of each,
    and `intervals`, half the widths of the 95 % confidence intervals of the means.
    """
    reports = [measurement.report for measurement in measurements]
    histograms = _numbered([measurement.histograms for measurement in measurements])
    warnings = {warning.condition: warning for one in reports for warning in one.warnings}
    intervals = half_widths([_of_interest(it) for it in reports]) if len(reports) >= FEWEST else {}
    last = reports[-1]
    merged = msgspec.structs.replace(
        last,
        # With the start of the first.
        environment=reports[0].environment or last.environment,
        phases=None,
        measured_seconds=sum(report.measured_seconds for report in reports),
        prepare_seconds=sum(report.prepare_seconds for report in reports),
        throughput=means([report.throughput for report in reports]),
        counters=_means([report.counters for report in reports], CounterMeans),
        load=None if last.load is None else _means([report.load for report in reports], Load),
        unfinished=_unfinished([one.unfinished for one in reports if one.unfinished is not None]),
        cache=cache_of_all([report.cache for report in reports]),
        operations=_operations(reports),
        operation_groups=_operation_groups(reports, histograms),
        latency=_latencies(histograms, "service"),
        latency_from_intended=(
            _latencies(histograms, "response") if last.latency_from_intended else {}
        ),
        trainings=[
            _means([report.trainings[at] for report in reports], Training)
            for at in range(min(len(report.trainings) for report in reports))
        ],
        io500=(
            _means([report.io500 for report in reports], Io500)
            if all(report.io500 for report in reports)
            else None
        ),
        left_out=_left_out(reports),
        warnings=list(warnings.values()),
        wanted_repeats=needed,
        repetitions=[_one(report) for report in reports],
        intervals=intervals,
    )
    if early is not None:
        merged.stop = Stop(early.reason)
        merged.error = early.error or merged.error
    series, counters = (
        _numbered([getattr(run, name) for run in measurements]) for name in ("series", "counters")
    )
    return Measurement(merged, series, counters, histograms)


def _means(several: Sequence[msgspec.Struct | None], type_: type[Record]) -> Record:
    """Means of the figures of several records, over those that have them."""
    return msgspec.convert(means([to_document(record) for record in several]), type_)


def _unfinished(several: Sequence[Unfinished]) -> Unfinished | None:
    """Requests that were due and never issued in any repetition; None if none counted them."""
    if not several:
        return None
    counted = [value for value in several if value.count]
    count = sum(part.count for part in counted)
    names = dict.fromkeys(name for part in counted for name in part.operations)
    return Unfinished(
        count,
        mean=sum(part.count * part.mean for part in counted if part.mean is not None) / count
        if count
        else None,
        max=max((part.max for part in counted if part.max is not None), default=None),
        operations={name: sum(part.operations.get(name, 0) for part in counted) for name in names},
    )


def _left_out(reports: Sequence[Report]) -> list[LeftOut]:
    """Count unsupported operations over all repetitions."""
    counts = Counter[tuple[str, str, str]]()
    for entry in (entry for report in reports for entry in report.left_out):
        counts[entry.by, entry.what, entry.reason] += entry.count
    return [LeftOut(*key, count) for key, count in counts.items()]


def _operations(reports: Sequence[Report]) -> dict[str, OperationFigures]:
    """Counts and rates by operation."""
    return {
        name: OperationFigures(group=of_it[0].group, **msgspec.structs.asdict(_Counts.of(of_it)))
        for name, of_it in _by_name([report.operations for report in reports])
    }


def _operation_groups(
    reports: Sequence[Report], histograms: pl.DataFrame
) -> dict[str, GroupFigures]:
    """Counts, rates and latencies by group of operations."""
    service, response = (
        _latencies(histograms, time, by="group") for time in ("service", "response")
    )
    return {
        name: GroupFigures(
            operations=list(dict.fromkeys(each for part in of_it for each in part.operations)),
            throughput=means([part.throughput for part in of_it]),
            latency=service[name],
            latency_from_intended=response[name] if of_it[0].latency_from_intended else None,
            **msgspec.structs.asdict(_Counts.of(of_it)),
        )
        for name, of_it in _by_name([report.operation_groups for report in reports])
    }


def _by_name(several: Sequence[Mapping[str, Of]]) -> Iterator[tuple[str, list[Of]]]:
    """Yield each operation or group with its figures in the repetitions that have it."""
    for name in dict.fromkeys(name for part in several for name in part):
        yield name, [part[name] for part in several if name in part]


class _Counts(msgspec.Struct, frozen=True):
    """Counts, times and rate of several repetitions."""

    count: int
    bytes: int
    active_seconds: float
    prepare_seconds: float
    per_second: float | None

    @classmethod
    def of(cls, several: Sequence[OperationFigures | GroupFigures]) -> Self:
        """Return the sums, and the mean rate."""
        return cls(
            count=sum(part.count for part in several),
            bytes=sum(part.bytes for part in several),
            active_seconds=sum(part.active_seconds for part in several),
            prepare_seconds=sum(part.prepare_seconds for part in several),
            per_second=means([part.per_second for part in several]),
        )


def _latencies(histograms: pl.DataFrame, time: str, *, by: By = "operation") -> dict[str, Latency]:
    return msgspec.convert(latencies(histograms, time, by=by), dict[str, Latency])


def _of_interest(report: Report) -> dict[str, Any]:
    """The figures that get an interval."""
    parts: dict[str, Any] = {
        "throughput": report.throughput,
        "operations": {
            name: {"per_second": entry.per_second} for name, entry in report.operations.items()
        },
        "operation_groups": {
            name: {
                "per_second": operation_group.per_second,
                "throughput": operation_group.throughput,
                "latency": _percentiles(operation_group.latency),
            }
            | (
                {}
                if operation_group.latency_from_intended is None
                else {"latency_from_intended": _percentiles(operation_group.latency_from_intended)}
            )
            for name, operation_group in report.operation_groups.items()
        },
    }
    if report.trainings:
        parts["trainings"] = of_interest(report.trainings)
    if report.load is not None:
        parts["load"] = to_document(report.load)
    parts["latency"] = {name: _percentiles(value) for name, value in report.latency.items()}
    if report.latency_from_intended:
        parts["latency_from_intended"] = {
            name: _percentiles(value) for name, value in report.latency_from_intended.items()
        }
    return parts


def _percentiles(latency: Latency) -> dict[str, float | None]:
    return {rank: getattr(latency, rank) for rank in PERCENTILES}


def _one(report: Report) -> dict[str, Any]:
    """Return a repetition's figures without those that all repetitions share."""
    common = ("kind", "scenario", "seed", "version", "processes", "calls", "environment")
    return {key: value for key, value in report.json().items() if key not in common}


def _numbered(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Tables of all repetitions, which are numbered from 1."""
    return pl.concat(
        table.with_columns(pl.lit(number, dtype=pl.UInt32).alias("repetition"))
        for number, table in enumerate(tables, 1)
    )
