"""Predictions for the jobs of a measurement."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from headrace import simulate
from headrace.jobs.fio.scenario import scenario_of
from headrace.jobs.plan import OF_OFFSETS, Job, Plan
from headrace.measure.jobs.report import JobPrediction, JobPredictions

SYNCS = ("stat",)
"""Operations of a trace that only tell the size of a file, of jobs that read or write."""


def predict_jobs(plan: Plan, system: Path, sets: Sequence[str] = ()) -> JobPredictions:
    """Simulate the jobs of a plan on a system, described by a file, and return their figures.

    Raises ScenarioError if the system is not described completely; ValueError if none of the jobs
    can be simulated; OSError if the scenario cannot be written.
    """
    simulated = scenario_of(plan)
    scenario = simulate.load_with_sets(simulated.file, [f"system={system.absolute()}", *sets])
    requests = simulate.run(scenario, requests=True, progress=False).requests
    if requests is None:
        raise ValueError(f"{system}: the simulation gives no single requests")
    figures = [
        _figures(requests.filter(pl.col("workload") == number), job)
        for number, job in enumerate(simulated.jobs)
    ]
    return JobPredictions(
        system=str(system),
        jobs=[each for one in figures for each in one],
        left_out=list(simulated.left_out),
    )


def _figures(requests: pl.DataFrame, job: Job) -> list[JobPrediction]:
    """Return the figures of each operation of a job."""
    if job.work in OF_OFFSETS:
        requests = requests.filter(~pl.col("operation").is_in(SYNCS))
    rows = requests.group_by("operation", maintain_order=True).agg(
        count=pl.len(),
        moved=pl.col("size_bytes").sum(),
        first=pl.col("issued_s").min(),
        last=pl.col("completed_s").max(),
        mean=pl.col("latency_s").mean(),
        p50=pl.col("latency_s").quantile(0.5, "nearest"),
        p99=pl.col("latency_s").quantile(0.99, "nearest"),
    )
    figures: list[JobPrediction] = []
    last_sync = rows.filter(pl.col("operation") == "sync")["last"].max()
    for row in rows.iter_rows(named=True):
        operation = str(row["operation"])
        # As in the measurement: data is written when it is on stable storage.
        last = max(row["last"], last_sync) if operation == "write" and last_sync else row["last"]
        seconds = last - row["first"]
        figures.append(
            JobPrediction(
                name=job.name,
                operation=operation,
                count=row["count"],
                per_second=row["count"] / seconds if seconds > 0 else None,
                throughput=row["moved"] / seconds if seconds > 0 and row["moved"] else None,
                mean=row["mean"],
                p50=row["p50"],
                p99=row["p99"],
            )
        )
    return figures
