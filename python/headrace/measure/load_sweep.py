"""Load sweep: achieved rate and response time at one requested rate after another."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np

from headrace import _core, ranks
from headrace.fields import to_document
from headrace.measure import space
from headrace.measure.calls import NULL
from headrace.measure.load_search import search
from headrace.measure.report import Catalogued, CataloguedRate, CataloguedTime, Latency, Report
from headrace.measure.sweep_result import LoadSweep
from headrace.measure.sweep_runner import SoFar, SweepRunner, Watch, run_sweep
from headrace.measure.sweep_steps import LoadPoint, Step, StepOf
from headrace.quantities import numbered

AtLoad: TypeAlias = Callable[[float], _core.Loaded]
"""The scenario in which operations come at a rate."""


OVERALL = "overall response"
"""Name under which the store catalogues the overall response time."""


class Criteria(NamedTuple):
    """Criteria by which a system sustains a load.

    Examples:
        >>> mix = hr.measure.MixedLoad("mpfs-benchmark", seconds=0.1, warm_up=0)
        >>> criteria = hr.measure.Criteria(response_s=0.005)
        >>> sweep = hr.measure.load_sweep(mix.at, ".", rates=[100], criteria=criteria, calls="null")
        >>> sweep.document["criteria"]
        {'achieved': 0.95, 'response_s': 0.005}
    """

    achieved: float = 0.95
    """Least share of the offered load that must be achieved."""
    response_s: float = 0.020
    """Largest mean response time in seconds. SPEC SFS2008 reports no load above 20 ms (its run
    rules; SFS 1.1 allowed 50 ms)."""

    def _met(self, step: Step) -> bool:
        """Return whether a step met the criteria."""
        load = step.load
        achieved = load.achieved_per_second >= self.achieved * load.offered_per_second
        return achieved and step.response_mean_s <= self.response_s


SPEC_SFS = Criteria()


class Loads(NamedTuple):
    """The loads of a load sweep: `rates`, or those that a search from `start` on finds."""

    rates: Sequence[float]
    start: float
    refinements: int
    criteria: Criteria

    def check_room(self, at_load: AtLoad, below: str | PathLike[str], calls: str) -> None:
        """Raise RunError or ScenarioError if the files of the highest rate do not fit."""
        if calls == NULL:
            return
        if self.rates:
            loaded = at_load(max(self.rates))
            ranks.current().run_on_all(lambda: space.check_room(loaded, below))
            summary = numbered(len(set(self.rates)), "load")
            scenarios = [at_load(rate) for rate in sorted(set(self.rates))]
        else:
            summary = f"loads from {self.start:g} operations/s on, the first"
            scenarios = [at_load(self.start)]
        space.state_need(summary, scenarios, below)

    def measure(self, sweep: SweepRunner, at_load: AtLoad, client_hosts: int | None = None) -> None:
        """Measure one step for each load, on all hosts or on the first of them."""
        on = "" if client_hosts is None else f", {numbered(client_hosts, 'client host')}"

        def keeps_up(rate: float) -> bool:
            loaded, text = at_load(rate), f"{rate:g} operations/s{on}"
            if sweep.calls != NULL:
                text += f", {space.Need.of([loaded])}"
            search_on = not self.rates and sweep.results and sweep.calls != NULL
            if search_on and not sweep.has_room(loaded, text):
                return False
            step = sweep.step(loaded, text, client_hosts)
            return step is not None and self.criteria._met(step)

        if self.rates:
            for rate in sorted(set(self.rates)):
                keeps_up(rate)
        else:
            search(keeps_up, self.start, self.refinements)


def load_sweep(
    at_load: AtLoad,
    below: str | PathLike[str],
    *,
    rates: Sequence[float] = (),
    start: float = 100.0,
    refinements: int = 4,
    criteria: Criteria = SPEC_SFS,
    calls: str = "posix",
    repeats: int = 1,
    keep: bool = False,
    watch: Watch | None = None,
    resumed: Mapping[str, Any] | None = None,
    so_far: SoFar | None = None,
) -> LoadSweep:
    """Run a mix at one rate after another in a new directory below an existing one.

    Existing files are used again at the next step, with their first sizes.

    Parameters:
        at_load: Function that returns the scenario for a rate in operations a second.
        below: The existing directory.
        rates: Rates in operations a second. By default the sweep doubles the rate from `start`
            until the system does not sustain it or the next rate's files do not fit. It then
            refines the range.
        start: First rate of the search, in operations a second.
        refinements: Number of refinements.
        criteria: Criteria by which a rate is sustained.
        calls: As in `measure`.
        repeats: Number of repetitions of the whole sweep. Rates found in the first are measured
            again, and figures are over all repetitions.
        keep: Whether to leave the directory in place at the end.
        watch: Function that returns a context with the progress callback of a step.
        resumed: Document of an earlier sweep, whose steps are not measured again.
        so_far: Callback with the partial sweep after each step.

    Returns:
        The sweep; partial on Ctrl-C.

    Raises:
        ScenarioError: if the workload cannot be run on a real file system.
        OSError: if the directory cannot be created.
        RunError: if files of the workload cannot be created.
        ValueError: if `resumed` is of another scenario, version, host or file system.

    Examples:
        >>> mix = hr.measure.MixedLoad("mpfs-benchmark", seconds=0.1, warm_up=0)
        >>> sweep = hr.measure.load_sweep(mix.at, ".", rates=[100, 200], calls="null")
        >>> [step["requested_per_second"] for step in sweep.document["steps"]]
        [100.0, 200.0]
    """
    loads = Loads(rates, start, refinements, criteria)
    loads.check_room(at_load, below, calls)
    return run_sweep(
        lambda sweep: loads.measure(sweep, at_load),
        lambda sweep: _document(sweep, criteria),
        below,
        command="loads",
        step_of=load_step,
        calls=calls,
        repeats=repeats,
        keep=keep,
        watch=watch,
        resumed=resumed,
        so_far=so_far,
    )


def load_step(report: Report, each: Sequence[Report]) -> Step | None:
    """Return the step of a load sweep for a measurement; None if no operation was done."""
    if report.load is None or not report.operations:
        return None
    return Step(f"{report.load.requested_per_second:.12g}/s", report, each)


def _document(sweep: SweepRunner, criteria: Criteria) -> dict[str, Any]:
    steps = sorted(sweep.steps, key=lambda step: step.load.requested_per_second)
    whole = judged(steps, criteria)
    document = {
        **sweep.document(),
        "criteria": criteria._asdict(),
        "steps": [step.json() for step in steps],
        **to_document(_shown(whole)),
    }
    if sweep.repetition_count > 1:
        repetitions = repetitions_of(whole, load_step) if sweep.first_complete else ()
        document["repetitions"] = to_document([_shown(judged(it, criteria)) for it in repetitions])
    return document


def judged(steps: Sequence[Step], criteria: Criteria) -> list[Step]:
    """Set whether each step met the criteria, and return the complete ones."""
    for step in steps:
        step.keeps_up = criteria._met(step)
    return [step for step in steps if not step.partial]


def repetitions_of(steps: Sequence[Step], step_of: StepOf) -> Iterator[list[Step]]:
    """Yield the steps of each complete repetition of the sweep."""
    for several in zip(*(step.each for step in steps), strict=False):
        yield [step for run in several if (step := step_of(run, [run])) is not None]


def _shown(steps: Sequence[Step]) -> "FoundLoads":
    """Return the findings of complete steps in order of load, with the catalogued figures."""
    facts = findings(steps)
    figures = catalogued(steps, {"": facts})
    return FoundLoads(
        **msgspec.structs.asdict(facts), operations=figures.operations, latency=figures.latency
    )


def catalogued(steps: Sequence[Step], curves: Mapping[str, "Findings"]) -> Catalogued:
    """Return the figures for the store's catalogue: those of the curves, each of which has a suffix
    for its names, and of all steps."""
    operations: dict[str, CataloguedRate] = {}
    latency: dict[str, Latency | CataloguedTime | None] = {}
    for suffix, curve in curves.items():
        for name, point in (
            ("knee", curve.knee),
            ("kept up", curve.kept_up),
            ("cut off", curve.cut_off),
        ):
            if point is not None:
                operations[name + suffix] = CataloguedRate(point.requested_per_second)
        if curve.overall_response_s is not None:
            latency[OVERALL + suffix] = CataloguedTime(curve.overall_response_s)
    for step in steps:
        operations[step.name] = CataloguedRate(step.load.achieved_per_second)
        latency[step.name] = step.response
    return Catalogued(operations=operations, latency=latency)


class Findings(msgspec.Struct, frozen=True):
    """Findings of a load sweep. Each is None if the steps do not show it."""

    knee: LoadPoint | None
    kept_up: LoadPoint | None
    """The highest sustained load."""
    cut_off: LoadPoint | None
    """The first load that is not sustained."""
    achieved_at_most_per_second: float | None
    overall_response_s: float | None


class FoundLoads(Findings, frozen=True, kw_only=True):
    """Findings with the figures for the store's catalogue."""

    operations: dict[str, CataloguedRate]
    latency: dict[str, Latency | CataloguedTime | None]


def findings(steps: Sequence[Step]) -> Findings:
    """Return the findings of steps in order of load."""
    return findings_of_points([_point(step) for step in steps], [step.keeps_up for step in steps])


def findings_of_points(points: Sequence[LoadPoint], keeps_up: Sequence[bool | None]) -> Findings:
    """Return the findings of points in order of load, and whether each is sustained."""
    kept = 0
    while kept < len(points) and keeps_up[kept]:
        kept += 1
    # The first that stays behind is the curve's end: later ones say only how long they lasted.
    curve = points[: kept + 1] if kept < len(points) else []
    place = knee([one.requested_per_second for one in curve], [it.response_mean_s for it in curve])
    return Findings(
        knee=curve[place] if place is not None else None,
        kept_up=points[kept - 1] if kept else None,
        cut_off=points[kept] if kept < len(points) else None,
        achieved_at_most_per_second=max((one.achieved_per_second for one in points), default=None),
        overall_response_s=overall_response(
            [(point.achieved_per_second, point.response_mean_s) for point in points[:kept]]
        ),
    )


def overall_response(curve: Sequence[tuple[float, float]]) -> float | None:
    """Return the overall response time of SPEC SFS (2.0 and later); None without a load.

    It is the area under the curve of achieved load and mean response time, divided by the largest
    achieved load.

    The points are those of sustained loads. Below the smallest of them, its response time is used.
    """
    points = sorted(curve)
    if not points or points[-1][0] <= 0:
        return None
    load, response = points[0]
    area = load * response
    for next_load, next_response in points[1:]:
        area += (next_load - load) * (response + next_response) / 2
        load, response = next_load, next_response
    return area / load


def _point(step: Step) -> LoadPoint:
    load = step.load
    return LoadPoint(load.requested_per_second, load.achieved_per_second, step.response_mean_s)


def knee(loads: Sequence[float], responses: Sequence[float]) -> int | None:
    """Return the index of the knee among points in order of load; None with fewer than three.

    The knee is the point farthest from the straight line between the first and the last point, both
    axes scaled to 1. Source: Satopaa et al. 2011, "Finding a Kneedle in a Haystack", section III.
    Its smoothing is left out, for which a load sweep has too few points. No slope or threshold
    must be chosen. The highest sustained load, which needs them, is reported separately.
    """
    if len(loads) < 3:
        return None
    x, y = _scaled(loads), _scaled(responses)
    below = x - y
    place = int(np.argmax(below))
    # A line, or a curve that bends the other way, has no knee.
    return place if 0 < place < len(loads) - 1 and below[place] > 1e-9 else None


def _scaled(values: Sequence[float]) -> np.ndarray:
    array = np.asarray(values, dtype=float)
    span = np.ptp(array)
    return (array - array.min()) / span if span > 0 else np.zeros_like(array)
