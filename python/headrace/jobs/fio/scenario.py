"""The scenario of a job file: a trace of each job, replayed in the turn of its stage.

A process of a job with a queue depth is as many processes of the trace, each with every
n-th of its requests. Their order is the same as in a measurement.
"""

import dataclasses
import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from headrace import _core
from headrace.files import atomic_file
from headrace.jobs.plan import OF_OFFSETS, FileLayout, Job, Plan

MOST_REQUESTS = 50_000
"""Requests of a job that are simulated: rates and latencies are then known to a per cent or so."""
HEADER = "time,process,operation,file,offset,size,duration,flags,other"
FOLDER = "headrace/fio"
OPERATIONS = {
    "create": "create",
    "stat": "stat",
    "unlink": "unlink",
    "mkdir": "mkdir",
    "rmdir": "rmdir",
    "truncate": "truncate",
    "allocate": "allocate",
    "punch": "allocate",
}


class Simulated(NamedTuple):
    """A scenario that was made of jobs."""

    file: Path
    jobs: Sequence[Job]
    """The job of each workload."""
    left_out: Sequence[str]
    """What is not simulated, a sentence each."""


def scenario_of(plan: Plan, folder: Path | None = None) -> Simulated:
    """Write the scenario of a plan and its traces to a folder, by default of the user's cache.

    Raises ValueError if nothing of it can be simulated; OSError if the files cannot be written.
    """
    stages = [(number, job) for number, stage in enumerate(plan.stages, 1) for job in stage]
    left_out = list(_left_out(plan, [job for _, job in stages]))
    stages = [(number, job) for number, job in stages if is_simulated(job)]
    if not stages:
        raise ValueError(f"{plan.name}: none of its jobs reads, writes or names files")
    digest = hashlib.sha256(
        json.dumps([[dataclasses.asdict(job) for _, job in stages], plan.name]).encode()
    ).hexdigest()[:16]
    folder = folder or _cache() / digest
    folder.mkdir(parents=True, exist_ok=True)
    sizes = {layout.number: layout for layout in plan.files}
    for number, (_, job) in enumerate(stages):
        with atomic_file(folder / f"{number}.csv") as partial:
            rows = trace(job, sizes)
            partial.write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    file = folder / "scenario.toml"
    with atomic_file(file) as partial:
        partial.write_text(_toml(plan, stages, left_out), encoding="utf-8")
    return Simulated(file, [job for _, job in stages], left_out)


def is_simulated(job: Job) -> bool:
    """Return whether a job does something to files."""
    return job.work != "compute" and job.calls != "null"


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / FOLDER


def _toml(plan: Plan, stages: Sequence[tuple[int, Job]], left_out: Sequence[str]) -> str:
    description = plan.description
    if left_out:
        description += f"; not simulated: {', '.join(left_out)}"
    several = len({number for number, _ in stages}) > 1
    lines = [
        f"name = {json.dumps(plan.name)}",
        f"description = {json.dumps(description)}",
    ]
    for number, (stage, job) in enumerate(stages):
        lines += [
            "",
            "[[workload]]",
            f"# {json.dumps(job.name)[1:-1]}",
            'kind = "trace"',
            f'file = "{number}.csv"',
            f'replay = "{_replay(job)}"',
        ]
        if several:
            lines.append(f"turns = [{stage}]")
        if job.pace.delay[0]:
            lines.append(f'shift = "{job.pace.delay[0]} s"')
        if job.content.compressible:
            lines.append(f"io.compressible = {job.content.compressible}")
        if job.content.duplicates:
            lines.append(f"io.duplicates = {job.content.duplicates}")
    return "\n".join(lines) + "\n"


def _replay(job: Job) -> str:
    if job.requested is not None:
        return "timed"
    return "paced" if job.pace.think is not None else "closed"


def trace(job: Job, sizes: dict[int, FileLayout]) -> Iterator[str]:
    """Yield the rows of a job's trace."""
    flags = "|".join(_flags(job))
    for number in job.all_files():
        layout = sizes.get(number)
        if layout is not None and layout.filled == "written":
            yield f"0,{job.name.replace(',', ' ')} 0.0,stat,f{number},0,{layout.bytes},0,regular,"
    share = max(MOST_REQUESTS // job.processes, 1)
    rows: list[tuple[float, str]] = []
    for rank in range(job.processes):
        rows += _of_process(job, rank, share, flags)
    rows.sort(key=lambda row: row[0])
    yield from (text for _, text in rows)


def _of_process(job: Job, rank: int, most: int, flags: str) -> Iterator[tuple[float, str]]:
    """Yield the times and rows of a process."""
    name = f"{job.name.replace(',', ' ')} {rank}"
    if job.work not in OF_OFFSETS:
        first = job.file + (0 if job.shared else rank * job.files)
        for number in range(first, first + min(job.files, most)):
            yield 0.0, f"0,{name}.0,{OPERATIONS[job.work]},f{number},0,0,0,,"
        return
    planned = _core.planned_requests(json.dumps(dataclasses.asdict(job)), rank, most)
    every = [each for each in (job.sync_every, job.sync_data_every) if each]
    if job.stable or job.stable_attributes:
        flags = "|".join(filter(None, [flags, "synchronous", "data-only" * job.stable]))
    seconds, _, requests = job.pace.think or (0.0, 0.0, 1)
    time = 0.0
    writes = 0
    written: list[tuple[int, int, int]] = []
    due = [0.0, 0.0]
    for place, (file, offset, size, reads) in enumerate(planned):
        slot = f"{name}.{place % job.queue_depth}"
        way = 0 if reads else 1
        interval = _interval(job, way, size)
        if interval is not None:
            time = due[way]
            due[way] += interval
        elif seconds and place and place % requests == 0:
            time += seconds
        word = OPERATIONS.get(job.work, "read" if reads else "write")
        yield time, f"{time:.9f},{slot},{word},f{file},{offset},{size},0,{flags},"
        if not reads:
            writes += 1
            if job.content.read_back:
                written.append((file, offset, size))
            for each in every:
                if writes % each == 0:
                    yield time, f"{time:.9f},{slot},sync,f{file},0,0,0,,"
    if job.sync_at_end and planned:
        yield time, f"{time:.9f},{name}.0,sync,f{planned[-1][0]},0,0,0,,"
    for place, (file, offset, size) in enumerate(written):
        slot = f"{name}.{place % job.queue_depth}"
        yield time, f"{time:.9f},{slot},read,f{file},{offset},{size},0,{flags},"


def _flags(job: Job) -> Iterator[str]:
    if job.direct:
        yield "direct"


def _interval(job: Job, way: int, size: int) -> float | None:
    """Seconds between two requests of a way."""
    requests, bytes_ = job.pace.requests[way], job.pace.bytes[way]
    if requests is not None:
        return 1 / requests
    return None if bytes_ is None else size / bytes_


def _left_out(plan: Plan, jobs: Sequence[Job]) -> Iterator[str]:
    """Yield what a simulation of jobs leaves out."""
    for job in jobs:
        if not is_simulated(job):
            yield f"{job.name}: it uses no files"
        elif job.repeated or _requests(job) > MOST_REQUESTS:
            yield f"{job.name}: requests after the first {MOST_REQUESTS:,}"
        if job.pace.poisson:
            yield f"{job.name}: random times between requests; they are equal"
        if job.content.verify or job.content.read_back:
            yield f"{job.name}: the time to compare data"
        if job.calls == "mapped":
            yield f"{job.name}: mmap; its requests are reads and writes"
        if job.scheduling.cpus or job.scheduling.nice is not None:
            yield f"{job.name}: its processors and nice value"
        if job.after or job.ends_all or job.steady_state or job.pace.latency_target:
            yield f"{job.name}: conditions for its start and end"
        if job.pace.flow:
            yield f"{job.name}: its part of a flow"
    if len({job.file for job in jobs}) < len(jobs):
        yield "files that jobs share; each job has its own"
    if plan.logs:
        yield "logs"


def _requests(job: Job) -> float:
    """Requests of a job at the most."""
    if job.work not in OF_OFFSETS:
        return float(job.files * job.processes)
    each = (job.total or job.bytes * job.files) / job.block * job.passes
    return (each if job.most is None else min(each, job.most)) * job.processes
