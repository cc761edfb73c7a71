"""Run jobs, stage by stage, and build the document of their results."""

import dataclasses
import json
import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec
import polars as pl

from headrace import _core, kinds
from headrace.environment import Environment, of_device, of_directory
from headrace.fields import to_document
from headrace.files import save_json
from headrace.histograms import SCHEMA
from headrace.host import this_host
from headrace.interruption import STOP_EXCEPTIONS
from headrace.jobs.plan import POSIX, Job, Plan
from headrace.measure import space
from headrace.measure.conditions import Measured, conditions
from headrace.measure.counters import Counters
from headrace.measure.jobs.report import (
    Counted,
    EngineJob,
    JobFigures,
    JobsReport,
    LoggedRequest,
)
from headrace.measure.jobs.target import Target, in_memory
from headrace.measure.measurement_site import measurement_site
from headrace.measure.report import Files, PlanText, ResultWarning, Stop
from headrace.quantities import percent, short_size, size
from headrace.store import open as open_store

KIND = "jobs"
OPERATIONS = ("read", "write", "sync", "create", "stat", "unlink", "mkdir", "rmdir", "truncate")
HITS = 0.01
"""Share of page-cache hits from which on a warning is given. Below it, the effect on a figure is
less than its usual spread."""


class JobsLive(NamedTuple):
    """Progress of jobs."""

    step: int
    """The stage, from 1; 0 while files are made."""
    steps: int
    name: str
    seconds: float
    """Seconds since the stage began."""
    requested: float | None
    """Requests per second; None for as many as the storage answers."""
    counts: tuple[int, int, float]
    """Requests done in this stage, bytes moved, and the sum of their latencies."""
    left: float | None
    """Seconds to the end of all stages, where that is known."""


Progress: TypeAlias = Callable[[JobsLive], object]


@dataclass(frozen=True)
class JobsResult:
    """Result of jobs."""

    report: JobsReport
    """All figures."""
    histograms: pl.DataFrame
    """All latencies, as `headrace.histograms` has them."""
    logs: Mapping[str, Sequence[Sequence[LoggedRequest]]] = dataclasses.field(default_factory=dict)
    """Requests of each process of the jobs that log theirs, by job."""

    @property
    def document(self) -> dict[str, Any]:
        """All figures, as the command prints them with `--json`."""
        document: dict[str, Any] = to_document(self.report)
        return document

    def json(self) -> dict[str, Any]:
        """All figures."""
        return self.document

    def _repr_html_(self) -> str:
        return kinds.html(KIND, self.document)

    def keep(
        self, *, started: datetime | None = None, labels: Mapping[str, str] | None = None
    ) -> str:
        """Save the result in the store and return its identifier."""
        tables = {"histograms": self.histograms} if self.histograms.height else {}
        return open_store().add(self.document, tables, kind=KIND, started=started, labels=labels)

    def save(self, path: str | PathLike[str]) -> None:
        """Save the result as JSON, atomically."""
        columns = self.histograms.to_dict(as_series=False)
        save_json(Path(path), self.document | {"host": this_host(), "histograms": columns})


class Done(NamedTuple):
    """A job that has run."""

    stage: int
    """From 1."""
    job: Job
    report: EngineJob


def run_jobs(plan: Plan, target: Target, *, progress: Progress | None = None) -> JobsResult:
    """Make the files, then run one stage after another.

    On Ctrl-C, or if a request fails, the result is partial and `report.stop` gives the reason.

    Raises ScenarioError if a job cannot be run on the target, and OSError or RunError if the files
    cannot be made. Ctrl-C while they are made raises KeyboardInterrupt.
    """
    environment = of_device(target.path) if target.is_device else of_directory(target.path)
    if not target.is_device:
        _check_space(plan, target)
    sizes = _lay_out(plan, target, progress)
    stages = [[_fitted(job, sizes) for job in stage] for stage in plan.stages]
    counters = Counters(target.path)
    counters.restart()
    done: list[Done] = []
    stop = Stop("done")
    for number, stage in enumerate(stages, 1):
        report = None if progress is None else _progress_callback(progress, stages, number)
        jobs = json.dumps([dataclasses.asdict(job) for job in stage])
        try:
            text, interrupted, error = target.engine.run(jobs, progress=report)
        except STOP_EXCEPTIONS:
            stop = Stop("interrupted")
            break
        counters.sample()
        reports = msgspec.json.decode(text, type=list[EngineJob])
        done += [
            Done(number, job, report)
            for job, report in zip(stage, reports, strict=True)
            # Leave out the jobs of an interrupted stage that had not begun.
            if report.requests or not (interrupted or error)
        ]
        if error is not None:
            stop = Stop("failed", error)
            break
        if interrupted:
            stop = Stop("interrupted")
            break
    counters.sample(at_once=True)
    computes = all(job.work == "compute" for stage in stages for job in stage)
    if stop.reason == "done" and not computes and not any(one.report.requests for one in done):
        warm_up = max(job.warm_up for stage in stages for job in stage)
        raise _core.ScenarioError(
            f"ramp_time = {warm_up:g} s: every job ended before statistics began; expected a"
            " shorter warm-up, or more to do"
        )
    whole = _jobs_report(plan, target, environment, stages, done, sizes, counters, stop)
    histograms = pl.DataFrame([*_histograms(done)], schema=SCHEMA, orient="row")
    logs = {one.job.name: one.report.logs for one in done if one.report.logs}
    return JobsResult(whole, histograms, logs)


def _check_space(plan: Plan, target: Target) -> None:
    """State the space and time of jobs. Raises ScenarioError if they need more than the limit."""
    needed = sum(layout.bytes for layout in plan.files)
    lasts = [_stage_seconds(stage) for stage in plan.stages]
    seconds = sum(last for last in lasts if last)
    making = [layout.seconds for layout in plan.files if layout.seconds is not None]
    seconds += sum(making) if making else needed / space.BYTES_PER_SECOND
    need = space.Need(needed, len(plan.files), seconds)
    allowed = space.allowed_below(target.path)
    # Files that are written for a time only stop growing by themselves.
    least = sum(file.least if file.seconds is not None else file.bytes for file in plan.files)
    if allowed is not None and least > allowed:
        raise _core.ScenarioError(
            f"{target.path}: the jobs need {size(least)}, and their files may take"
            f" {size(allowed)} (--space): use smaller files, allow more space, or use another file"
            " system"
        )
    unknown = "; and as long as the jobs without a time take" if None in lasts else ""
    space.state(plan.name, need, target.path, unknown)


def _lay_out(plan: Plan, target: Target, progress: Progress | None) -> dict[int, int]:
    """Make the files and return the size of each by its number."""
    direct = {
        number for stage in plan.stages for job in stage if job.direct for number in job.all_files()
    }
    steps = len(plan.stages)
    sizes: dict[int, int] = {}
    total = sum(layout.bytes for layout in plan.files)
    for layout in plan.files:
        before = sum(sizes.values())

        def report(done: int, before: int = before) -> None:
            if progress is not None:
                name = f"making files: {size(before + done)} of {size(total)}"
                progress(JobsLive(0, steps, name, 0.0, None, (0, 0, 0.0), None))

        sizes[layout.number] = target.engine.lay_out(
            layout.number,
            layout.bytes,
            least=layout.least,
            seconds=layout.seconds,
            filled=layout.filled,
            direct=layout.number in direct,
            progress=report,
        )
    return sizes


def _fitted(job: Job, sizes: Mapping[int, int]) -> Job:
    """A job that uses its files as far as they were made."""
    if job.work != "transfer":
        return job
    numbers = [number for number in job.all_files() if number in sizes]
    # Other processes begin later in the same files, which hold as many more bytes.
    beyond = job.offset + (job.offset_step * (job.processes - 1) if job.shared else 0)
    present = [
        sizes[number] - beyond - (0 if job.shared else job.offset_step * (place // job.files))
        for place, number in enumerate(numbers)
    ]
    return dataclasses.replace(job, bytes=min([job.bytes, *present]))


def _progress_callback(
    progress: Progress, stages: Sequence[Sequence[Job]], number: int
) -> Callable[[float, list[list[tuple[int, int, float]]]], None]:
    stage = stages[number - 1]
    rates = [job.requested for job in stage]
    requested = None if None in rates else sum(rate for rate in rates if rate is not None)
    name = " + ".join(job.name for job in stage)
    lasts = [_stage_seconds(entry) for entry in stages[number - 1 :]]

    def report(seconds: float, jobs: list[list[tuple[int, int, float]]]) -> None:
        kinds = [kind for job in jobs for kind in job]
        counts = (
            sum(count for count, _, _ in kinds),
            sum(moved for _, moved, _ in kinds),
            sum(latency for _, _, latency in kinds),
        )
        left = None if None in lasts else max(sum(last for last in lasts if last) - seconds, 0.0)
        progress(JobsLive(number, len(stages), name, seconds, requested, counts, left))

    return report


def _stage_seconds(stage: Sequence[Job]) -> float | None:
    """Seconds of a stage, where that is known."""
    times = [job.lasts for job in stage]
    return None if None in times else max((time for time in times if time), default=0.0)


def _histograms(
    done: Sequence["Done"],
) -> Iterator[tuple[str, str, str, int | None, int | None, int | None]]:
    for job in done:
        for operation, requests in job.report.requests.items():
            exact = requests.exact
            figures = (None, None, None) if exact is None else (exact.sum, exact.least, exact.most)
            yield job.job.label(operation), "service", requests.histogram, *figures


def _jobs_report(
    plan: Plan,
    target: Target,
    environment: Environment,
    stages: Sequence[Sequence[Job]],
    done: Sequence["Done"],
    sizes: Mapping[int, int],
    counters: Counters,
    stop: Stop,
) -> JobsReport:
    jobs = [job for stage in stages for job in stage]
    entries = [_job(job, stop) for job in done]
    named = {
        job.job.label(operation): figures
        for job, entry in zip(done, entries, strict=True)
        for operation, figures in entry.operations.items()
    }
    calls = {job.calls for job in jobs}
    report = JobsReport(
        kind=KIND,
        scenario=PlanText(plan.name, plan.description),
        version=_core.VERSION,
        place=_place(target),
        environment=environment,
        files=Files(len(sizes), sum(sizes.values())),
        jobs=entries,
        throughput={name: value.throughput for name, value in named.items() if value.throughput},
        operations={
            name: Counted(value.count, value.bytes, value.active_seconds, value.per_second)
            for name, value in named.items()
        },
        latency={name: value.latency for name, value in named.items()},
        measured_seconds=sum(
            max(entry.seconds for entry in entries if entry.stage == number)
            for number in {entry.stage for entry in entries}
        ),
        processes=max((job.processes for job in jobs), default=0),
        counters=counters.summary(),
        notes=list(plan.notes),
        stop=stop,
        warnings=list(_warnings(target, jobs, entries)),
        calls=calls.pop() if len(calls) == 1 else None,
        job_file=plan.job_file,
        latency_from_intended={
            name: value.latency_from_intended
            for name, value in named.items()
            if value.latency_from_intended is not None
        },
    )
    report.warnings += _conditions(report, target)
    return report


def _job(done: "Done", stop: Stop) -> JobFigures:
    """Return a job's settings and its results."""
    job, report = done.job, done.report
    operations = {
        operation: requests.figures()
        for operation in OPERATIONS
        if (requests := report.requests.get(operation)) is not None
    }
    if job.requested and job.seconds and stop.reason == "done":
        # Few requests of a job that waits for their times are soon over, and the job is not.
        for operation in operations.values():
            operation.active_seconds = max(operation.active_seconds, job.seconds)
            operation.per_second = operation.count / operation.active_seconds
            operation.throughput = operation.bytes / operation.active_seconds
    reads = report.reads
    return JobFigures(
        name=job.name,
        stage=done.stage,
        pattern="random" if job.random else "sequential",
        work=job.work,
        read_share=job.read_share,
        block=job.block,
        blocks=[[size for size, _ in sizes] for sizes in job.sizes] if any(job.sizes) else None,
        bytes=job.bytes,
        queue_depth=job.queue_depth,
        processes=job.processes,
        calls=job.calls,
        direct=job.direct,
        stable=job.stable or job.stable_attributes,
        requested_per_second=job.requested,
        seconds=report.seconds,
        in_flight=report.in_flight,
        not_made=report.not_made,
        depth_within_latency=report.depth,
        steady_after=report.steady_after,
        cache_hit_rate=(
            reads.hit_bytes / reads.asked_bytes if reads is not None and reads.asked_bytes else None
        ),
        operations=operations,
    )


def _place(target: Target) -> dict[str, Any]:
    geometry = target.engine.geometry()
    if geometry is None:
        return measurement_site(target.path)
    bytes_of_device, sector = geometry
    return {
        "host": platform.node(),
        "device": str(target.path),
        "bytes": bytes_of_device,
        "sector": sector,
    }


def _warnings(
    target: Target, jobs: Sequence[Job], figures: Sequence[JobFigures]
) -> Iterator[ResultWarning]:
    if in_memory(target):
        yield ResultWarning(
            "in-memory",
            f"{target.path} is a file system in memory: the figures are those of memory",
        )
    elif not all(job.direct or job.work != "transfer" or job.calls == "null" for job in jobs):
        yield ResultWarning(
            "not-direct",
            "the page cache was not bypassed (no O_DIRECT): reads may come from memory; writes"
            " count when they are on stable storage where O_DSYNC or fsync was asked for",
        )
    hits = {
        job.name: job.cache_hit_rate
        for job in figures
        if job.cache_hit_rate is not None and job.cache_hit_rate >= HITS
    }
    if hits:
        shares = ", ".join(f"{percent(share)} % in {name}" for name, share in hits.items())
        yield ResultWarning("page-cache", f"part of the reads were page-cache hits: {shares}")
    for one in figures:
        if not one.operations and one.work != "compute":
            yield ResultWarning(
                f"nothing-measured {one.name}",
                f"{one.name}: all its requests ended within the warm-up; expected a shorter"
                " ramp_time, or more to do",
            )
        if one.not_made:
            yield ResultWarning(
                f"not-made {one.name}",
                f"{one.name}: {one.not_made:,} requests were due and not made before the end:"
                " all slots of the queue were taken",
            )
    small = [job for job in jobs if job.random and not job.direct and job.reads]
    if small and (block := min(job.block for job in small)) < 4096:
        yield ResultWarning(
            "small-blocks", f"reads of {short_size(block)} through the page cache read whole pages"
        )


def _conditions(report: JobsReport, target: Target) -> list[ResultWarning]:
    """Return the warnings that jobs share with measurements of workloads."""
    free = 1.0
    if not target.is_device:
        room = os.statvfs(target.path)
        free = room.f_bavail / room.f_blocks if room.f_blocks else 1.0
    return conditions(
        Measured(
            calls=POSIX,
            processes=report.processes,
            seconds=report.measured_seconds,
            file_bytes=report.files.bytes,
            operations={},
            counters=report.counters,
            direct=True,
            free=free,
        )
    )
