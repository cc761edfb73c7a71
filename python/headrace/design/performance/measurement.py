"""Simulate designs: first with all that applications can ask for, then with what they want."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from headrace import simulate
from headrace._core import RunError, ScenarioError
from headrace.design.evaluation import ApplicationPerformance
from headrace.design.performance.simulation import (
    Detail,
    DesignScenario,
    Simulated,
    performances,
    read_result,
    satisfaction,
    scenario,
)
from headrace.design.system import Design
from headrace.design.worksheet import Worksheet
from headrace.simulate import ParallelRuns

Simulate: TypeAlias = Callable[[Sequence[DesignScenario]], list["Simulated | Exception"]]
"""Run scenarios; of one that cannot be run the error."""


def run_scenarios(made: Sequence[DesignScenario], runs: ParallelRuns) -> list[Simulated | Exception]:
    """Simulate scenarios side by side."""
    loaded: list[simulate.Scenario | Exception] = []
    for it in made:
        try:
            loaded.append(simulate.load(it.toml))
        except ScenarioError as error:
            loaded.append(error)
    results = iter(
        runs.results_or_errors([it for it in loaded if isinstance(it, simulate.Scenario)])
    )
    found: list[Simulated | Exception] = []
    for one, it in zip(loaded, made, strict=True):
        outcome = one if isinstance(one, Exception) else next(results)
        found.append(outcome if isinstance(outcome, Exception) else read_result(it, outcome))
    return found


def performances_of(
    designs: Sequence[Design],
    worksheet: Worksheet,
    *,
    detail: Detail,
    directory: Path,
    seed: int,
    run: Simulate,
) -> list[tuple[ApplicationPerformance, ...] | Exception]:
    """Return the performance of designs.

    Every application first asks for as much as it can. Where that leaves one of them less than it
    wants, all ask for little more than they want, and the better of the two runs counts.

    Returns:
        For each design its performance, or the reason why it cannot be simulated.
    """
    made: list[DesignScenario | Exception] = []
    for design in designs:
        try:
            made.append(
                scenario(design, worksheet, detail=detail, directory=directory, seed=seed)
            )
        except (ValueError, OSError) as error:
            made.append(error)
    results = iter(run([it for it in made if isinstance(it, DesignScenario)]))
    saturated = [it if isinstance(it, Exception) else next(results) for it in made]
    paced: list[DesignScenario | None] = []
    for design, one, got in zip(designs, made, saturated, strict=True):
        again = None
        if isinstance(one, DesignScenario) and isinstance(got, Simulated):
            if satisfaction(one.loads, got) < 1:
                again = scenario(
                    design,
                    worksheet,
                    detail=detail,
                    directory=directory,
                    seed=seed,
                    latencies={name: it.latency for name, it in got.applications.items()},
                )
        paced.append(again)
    results = iter(run([it for it in paced if it is not None]))
    found: list[tuple[ApplicationPerformance, ...] | Exception] = []
    for one, got, again in zip(made, saturated, paced, strict=True):
        if isinstance(one, Exception):
            found.append(one)
            if again is not None:
                next(results)
            continue
        slower = next(results) if again is not None else None
        if isinstance(got, Exception):
            found.append(got)
        elif (
            again is not None
            and isinstance(slower, Simulated)
            and satisfaction(again.loads, slower) > satisfaction(one.loads, got)
        ):
            found.append(performances(again, slower, got))
        else:
            found.append(performances(one, got, got))
    return found


def performance(
    design: Design,
    worksheet: Worksheet,
    *,
    detail: Detail = "full",
    directory: Path = Path(),
    seed: int = 1,
) -> tuple[ApplicationPerformance, ...]:
    """Simulate a design with all applications of a worksheet at once.

    Args:
        design: The system.
        worksheet: Applications and clients.
        detail: "coarse" for few clients and a short time, "full" for more, with intervals.
        directory: Directory of the worksheet, which its files are relative to.
        seed: Seed of the random numbers.

    Returns:
        The performance of each application.

    Raises:
        ValueError: The worksheet has no application, or one cannot run on this file system.
        OSError: A profile or trace cannot be read.
        RunError: The simulation fails.
    """
    with ParallelRuns("design", progress=False) as runs:
        found = performances_of(
            [design],
            worksheet,
            detail=detail,
            directory=directory,
            seed=seed,
            run=lambda made: run_scenarios(made, runs),
        )[0]
    if isinstance(found, (ValueError, OSError, RunError)):
        raise found
    if isinstance(found, Exception):
        raise RunError(str(found)) from found
    return found
