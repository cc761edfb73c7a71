"""Simulate designs: applications ask without pause first, then for what they want."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

from headrace import simulate
from headrace._core import RunError, ScenarioError
from headrace.design.evaluation import ApplicationPerformance
from headrace.design.performance.simulation import (
    DesignScenario,
    Detail,
    Simulated,
    part_for,
    performances,
    read_result,
    satisfaction,
    scenario,
)
from headrace.design.performance.workloads import ApplicationLoad
from headrace.design.system import Design
from headrace.design.worksheet import Worksheet, pool_worksheet, with_flows
from headrace.simulate import ParallelRuns

Simulate: TypeAlias = Callable[[Sequence[DesignScenario]], list["Simulated | Exception"]]
"""Run scenarios; of one that cannot be run the error."""
MOST_PACED = 2
"""Runs in which applications ask for little more than they want, at most."""


def run_scenarios(
    planned: Sequence[DesignScenario], runs: ParallelRuns
) -> list[Simulated | Exception]:
    """Simulate scenarios side by side."""
    loaded: list[simulate.Scenario | Exception] = []
    for case in planned:
        try:
            loaded.append(simulate.load(case.toml))
        except ScenarioError as error:
            loaded.append(error)
    results = iter(
        runs.results_or_errors([load_ for load_ in loaded if isinstance(load_, simulate.Scenario)])
    )
    done: list[Simulated | Exception] = []
    for one, case in zip(loaded, planned, strict=True):
        outcome = one if isinstance(one, Exception) else next(results)
        done.append(outcome if isinstance(outcome, Exception) else read_result(case, outcome))
    return done


class DesignRuns(NamedTuple):
    """Results of the simulations of a design."""

    performance: tuple[ApplicationPerformance, ...]
    event_rate: float
    """Events of a simulated second."""
    latencies: dict[str, float] | None
    """Latencies by which the applications paused; None if they asked without pause."""


class _State:
    """Runs of a design so far."""

    def __init__(self, design: Design, part: float, before: DesignRuns | None) -> None:
        self.design = design
        self.part = part
        self.before = before
        self.latencies = None if before is None else before.latencies
        """Latencies by which applications pause in the next run."""
        self.next: DesignScenario | None = None
        self.best: tuple[DesignScenario, Simulated] | None = None
        self.best_latencies: dict[str, float] | None = None
        self.saturated: Simulated | None = None
        self.error: Exception | None = None


def performances_of(
    designs: Sequence[Design],
    worksheet: Worksheet,
    *,
    detail: Detail,
    directory: Path,
    seed: int,
    run: Simulate,
    event_rates: Sequence[float] = (),
    before: Sequence[DesignRuns | None] = (),
) -> list[DesignRuns | Exception]:
    """Return the performance of designs.

    Every application first asks without pause. If that leaves one of them less than it wants, all
    ask for little more than they want. Pauses follow from the latencies of the run before.
    The run in which the least-served application gets most of what it wants counts.

    Args:
        designs: The designs.
        worksheet: Applications and clients.
        detail: How much is simulated.
        directory: Directory of the worksheet.
        seed: Seed of the random numbers.
        run: Runs scenarios.
        event_rates: Events of a simulated second of each design, if they are known.
        before: Results of each design with less detail: applications begin with the same pauses.

    Returns:
        For each design its performance, or the reason why it cannot be simulated.
    """
    parts = [part_for(rate, detail) for rate in event_rates] or [1.0] * len(designs)
    known = before or [None] * len(designs)
    states = [_State(*entry) for entry in zip(designs, parts, known, strict=True)]

    def prepare(state: _State) -> None:
        try:
            state.next = scenario(
                state.design,
                worksheet,
                detail=detail,
                directory=directory,
                seed=seed,
                latencies=state.latencies,
                part=state.part,
            )
        except (ValueError, OSError) as error:
            state.error = error

    for state in states:
        prepare(state)
    # Runs with more detail begin with pauses that suit already.
    most = 1 if any(before) else MOST_PACED
    for number in range(1 + most):
        waiting = [(each, case) for each in states if (case := each.next) is not None]
        outcomes = run([plan for _, plan in waiting])
        for (state, case), outcome in zip(waiting, outcomes, strict=True):
            state.next = None
            if isinstance(outcome, Exception):
                state.error = state.error or outcome
                continue
            if state.latencies is None:
                state.saturated = outcome
            if state.best is None or satisfaction(case.loads, outcome) > satisfaction(*_of(state)):
                state.best, state.best_latencies = (case, outcome), state.latencies
            if satisfaction(*_of(state)) < 1 and number < most and _may_share(case, outcome):
                state.latencies = {name: app.latency for name, app in outcome.applications.items()}
                prepare(state)
    return [_found(each) for each in states]


def _may_share(case: DesignScenario, outcome: Simulated) -> bool:
    """Return whether an application gets more than it wants, or a latency is missed: pauses cannot
    help otherwise."""
    return any(
        satisfaction((load._replace(application=plain),), outcome) >= 1
        or load.application.latency
        or load.application.latency_p99
        for load in case.loads
        for plain in (msgspec.structs.replace(load.application, latency=None, latency_p99=None),)
    )


def _of(state: _State) -> tuple[tuple[ApplicationLoad, ...], Simulated]:
    assert state.best is not None
    return state.best[0].loads, state.best[1]


def _found(state: _State) -> DesignRuns | Exception:
    if state.best is None:
        return state.error or RunError("nothing was simulated")
    case, simulated = state.best
    if state.saturated is not None:
        capability = {name: one.throughput for name, one in state.saturated.applications.items()}
    else:
        earlier = () if state.before is None else state.before.performance
        capability = {part.application: part.capability or part.throughput for part in earlier}
    return DesignRuns(
        performances(case, simulated, capability), simulated.event_rate, state.best_latencies
    )


def confirm(
    design: Design,
    worksheet: Worksheet,
    before: tuple[ApplicationPerformance, ...],
    *,
    directory: Path,
    seed: int,
    run: Simulate,
) -> tuple[DesignScenario, Simulated]:
    """Simulate all servers of a design, with applications that ask for little more than they want.

    Args:
        design: The design.
        worksheet: Applications and clients.
        before: Its performance as simulated with a part of the servers.
        directory: Directory of the worksheet.
        seed: Seed of the random numbers.
        run: Runs scenarios.

    Raises:
        RunError: The simulation fails.
    """
    case = scenario(
        design,
        worksheet,
        detail="whole",
        directory=directory,
        seed=seed,
        latencies={part.application: part.latency for part in before},
    )
    outcome = run([case])[0]
    if isinstance(outcome, TimeoutError):
        raise outcome
    if isinstance(outcome, Exception):
        raise RunError(str(outcome)) from outcome
    return case, outcome


def performance(
    design: Design,
    worksheet: Worksheet,
    *,
    detail: Detail = "whole",
    directory: Path = Path(),
    seed: int = 1,
) -> tuple[ApplicationPerformance, ...]:
    """Simulate a design with all applications of a worksheet at once.

    Zones with servers of their own have a simulation each.

    Args:
        design: The system.
        worksheet: Applications and clients.
        detail: "coarse" for few servers and clients and a short time, "full" for more and for
            intervals, "whole" for all servers.
        directory: Directory of the worksheet, which its files are relative to.
        seed: Seed of the random numbers.

    Returns:
        The performance of each application.

    Raises:
        ValueError: The worksheet has no application, or one cannot run on this file system.
        OSError: A profile or trace cannot be read.
        RunError: The simulation fails.

    Examples:
        >>> from headrace.design.system import Array, Design
        >>> catalogue = hr.design.load_catalogue().catalogue
        >>> array = Array(kind="raid6", disks=12, data=10, parity=2, chunk=256 << 10)
        >>> node, disk, network = catalogue.nodes[0], catalogue.disks[1], catalogue.networks[1]
        >>> counts = {"nodes": 2, "disks_per_node": 12, "arrays_per_node": 1, "spares_per_node": 0}
        >>> parts = {"node": node, "disk": disk, "array": array, "network": network}
        >>> design = Design(file_system="glusterfs", metadata_nodes=0, **counts, **parts)
        >>> from headrace.design.performance import performance
        >>> worksheet = hr.design.load_worksheet("scenarios/design/lab.toml").worksheet
        >>> parts = performance(design, worksheet, detail="coarse")
        >>> [(part.application, part.throughput > 0) for part in parts]
        [('analysis', True), ('office', True)]
    """
    if design.pools:
        return tuple(
            part
            for one in design.each_pool
            for part in performance(
                one,
                with_flows(pool_worksheet(worksheet, one.zones)),
                detail=detail,
                directory=directory,
                seed=seed,
            )
        )
    with ParallelRuns("design", progress=False) as runs:
        results = performances_of(
            [design],
            worksheet,
            detail=detail,
            directory=directory,
            seed=seed,
            run=lambda cases: run_scenarios(cases, runs),
        )[0]
    if isinstance(results, (ValueError, OSError, RunError)):
        raise results
    if isinstance(results, Exception):
        raise RunError(str(results)) from results
    return results.performance
