"""Run jobs, stage by stage, and build the document of their results."""

import copy
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

import polars as pl

from headrace import _core
from headrace.environment import Environment, of_device, of_directory
from headrace.files import save_json
from headrace.histograms import SCHEMA
from headrace.host import this_host
from headrace.interruption import STOP_EXCEPTIONS
from headrace.measure.conditions import conditions
from headrace.measure.counters import Counters
from headrace.measure.jobs.plan import POSIX, Job, Plan
from headrace.measure.jobs.target import Target, in_memory
from headrace.measure.measurement_site import measurement_site
from headrace.report.units import percent, short_size, size
from headrace.store import open as open_store

KIND = "jobs"
OPERATIONS = ("read", "write", "sync")
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

    document: dict[str, Any]
    """All figures, as the command prints them with `--json`."""
    histograms: pl.DataFrame
    """All latencies, as `headrace.histograms` has them."""

    def json(self) -> dict[str, Any]:
        """All figures."""
        return copy.deepcopy(self.document)

    def _repr_html_(self) -> str:
        from headrace.report.html import as_html
        from headrace.report.job_tables import jobs

        return as_html(jobs(self.document))

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


def run_jobs(plan: Plan, target: Target, *, progress: Progress | None = None) -> JobsResult:
    """Make the files, then run one stage after another.

    On Ctrl-C, or if a request fails, the result is partial and `document["stop"]` gives the reason.

    Raises ScenarioError if a job cannot be run on the target, and OSError or RunError if the files
    cannot be made. Ctrl-C while they are made raises KeyboardInterrupt.
    """
    environment = of_device(target.path) if target.is_device else of_directory(target.path)
    sizes = _lay_out(plan, target, progress)
    stages = [[_fitted(job, sizes) for job in stage] for stage in plan.stages]
    counters = Counters(target.path)
    counters.restart()
    done: list[tuple[int, Job, dict[str, Any]]] = []
    stop: dict[str, Any] = {"reason": "done"}
    for number, stage in enumerate(stages, 1):
        report = None if progress is None else _progress_callback(progress, stages, number)
        jobs = json.dumps([dataclasses.asdict(job) for job in stage])
        try:
            text, interrupted, error = target.engine.run(jobs, progress=report)
        except STOP_EXCEPTIONS:
            stop = {"reason": "interrupted"}
            break
        counters.sample()
        reports = json.loads(text)
        done += [
            (number, job, report)
            for job, report in zip(stage, reports, strict=True)
            # Leave out the jobs of an interrupted stage that had not begun.
            if report["requests"] or not (interrupted or error)
        ]
        if error is not None:
            stop = {"reason": "failed", "error": error}
            break
        if interrupted:
            stop = {"reason": "interrupted"}
            break
    counters.sample(at_once=True)
    if stop["reason"] == "done" and not any(report["requests"] for _, _, report in done):
        warm_up = max(job.warm_up for stage in stages for job in stage)
        raise _core.ScenarioError(
            f"ramp_time = {warm_up:g} s: every job ended before statistics began; expected a"
            " shorter warm-up, or more to do"
        )
    document = _document(plan, target, environment, stages, done, sizes, counters, stop)
    return JobsResult(document, pl.DataFrame([*_histograms(done)], schema=SCHEMA, orient="row"))


def _lay_out(plan: Plan, target: Target, progress: Progress | None) -> dict[int, int]:
    """Make the files and return the size of each by its number."""
    direct = {
        number for stage in plan.stages for job in stage if job.direct for number in job.files()
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
            written=layout.written,
            direct=layout.number in direct,
            progress=report,
        )
    return sizes


def _fitted(job: Job, sizes: Mapping[int, int]) -> Job:
    """A job that uses its files as far as they were made."""
    made = [sizes[number] for number in job.files() if number in sizes]
    return dataclasses.replace(job, bytes=min([job.bytes, *made]))


def _progress_callback(
    progress: Progress, stages: Sequence[Sequence[Job]], number: int
) -> Callable[[float, list[list[tuple[int, int, float]]]], None]:
    stage = stages[number - 1]
    rates = [job.requested for job in stage]
    requested = None if None in rates else sum(rate for rate in rates if rate is not None)
    name = " + ".join(job.name for job in stage)
    lasts = [_stage_seconds(it) for it in stages[number - 1 :]]

    def report(seconds: float, jobs: list[list[tuple[int, int, float]]]) -> None:
        kinds = [kind for job in jobs for kind in job]
        counts = (
            sum(count for count, _, _ in kinds),
            sum(moved for _, moved, _ in kinds),
            sum(latency for _, _, latency in kinds),
        )
        left = None if None in lasts else max(sum(it for it in lasts if it) - seconds, 0.0)
        progress(JobsLive(number, len(stages), name, seconds, requested, counts, left))

    return report


def _stage_seconds(stage: Sequence[Job]) -> float | None:
    """Seconds of a stage, where that is known."""
    times = [job.lasts for job in stage]
    return None if None in times else max((time for time in times if time), default=0.0)


def _histograms(
    done: Sequence[tuple[int, Job, Mapping[str, Any]]],
) -> Iterator[tuple[str, str, str, int | None, int | None, int | None]]:
    for _, job, report in done:
        for operation, requests in report["requests"].items():
            exact = requests["exact"] or {}
            total, least, most = (exact.get(key) for key in ("sum", "least", "most"))
            yield job.label(operation), "service", requests["histogram"], total, least, most


def _document(
    plan: Plan,
    target: Target,
    environment: Environment,
    stages: Sequence[Sequence[Job]],
    done: Sequence[tuple[int, Job, Mapping[str, Any]]],
    sizes: Mapping[int, int],
    counters: Counters,
    stop: Mapping[str, Any],
) -> dict[str, Any]:
    jobs = [job for stage in stages for job in stage]
    found = [_job(number, job, report, stop) for number, job, report in done]
    named = {
        job.label(operation): figures
        for (_, job, _), entry in zip(done, found, strict=True)
        for operation, figures in entry["operations"].items()
    }
    calls = {job.calls for job in jobs}
    document: dict[str, Any] = {
        "kind": KIND,
        "scenario": {"name": plan.name, "description": plan.description},
        "version": _core.VERSION,
        "place": _place(target),
        "environment": environment,
        "files": {"count": len(sizes), "bytes": sum(sizes.values())},
        "jobs": found,
        "throughput": {
            name: it["throughput"] for name, it in named.items() if it["throughput"] and it["bytes"]
        },
        "operations": {
            name: {key: it[key] for key in ("count", "bytes", "active_seconds", "per_second")}
            for name, it in named.items()
        },
        "latency": {name: it["latency"] for name, it in named.items()},
        "measured_seconds": sum(
            max(entry["seconds"] for entry in found if entry["stage"] == number)
            for number in {entry["stage"] for entry in found}
        ),
        "processes": max((job.processes for job in jobs), default=0),
        "counters": counters.summary(),
        "notes": list(plan.notes),
        "stop": dict(stop),
    }
    document["warnings"] = [*_warnings(target, jobs, found), *_conditions(document, target)]
    # If jobs use different calls, each job names its own.
    document |= {"calls": calls.pop()} if len(calls) == 1 else {}
    document |= {} if plan.job_file is None else {"job_file": plan.job_file}
    intended = {
        name: it["latency_from_intended"]
        for name, it in named.items()
        if "latency_from_intended" in it
    }
    return document | ({"latency_from_intended": intended} if intended else {})


def _job(
    number: int, job: Job, report: Mapping[str, Any], stop: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a job's settings and its results."""
    operations = {
        operation: {
            key: value for key, value in requests.items() if key not in ("histogram", "exact")
        }
        for operation in OPERATIONS
        if (requests := report["requests"].get(operation)) is not None
    }
    if job.requested and job.seconds and stop["reason"] == "done":
        # Few requests of a job that waits for their times are soon over, and the job is not.
        for it in operations.values():
            it["active_seconds"] = max(it["active_seconds"], job.seconds)
            it["per_second"] = it["count"] / it["active_seconds"]
            it["throughput"] = it["bytes"] / it["active_seconds"]
    reads = report.get("reads")
    hit_rate = None
    if reads is not None and reads["asked_bytes"]:
        hit_rate = reads["hit_bytes"] / reads["asked_bytes"]
    return {
        "name": job.name,
        "stage": number,
        "pattern": "random" if job.random else "sequential",
        "read_share": job.read_share,
        "block": job.block,
        "bytes": job.bytes,
        "queue_depth": job.queue_depth,
        "processes": job.processes,
        "calls": job.calls,
        "direct": job.direct,
        "stable": job.stable,
        "requested_per_second": job.requested,
        "seconds": report["seconds"],
        "in_flight": report["in_flight"],
        "not_made": report["not_made"],
        "cache_hit_rate": hit_rate,
        "operations": operations,
    }


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
    target: Target, jobs: Sequence[Job], found: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, str]]:
    if in_memory(target):
        yield _warning(
            "in-memory",
            f"{target.path} is a file system in memory: the figures are those of memory",
        )
    elif not all(job.direct for job in jobs):
        yield _warning(
            "not-direct",
            "the page cache was not bypassed (no O_DIRECT): reads may come from memory; writes"
            " count when they are on stable storage where O_DSYNC or fsync was asked for",
        )
    hits = {
        it["name"]: it["cache_hit_rate"]
        for it in found
        if it["cache_hit_rate"] is not None and it["cache_hit_rate"] >= HITS
    }
    if hits:
        shares = ", ".join(f"{percent(share)} % in {name}" for name, share in hits.items())
        yield _warning("page-cache", f"part of the reads were page-cache hits: {shares}")
    for it in found:
        if not it["operations"]:
            yield _warning(
                f"nothing-measured {it['name']}",
                f"{it['name']}: all its requests ended within the warm-up; expected a shorter"
                " ramp_time, or more to do",
            )
        if it["not_made"]:
            yield _warning(
                f"not-made {it['name']}",
                f"{it['name']}: {it['not_made']:,} requests were due and not made before the end:"
                " all slots of the queue were taken",
            )
    small = [job for job in jobs if job.random and not job.direct and job.reads]
    if small and (block := min(job.block for job in small)) < 4096:
        yield _warning(
            "small-blocks", f"reads of {short_size(block)} through the page cache read whole pages"
        )


def _conditions(document: Mapping[str, Any], target: Target) -> list[dict[str, str]]:
    """Return the warnings that jobs share with measurements of workloads."""
    free = 1.0
    if not target.is_device:
        room = os.statvfs(target.path)
        free = room.f_bavail / room.f_blocks if room.f_blocks else 1.0
    of_host = {**document, "calls": POSIX, "operations": {}}
    return conditions(of_host, direct=True, free=free)


def _warning(condition: str, message: str) -> dict[str, str]:
    return {"condition": condition, "message": message}
