"""Predictions for the jobs of a measurement."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from headrace import simulate
from headrace.jobs.fio.scenario import Simulated, scenario_of
from headrace.jobs.plan import OF_OFFSETS, Job, Plan
from headrace.measure.jobs.report import JobPrediction, JobPredictions

SYNCS = ("stat",)
"""Operations of a trace that only tell the size of a file, of jobs that read or write."""


@dataclass(frozen=True)
class Prediction:
    """The jobs of a plan on a system that a file describes."""

    system: Path
    simulated: Simulated
    scenario: simulate.Scenario

    @classmethod
    def prepared(cls, plan: Plan, system: Path) -> "Prediction":
        """Check that the jobs can be simulated on a system.

        Raises ScenarioError for an incomplete description of the system; ValueError if no job can
        be simulated; OSError if a file cannot be read or written.
        """
        simulated = scenario_of(plan)
        sets = [f"system={system.absolute()}"]
        return cls(system, simulated, simulate.load_with_sets(simulated.file, sets))

    def figures(self) -> JobPredictions:
        """Simulate the jobs, and return their figures."""
        requests = simulate.run(self.scenario, requests=True, progress=False).requests
        if requests is None:
            raise ValueError(f"{self.system}: the simulation gives no single requests")
        figures = [
            _figures(requests.filter(pl.col("workload") == number), job)
            for number, job in enumerate(self.simulated.jobs)
        ]
        return JobPredictions(
            system=str(self.system),
            jobs=[each for one in figures for each in one],
            left_out=list(self.simulated.left_out),
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
