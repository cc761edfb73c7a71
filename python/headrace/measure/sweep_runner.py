"""Runner of load sweeps: measures one step after another in one directory, until one ends early."""

import contextlib
import copy
import hashlib
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, TypeAlias

import polars as pl

from headrace import _core, progress_events, ranks
from headrace.environment import Environment, of_directory
from headrace.environment import resumed as resumed_environment
from headrace.fields import to_document
from headrace.interruption import STOP_EXCEPTIONS, defer_signals, record_signals
from headrace.measure.benchmark import Progress, measure_in, removal_callback
from headrace.measure.calls import check_calls
from headrace.measure.hosts import new_directory
from headrace.measure.measurement import Measurement
from headrace.measure.measurement_site import measurement_site
from headrace.measure.removal import remove_directory
from headrace.measure.repetitions import merge_repetitions
from headrace.measure.report import ResultWarning, ScenarioText, Stop
from headrace.measure.resume import (
    check_checksum,
    check_matches,
    other_options_error,
    rank_count_field,
    with_checksum,
)
from headrace.measure.space import has_room, space_limit
from headrace.measure.sweep_result import KIND, LoadSweep
from headrace.measure.sweep_steps import SCHEMAS, EarlierMeasurements, Step, StepOf, step_tables

Watch: TypeAlias = Callable[[str], AbstractContextManager[Progress | None]]
"""Function that returns a context with the progress callback of a step, or of the final removal."""
SoFar: TypeAlias = Callable[[LoadSweep], object]
"""Callback with the partial sweep after each step."""


CACHE_HITS = 0.10
"""Largest share of reads from caches without a warning: Wang 2002, section 3.3.8, keeps hits below
it."""


class SweepStopped(Exception):
    """A step was interrupted or failed: no other is begun."""


@dataclass(eq=False)
class StepResult:
    """Measurements of one step: one, or one for each repetition of the sweep."""

    digest: str
    measurements: list[Measurement] = field(default_factory=list)
    step: Step | None = None
    """Figures of all measurements of the step."""


@dataclass(frozen=True)
class StepRequest:
    """A step that this sweep is to measure."""

    result: StepResult
    loaded: _core.Loaded
    what: str
    client_hosts: int | None
    """Number of hosts that take part; None for all."""


@dataclass
class SweepRunner:
    """State of a load sweep: its steps so far."""

    directory: _core.BenchmarkDirectory
    of: str
    """Variable of the sweep: `loads`, `clients` or `client-hosts`."""
    place: Mapping[str, str]
    environment: Environment
    step_of: StepOf
    calls: str
    repeats: int
    watch: Watch
    on_step: Callable[["SweepRunner"], None]
    """Callback after each complete step."""
    resumed: Mapping[str, Any] | None
    """The document of an earlier run."""
    results: list[StepResult] = field(default_factory=list)
    """Steps of the earlier run first; they stay even if they are not requested again."""
    requests: list[StepRequest] = field(default_factory=list)
    first_complete: bool = False
    """True when the first repetition of the sweep is complete."""
    too_late: bool = False
    """True if Ctrl-C, or a signal to end, came too late to stop a measurement."""
    without_room: list[str] = field(default_factory=list)
    """Steps whose files do not fit."""
    empty: list[str] = field(default_factory=list)
    """Steps in which nothing was done, which have no figures."""
    scenario: ScenarioText | None = None
    """Scenario of the first step."""
    seed: int | None = None
    stop: Stop = field(default_factory=lambda: Stop("unfinished"))

    def __post_init__(self) -> None:
        self.earlier = EarlierMeasurements(self.resumed)

    def begin(self, loaded: _core.Loaded) -> None:
        """Take the steps of the earlier run, and set the scenario of the sweep. Without this call,
        it is the scenario of the first step.

        Raises ValueError if the earlier run is of another scenario.
        """
        self._check(loaded)
        self._take_earlier()
        self.seed = loaded.seed
        description = tomllib.loads(loaded.toml).get("description", "")
        self.scenario = ScenarioText(loaded.name, description, loaded.toml)

    def step(self, loaded: _core.Loaded, text: str, client_hosts: int | None = None) -> Step | None:
        """Measure a scenario for the first time, on all hosts or on the first of them, or return
        the step of the earlier run.

        Raises SweepStopped if the step ended early; its partial result is in the sweep.
        """
        asked_for = loaded.toml
        if client_hosts is not None:
            asked_for += f"\n# client hosts: {client_hosts}"
        digest = hashlib.sha256(asked_for.encode()).hexdigest()
        if self.scenario is None:
            self.begin(loaded)
        there = (entry for entry in self.results if entry.digest == digest)
        result = next(there, None) or StepResult(digest)
        self.requests.append(StepRequest(result, loaded, text, client_hosts))
        self._run(self.requests[-1], 1)
        # A search goes on by what it saw first, however often it has been measured since.
        return self._step_of(result.measurements[:1]) if result.step else None

    def has_room(self, loaded: _core.Loaded, label: str) -> bool:
        """Return whether the files of another step fit beside those that exist. A warning names
        those that do not."""

        here = ranks.current()
        if here.broadcast(has_room(loaded, self.directory) if here.first else None):
            return True
        self.without_room.append(label)
        return False

    def repeat_steps(self) -> None:
        """Measure all steps again, sweep after sweep, in their first order, so that a drift of the
        machine affects all steps alike.

        Raises as `step` does; repetitions that ended early are left out.
        """
        for repetition in range(2, self.repeats + 1):
            for request in self.requests:
                if request.result.step:
                    self._run(request, repetition)

    def document(self) -> dict[str, Any]:
        """Return the fields that the documents of all sweeps share."""
        several = {"wanted_repeats": self.repetition_count} if self.repetition_count > 1 else {}
        return {
            "kind": KIND,
            "of": self.of,
            "scenario": to_document(self.scenario),
            "seed": self.seed,
            "version": _core.VERSION,
            "place": dict(self.place),
            "environment": self.environment,
            "calls": self.calls,
            "cores": len(os.sched_getaffinity(0)),
            **several,
            "steps": [step.json() for step in self.steps],
            "stop": to_document(self.stop),
            **rank_count_field(),
        }

    @property
    def repetition_count(self) -> int:
        """Number of repetitions of each step, at least as many as any step already has."""
        return max([self.repeats, *(len(result.measurements) for result in self.results)])

    @property
    def steps(self) -> list[Step]:
        """Steps with any measurement, in the order in which they were tried."""
        return [copy.copy(result.step) for result in self.results if result.step is not None]

    def tables(self) -> dict[str, pl.DataFrame]:
        """The tables of all measurements, step by step."""
        each = [
            step_tables(result.step.name, repetition, measurement)
            for result in self.results
            if result.step is not None
            for repetition, measurement in enumerate(result.measurements, 1)
        ]
        return {
            name: pl.concat([pl.DataFrame(schema=schema), *(tables[name] for tables in each)])
            for name, schema in SCHEMAS.items()
        }

    def _take_earlier(self) -> None:
        """Take all complete steps of the earlier run."""
        saved = self.earlier.measurements()
        self.results = [StepResult(digest, several) for digest, several in saved.items()]
        for result in self.results:
            self._show(result, result.measurements)

    def _run(self, request: StepRequest, repetition: int) -> None:
        result = request.result
        if len(result.measurements) >= repetition:
            return
        if self.too_late:
            self.stop = Stop("interrupted")
            raise SweepStopped
        measured = self._measure(request, repetition)
        early = self.stop.early
        if not early and measured is not None and not measured.report.operations:
            self.empty.append(request.what)
        if measured is not None and not (early and repetition > 1):
            self._add(result, measured, early)
        if early:
            raise SweepStopped
        if result.step and repetition == 1:
            self._report(result.step)
        self.on_step(self)

    def _report(self, step: Step) -> None:
        """Report the figures of a finished step to a program that shows them."""
        latency, load = step.response or step.service, step.report.load
        settings = {
            "requested": None if load is None else load.requested_per_second,
            "achieved": step.operations_per_second if load is None else load.achieved_per_second,
            "latency": None if latency is None else latency.mean,
            "processes": step.report.processes,
            "client hosts": step.client_hosts,
        }
        progress_events.finish_step(len(self.requests), step.name, settings)

    def _add(self, result: StepResult, measured: Measurement, early: bool) -> None:
        """Add a measurement to those of its step."""
        shown = self._show(result, [*result.measurements, measured], early)
        if shown and result not in self.results:
            self.results.append(result)

    def _show(self, result: StepResult, several: list[Measurement], early: bool = False) -> bool:
        """Make these a step's measurements, unless nothing was done in them."""
        step = self._step_of(several)
        if step is None:
            return False
        step.digest, step.partial = result.digest, early
        result.measurements, result.step = several, step
        return True

    def _step_of(self, several: list[Measurement]) -> Step | None:
        """Return the step for its measurements; None if no operation was done."""
        count = max(self.repetition_count, len(several))
        whole = several[0] if count == 1 else merge_repetitions(several, count)
        return self.step_of(whole.report, [measurement.report for measurement in several])

    def _check(self, loaded: _core.Loaded) -> None:
        """Raise ValueError if the resumed sweep was of another load."""
        if self.resumed is None:
            return
        before = self.resumed.get("scenario", {}).get("toml", "[clients]\n[[workload]]")
        if _without_load(before, self.of) != _without_load(loaded.toml, self.of):
            raise other_options_error(self.resumed)

    def _measure(self, request: StepRequest, repetition: int) -> Measurement | None:
        title = f"{request.loaded.name}, {request.what}"
        if self.repeats > 1:
            title += f", repeat {repetition} of {self.repeats}"
        try:
            with self.watch(title) as report, record_signals() as came:
                measured = self._measured(request, report)
        except STOP_EXCEPTIONS:
            # While files were made: there is nothing of this step.
            self.stop = Stop("interrupted")
            return None
        except (_core.RunError, _core.ScenarioError, OSError) as error:
            # Such as a full disk. The finished steps remain.
            if not self.results or ranks.count() > 1:
                raise
            self.stop = Stop("failed", f"{request.what}: {error}")
            return None
        self.stop = measured.report.early or self.stop
        # Ranks decide together, by what they have measured.
        self.too_late = bool(came) and ranks.count() == 1
        return measured

    def _measured(self, request: StepRequest, progress: Progress | None) -> Measurement:
        def work() -> Measurement:
            return measure_in(self.directory, request.loaded, calls=self.calls, progress=progress)

        if request.client_hosts is None:
            return work()
        return ranks.current().on_hosts(request.client_hosts, work)


def run_sweep(
    steps: Callable[[SweepRunner], object],
    document: Callable[[SweepRunner], dict[str, Any]],
    below: str | PathLike[str],
    *,
    command: str,
    step_of: StepOf,
    calls: str,
    repeats: int,
    keep: bool,
    watch: Watch | None,
    resumed: Mapping[str, Any] | None,
    so_far: SoFar | None,
) -> LoadSweep:
    """Run the steps in a new directory below an existing one, `repeats` times, sweep after sweep,
    and return the sweep. Steps of `resumed` are not measured again. `so_far` is called with the
    sweep after each step.

    Raises as `load_sweep` does.
    """
    directory = None
    interrupted = False

    def on_step(sweep: SweepRunner) -> None:
        if so_far is not None:
            so_far(LoadSweep(with_checksum(document(sweep)), **sweep.tables()))

    try:
        with defer_signals():
            directory = new_directory(below)
        here = measurement_site(below)
        environment = of_directory(below)
        if resumed is not None:
            check_matches(resumed, {"kind": KIND, "of": command}, here)
            check_calls(resumed, calls)
            check_checksum(resumed)
        sweep = SweepRunner(
            directory,
            command,
            here,
            resumed_environment(environment, resumed),
            step_of,
            str(calls),
            repeats,
            watch or _unwatched,
            on_step,
            resumed,
        )
        try:
            steps(sweep)
            sweep.first_complete = True
            sweep.repeat_steps()
            sweep.stop = Stop("done")
        except SweepStopped:
            pass
        except STOP_EXCEPTIONS:
            # Between two steps; ranks cannot know where the others are.
            if sweep.scenario is None or ranks.count() > 1:
                raise
            sweep.stop = Stop("interrupted")
        interrupted = sweep.stop.reason == "interrupted"
    finally:
        left = None
        if directory is not None and not keep:
            left = _removed(directory, interrupted, watch or _unwatched)
    if sweep.stop.reason == "done" and not sweep.results:
        raise nothing_done_error(sweep.empty)
    done = with_checksum(document(sweep))
    warnings = list(_warnings(sweep))
    if left is not None:
        warnings.append(left)
    if warnings:
        done["warnings"] = to_document(warnings)
    return LoadSweep(done, **sweep.tables())


def _warnings(sweep: SweepRunner) -> Iterator[ResultWarning]:
    """Yield the warnings about the sweep as a whole."""
    if sweep.empty:
        yield ResultWarning("nothing-done", str(nothing_done_error(sweep.empty)))
    if sweep.without_room:
        yield ResultWarning(
            "no-room",
            f"the files of {', '.join(sweep.without_room)} do not fit in the space that they may"
            f" take ({space_limit()}, --space): these rates were not tried; expected more space or"
            " fewer files, as by --set workload.0.files=10000",
        )
    rates = [
        (rate, step.name)
        for step in sweep.steps
        if (rate := step.report.cache.hit_rate) is not None and rate > CACHE_HITS
    ]
    if rates:
        most, name = max(rates)
        yield ResultWarning(
            "cache-hits",
            f"{len(rates)} of {len(sweep.steps)} steps read more than {CACHE_HITS:.0%} from the"
            f" page cache, {name} {most:.0%}: the page cache affects the differences between"
            " steps; take more or larger files, or longer warm-ups",
        )


def nothing_done_error(steps: Sequence[str]) -> ValueError:
    """Return the error for steps in which no operation was done."""
    return ValueError(
        f"no request was completed in the measured time at {', '.join(dict.fromkeys(steps))}:"
        " expected a longer time (--time) or a higher load (--rates, --start)"
    )


def _removed(
    directory: _core.BenchmarkDirectory, interrupted: bool, watch: Watch
) -> ResultWarning | None:
    with watch(str(directory.path)) as report:
        return remove_directory(
            directory, interrupted=interrupted, on_progress=removal_callback(report)
        )


def _unwatched(_: str) -> AbstractContextManager[None]:
    return contextlib.nullcontext()


def _without_load(toml: str, command: str) -> dict[str, Any]:
    """Return a scenario without the fields that the sweep varies."""
    scenario = tomllib.loads(toml)
    if command == "clients":
        scenario["clients"].pop("processes", None)
    else:
        for workload in scenario["workload"]:
            workload.pop("rate", None)
    return scenario
