"""Jobs: IOPS, throughput and latency of the reads, the writes and the syncs of each."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from headrace.measure.jobs.report import JobFigures, JobLatency, JobsReport, RequestFigures
from headrace.quantities import NOT_KNOWN, duration, figure, megabytes, numbered, short_size
from headrace.render import units
from headrace.render.blocks import (
    Axis,
    Chart,
    Column,
    Headline,
    Line,
    Note,
    Record,
    Records,
    Table,
    View,
)
from headrace.views.parts import ending, latency_by_percentile, machine, times_record, warning_note

if TYPE_CHECKING:
    import polars as pl

    from headrace.live_rates import LiveJobRates

TIMES = {"mean": "mean", "p50": "p50", "p99": "p99", "p999": "p99.9", "max": "max"}
SPARE = {"mean": 3, "max": 2}
MOST_HEADLINES = 4
CHARTED = ("p50", "p99", "p999", "max")
Row: TypeAlias = tuple[JobFigures, str, RequestFigures]
"""A job, one of its operations, and the figures of that."""


def view(result: JobsReport, histograms: "pl.DataFrame | None" = None) -> View:
    """Return a row for each operation of each job."""
    rows = [(job, name, each) for job in result.jobs for name, each in job.operations.items()]
    return [
        Note(f": {result.scenario.description}\n{_measured(result)}", result.scenario.name),
        Headline(dict(_headlines(rows[:MOST_HEADLINES]))),
        *(_charts(rows) if rows else []),
        *latency_by_percentile("percentiles", histograms),
        _table(result, rows),
        *_from_intended(result.latency_from_intended),
        *_predicted(result, rows),
        *([Note(machine(result.counters))] if result.counters else []),
        *(Note(f"Note: {note}.") for note in result.notes or ()),
        *(warning_note(warning) for warning in result.warnings or ()),
        *ending(result.stop),
        Records([_record(*row) for row in rows]),
    ]


def _headlines(rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """Yield the throughput of sequential jobs and the IOPS of others, by job and operation."""
    for job, operation, each in rows:
        name = job.name if operation in job.name else f"{job.name}, {operation}"
        if job.pattern == "sequential" and each.throughput:
            yield name, units.THROUGHPUT.full(each.throughput)
        elif each.per_second is not None:
            yield name, units.IOPS.full(each.per_second)


def _charts(rows: Sequence[Row]) -> Iterator[Chart]:
    names: list[str] = []
    for job, operation, _ in rows:
        name = job.name if len(job.operations) == 1 else f"{job.name}, {operation}"
        names.append(f"{name} ({names.count(name) + 1})" if name in names else name)
    across = Axis("job", scale="names")
    moved = [each.throughput if each.bytes else None for *_, each in rows]
    for title, unit, values in (
        ("Requests a second", units.IOPS, [each.per_second for *_, each in rows]),
        ("Throughput", units.THROUGHPUT, moved),
    ):
        line = Line(unit.name, names, values, shape="bar")
        yield Chart("jobs", title, across, Axis("", unit), [line])
    marks = [
        Line(TIMES[key], names, [getattr(each.latency, key) for *_, each in rows], shape="mark")
        for key in CHARTED
    ]
    yield Chart("jobs", "Latency of a request", across, Axis("", units.MILLISECONDS, "log"), marks)


def _measured(result: JobsReport) -> str:
    """Return the target of the measurement in one line."""
    jobs, files, place = result.jobs, result.files, result.place
    if "device" in place:
        target = f"{place['device']}, {short_size(place['bytes'])}, only read"
    else:
        each = short_size(max((job.bytes for job in jobs), default=files.bytes))
        kind = place.get("file_system", "unknown")
        most = "up to " if files.count != 1 else ""
        target = f"{numbered(files.count, 'file')} of {most}{each} on {kind}"
    return "; ".join([target, *sorted({_access(job) for job in jobs})])


def _access(job: JobFigures) -> str:
    """Return how a job makes its requests, in words."""
    cache = "page cache bypassed (O_DIRECT)" if job.direct else "through the page cache"
    return f"{job.calls} calls, {cache}{', O_DSYNC' * job.stable}"


def _table(result: JobsReport, rows: Sequence[Row]) -> Table:
    several = any(job.processes > 1 for job in result.jobs)
    stages = [job.stage for job, *_ in rows]
    # A line between stages, unless each has one job.
    large = len(result.jobs) > len({job.stage for job in result.jobs})
    begins = [row for row in range(1, len(rows)) if large and stages[row] != stages[row - 1]]
    return Table(
        "Throughput and latency",
        [
            Column("job", [job.name for job, *_ in rows]),
            Column("operation", [name for _, name, _ in rows]),
            Column(
                "block",
                [None if name == "sync" or job.blocks else job.block for job, name, _ in rows],
                units.SHORT_SIZE,
            ),
            Column("depth", [job.queue_depth for job, *_ in rows], units.COUNT),
            *(
                [Column("processes", [job.processes for job, *_ in rows], units.COUNT)]
                if several
                else []
            ),
            Column("requests", [each.count for *_, each in rows], units.COUNT, spare=4),
            Column("IOPS", [each.per_second for *_, each in rows], units.FIGURE, absent=NOT_KNOWN),
            Column(
                "MB/s",
                [each.throughput if each.bytes else None for *_, each in rows],
                units.THROUGHPUT,
            ),
            *_times([each.latency for *_, each in rows]),
            Column("in flight", [job.in_flight.mean for job, *_ in rows], units.FIGURE, spare=1),
        ],
        names=2,
        sections=begins,
    )


def _times(latencies: list[JobLatency]) -> list[Column]:
    return [
        Column(
            f"{label} ms",
            [getattr(latency, key) for latency in latencies],
            units.MILLISECONDS,
            SPARE.get(key, 0),
            absent=NOT_KNOWN,
        )
        for key, label in TIMES.items()
    ]


def _from_intended(latencies: dict[str, JobLatency]) -> list[Table]:
    if not latencies:
        return []
    title = "Response time, from when requests were due"
    return [Table(title, [Column("job", list(latencies)), *_times(list(latencies.values()))])]


def _predicted(result: JobsReport, rows: Sequence[Row]) -> View:
    """Return predictions beside the measured figures."""
    if result.predicted is None:
        return []
    known = {(each.name, each.operation): each for each in result.predicted.jobs}
    pairs = [
        (job, operation, each, known[job.name, operation])
        for job, operation, each in rows
        if (job.name, operation) in known
    ]
    ratios = [
        predicted.per_second / each.per_second if predicted.per_second and each.per_second else None
        for *_, each, predicted in pairs
    ]
    times = [(each.latency.mean, predicted.mean) for *_, each, predicted in pairs]
    return [
        Table(
            "Measured and predicted",
            [
                Column("job", [job.name for job, *_ in pairs]),
                Column("operation", [operation for _, operation, *_ in pairs]),
                Column("IOPS", [each.per_second for *_, each, _ in pairs], units.FIGURE),
                Column("predicted", [each.per_second for *_, each in pairs], units.FIGURE),
                Column("predicted / measured", ratios, units.FIGURE, absent=NOT_KNOWN),
                Column("mean ms", [mean for mean, _ in times], units.MILLISECONDS),
                Column("predicted ms", [mean for _, mean in times], units.MILLISECONDS),
            ],
            names=2,
        ),
        *(Note(f"Not simulated: {text}.") for text in result.predicted.left_out),
    ]


def _record(job: JobFigures, operation: str, figures: RequestFigures) -> Record:
    intended = figures.latency_from_intended
    return {
        "name": job.name,
        "stage": job.stage,
        "pattern": job.pattern,
        "block": job.block,
        "queue_depth": job.queue_depth,
        "processes": job.processes,
        "calls": job.calls,
        "direct": job.direct,
        "requested_per_second": job.requested_per_second,
        "operation": operation,
        "count": figures.count,
        "bytes": figures.bytes,
        "per_second": figures.per_second,
        "throughput_bytes_per_s": figures.throughput,
        **times_record("latency", figures.latency),
        **(times_record("response", intended) if intended else {}),
        "in_flight_mean": job.in_flight.mean,
        "cache_hit_rate": job.cache_hit_rate,
    }


def _parts(now: "LiveJobRates") -> dict[str, str]:
    """Return the displayed parts with their names."""
    at = now.at
    if at is None or at.step == 0:
        return {"step": "0", "now": "" if at is None else at.name}
    requested = "unlimited" if at.requested is None else f"{figure(at.requested)} IOPS"
    return {
        "step": f"{at.step} of {at.steps}",
        "now": at.name,
        "requested": requested,
        "achieved": f"{figure(now.rate)} {units.IOPS}, {megabytes(now.throughput)} MB/s",
        "latency": "\N{EN DASH}" if now.latency is None else duration(now.latency),
        "time left": "unknown" if at.left is None else f"{at.left:.0f} s",
    }


def live(now: "LiveJobRates") -> View:
    """Return the progress of running jobs."""
    parts = _parts(now)
    columns = [Column(name, [text]) for name, text in parts.items()]
    return [Note("", now.title), Table("", columns, names=2)]


def live_line(now: "LiveJobRates") -> str:
    """The same in one line."""
    parts = _parts(now)
    if "latency" not in parts:
        return f"{now.title}: {parts['now'] or 'beginning'}"
    return (
        f"{now.title}: step {parts['step']}, {parts['now']}: {parts['achieved']} achieved,"
        f" {parts['requested']} requested, latency {parts['latency']},"
        f" time left {parts['time left']}"
    )
