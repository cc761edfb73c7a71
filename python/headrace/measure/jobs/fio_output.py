"""A result as fio's own JSON (`--output-format=json`), for programs that read that."""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias

import polars as pl

from headrace import _core, histograms
from headrace.jobs.plan import Plan
from headrace.measure.jobs.report import JobFigures, JobsReport, RequestFigures

PERCENTILES = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99)
"""fio's own."""
Document: TypeAlias = dict[str, object]
"""A part of fio's JSON."""
NS = 1e9
GRID = 1000
"""Quantiles of which the standard deviation is taken."""
WAYS = ("read", "write", "trim")


def fio_json(result: JobsReport, latencies: pl.DataFrame, plan: Plan) -> Document:
    """Return a result in the form that fio 3 prints.

    Latencies count from the submission: clat and lat are the same, slat is 0. Figures that Headrace
    does not have are left out.
    """
    now = datetime.now(UTC)
    labels = {job.name: job for stage in plan.stages for job in stage}
    groups = {name: number for number, name in enumerate(labels)}
    jobs = [
        _job(job, groups.get(job.name, 0), latencies, labels[job.name].label) for job in result.jobs
    ]
    return {
        "fio version": f"headrace-{_core.VERSION}",
        "timestamp": int(now.timestamp()),
        "timestamp_ms": int(now.timestamp() * 1000),
        "time": now.strftime("%a %b %d %H:%M:%S %Y"),
        "jobs": jobs,
    }


def _job(
    job: JobFigures, group: int, latencies: pl.DataFrame, label: Callable[[str], str]
) -> Document:
    document: Document = {
        "jobname": job.name,
        "groupid": group,
        "error": 0,
        "elapsed": max(round(job.seconds), 1),
        "job options": {
            "name": job.name,
            "bs": str(job.block),
            "iodepth": str(job.queue_depth),
            "numjobs": str(job.processes),
        },
    }
    for way in WAYS:
        document[way] = _direction(job.operations.get(way), latencies, label(way))
    sync = job.operations.get("sync")
    if sync is not None:
        document["sync"] = {
            "total_ios": sync.count,
            "lat_ns": _times(sync, latencies, label("sync")),
        }
    document["job_runtime"] = round(job.seconds * 1000)
    return document


def _direction(figures: RequestFigures | None, latencies: pl.DataFrame, label: str) -> Document:
    """Return the figures of reads or of writes."""
    count = 0 if figures is None else figures.count
    moved = 0 if figures is None else figures.bytes
    seconds = 0.0 if figures is None else figures.active_seconds
    rate = moved / seconds if seconds else 0.0
    times: Mapping[str, Any] = (
        _times(figures, latencies, label)
        if figures is not None
        else {"min": 0, "max": 0, "mean": 0.0, "N": 0}
    )
    return {
        "io_bytes": moved,
        "io_kbytes": moved // 1024,
        "bw_bytes": int(rate),
        "bw": int(rate / 1024),
        "iops": count / seconds if seconds else 0.0,
        "runtime": round(seconds * 1000),
        "total_ios": count,
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0},
        "clat_ns": times,
        "lat_ns": {key: value for key, value in times.items() if key != "percentile"},
    }


def _times(figures: RequestFigures, latencies: pl.DataFrame, label: str) -> Document:
    """Return times in nanoseconds; the standard deviation is that of a thousand quantiles."""
    common = figures.latency
    mean = common.mean or 0.0
    times: Document = {
        "min": 0,
        "max": _ns(common.max),
        "mean": mean * NS,
        "stddev": 0.0,
        "N": figures.count,
    }
    own = latencies.filter(pl.col("operation") == label)
    if own.height:
        times["min"] = min(own["least_ns"].drop_nulls().to_list(), default=0)
        at: Sequence[float] = [percent / 100 for percent in PERCENTILES]
        grid = [(place + 0.5) / GRID for place in range(GRID)]
        rows = histograms.percentiles([own], [*at, *grid])
        values = rows.filter(pl.col("operation") == label)["time_s"].to_list()
        squares = [(value - mean) ** 2 for value in values[len(at) :]]
        times["stddev"] = math.sqrt(sum(squares) / GRID) * NS
        times["percentile"] = {
            f"{percent:.6f}": _ns(value)
            for percent, value in zip(PERCENTILES, values, strict=False)
        }
    return times


def _ns(seconds: float | None) -> int:
    return round((seconds or 0.0) * NS)
