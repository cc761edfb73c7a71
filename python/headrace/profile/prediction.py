"""Simulate the operations of a phase on a machine model, with and without a change."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import polars as pl

import headrace as hr
from headrace.document_io import toml_value
from headrace.profile.machine_model import OUTPUT_VOLUME, is_local, machine_scenario, second_volume
from headrace.profile.paced_trace import write_paced
from headrace.simulate import ParallelRuns, Quantified


@dataclass(frozen=True)
class Case:
    """Operations of a phase, and the machine they run on."""

    machine: str
    """A scenario without workloads, as TOML."""
    records: pl.DataFrame
    """Operations with `gap_ns`, as `headrace.profile.paced_trace` has them."""
    gaps: Literal["compute", "wait"]
    """What the processes do in the gaps."""
    tail_s: float = 0.0
    """Time after the last operation."""
    computes: float = 1.0
    """Part of the gaps and of the tail in which the program computes, 0 to 1."""
    cached: bool = False
    """True if the files that are read are in the page cache at the start."""
    sets: Mapping[str, Any] = field(default_factory=dict)
    """Values of the machine that a change sets, by path."""
    separate_output: bool = False
    """True if files that are only written lie on a second device of the same kind."""

    def with_records(self, records: pl.DataFrame) -> "Case":
        """Return the case with other operations."""
        return replace(self, records=records)

    def with_gap_factor(self, factor: float) -> "Case":
        """Return the case with all computing multiplied by a factor."""
        factor = 1 - self.computes * (1 - factor)
        tail = self.tail_s * factor
        scaled = (pl.col("gap_ns") * factor).round().cast(pl.Int64)
        return replace(self, records=self.records.with_columns(gap_ns=scaled), tail_s=tail)

    def with_sets(self, sets: Mapping[str, Any]) -> "Case":
        """Return the case on a machine with other values."""
        return replace(self, sets={**self.sets, **sets})

    def quantities(self, prefix: str) -> list[Quantified]:
        """Return the machine's fields of rates, sizes, times and counts below a path."""
        quantities = machine_scenario(self.machine).quantities
        return [size for size in quantities if size.path.startswith(prefix) and size.amount]

    def scenario(self, trace: Path) -> str:
        """Return the scenario that replays a trace of these operations."""
        text = self.machine
        if self.separate_output:
            text += second_volume(self.machine)
        workload = ["", "[[workload]]", 'kind = "trace"', f"file = {toml_value(str(trace))}"]
        workload += ['replay = "paced"', f'gaps = "{self.gaps}"']
        if self.separate_output:
            workload.append(f'output_volume = "{OUTPUT_VOLUME}"')
        # A parallel file system has no page cache in which the files lie at the start.
        if self.cached and is_local(self.machine):
            workload += ["", "[workload.io]", "cached = true"]
        return text + "\n".join(workload) + "\n"


@dataclass(frozen=True)
class Outcome:
    """Simulated run time of a case."""

    seconds: float
    scenario: str | None
    """The scenario that was simulated, with the values of the change; None if none was."""
    bottleneck: str | None
    error: str | None = None
    trace: Path | None = None
    """The temporary trace that the scenario names; it is deleted."""


def simulate(
    cases: Sequence[Case], on_progress: Callable[[int, int, str], object] | None = None
) -> list[Outcome]:
    """Simulate cases in parallel.

    `on_progress` is called with the completed and the known runs, and a title.

    Raises ScenarioError if the machine of the first case is invalid. A later case that cannot run
    has its error in its outcome.
    """
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="headrace-profile-") as folder:
        traces = [Path(folder) / f"case-{at}.csv" for at in range(len(cases))]
        loaded = [_loaded(case, trace) for case, trace in zip(cases, traces, strict=True)]
        if loaded and isinstance(loaded[0], hr.ScenarioError):
            raise loaded[0]
        simulated = [entry for entry in loaded if isinstance(entry, hr.Scenario)]
        with ParallelRuns("prediction", progress=on_progress or False) as runs:
            ended = iter(runs.results_or_errors(simulated))
        for at, (case, scenario) in enumerate(zip(cases, loaded, strict=True)):
            if scenario is None:
                outcomes.append(Outcome(case.tail_s, None, None))
                continue
            result = scenario if isinstance(scenario, hr.ScenarioError) else next(ended)
            if isinstance(result, Exception):
                outcomes.append(Outcome(0.0, None, None, str(result)))
                continue
            document = result.document
            bottleneck = document.get("bottleneck") or {}
            outcomes.append(
                Outcome(
                    document["simulated_seconds"] + case.tail_s,
                    document["scenario"]["toml"],
                    bottleneck.get("name"),
                    trace=traces[at],
                )
            )
    return outcomes


def _loaded(case: Case, trace: Path) -> hr.Scenario | hr.ScenarioError | None:
    """Write the trace of a case and load its scenario; None if there is nothing to simulate."""
    if case.records.is_empty():
        return None
    write_paced(case.records, trace)
    try:
        return hr.load(case.scenario(trace), case.sets)
    except hr.ScenarioError as error:
        return error
