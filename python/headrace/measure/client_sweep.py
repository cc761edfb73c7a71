"""Client sweep: throughput with more processes on one host, each of which issues its next operation
at once."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

from headrace import _core
from headrace.fields import to_document
from headrace.histograms import ALL
from headrace.intervals import half_width
from headrace.measure.calls import NULL
from headrace.measure.report import Catalogued, CataloguedRate, Latency, Report
from headrace.measure.space import state_need
from headrace.measure.sweep_result import LoadSweep
from headrace.measure.sweep_runner import SoFar, SweepRunner, Watch, run_sweep
from headrace.measure.sweep_steps import Step


def client_sweep(
    with_processes: Callable[[int], _core.Loaded],
    below: str | PathLike[str],
    counts: Sequence[int],
    *,
    warm_up: float,
    calls: str = "posix",
    repeats: int = 1,
    keep: bool = False,
    watch: Watch | None = None,
    resumed: Mapping[str, Any] | None = None,
    so_far: SoFar | None = None,
) -> LoadSweep:
    """Run a mix with one number of processes after another, as `load_sweep` does with rates.

    Raises as `load_sweep` does.

    Examples:
        >>> mix = hr.measure.MixedLoad("mpfs-benchmark", seconds=0.1, warm_up=0)
        >>> at = mix.with_processes
        >>> sweep = hr.measure.client_sweep(at, ".", [1, 2, 4], warm_up=0, calls="null")
        >>> [step["name"] for step in sweep.document["steps"]]
        ['processes 1', 'processes 2', 'processes 4']
    """

    if calls != NULL:
        scenarios = [with_processes(count) for count in sorted(set(counts))]
        state_need(f"{len(scenarios)} numbers of processes", scenarios, below, repeats)

    def steps(sweep: SweepRunner) -> None:
        for count in sorted(set(counts)):
            sweep.step(with_processes(count), f"{count} processes")

    return run_sweep(
        steps,
        lambda sweep: _document(sweep, warm_up),
        below,
        command="clients",
        step_of=lambda report, each: _step(report, each, warm_up),
        calls=calls,
        repeats=repeats,
        keep=keep,
        watch=watch,
        resumed=resumed,
        so_far=so_far,
    )


def _document(sweep: SweepRunner, warm_up: float) -> dict[str, Any]:
    steps = sorted(sweep.steps, key=lambda step: step.report.processes)
    _compare(steps, warm_up)
    whole = [step for step in steps if not step.partial]
    document = {
        **sweep.document(),
        "steps": [step.json() for step in steps],
        **to_document(
            _catalogued(
                [(it.name, it.operations_per_second, it.report.latency.get(ALL)) for it in whole]
            )
        ),
    }
    if sweep.repetition_count > 1:
        several = zip(*(step.each for step in whole if sweep.first_complete), strict=False)
        document["repetitions"] = to_document(
            [
                _catalogued(
                    [
                        (step.name, _rate(one, warm_up), one.latency.get(ALL))
                        for step, one in zip(whole, reports, strict=True)
                    ]
                )
                for reports in several
            ]
        )
    return document


def _catalogued(figures: Sequence[tuple[str, float | None, Latency | None]]) -> Catalogued:
    """Return the figures that the store catalogues, so that sweeps can be compared step by step:
    operations a second, and service times, by step."""
    return Catalogued(
        operations={name: CataloguedRate(rate) for name, rate, _ in figures},
        latency={name: service for name, _, service in figures if service is not None},
    )


def _step(report: Report, each: Sequence[Report], warm_up: float) -> Step:
    rates = [_rate(part, warm_up) for part in each]
    return Step(
        f"processes {report.processes}",
        report,
        each,
        oversubscribed=_is_oversubscribed(report),
        operations_per_second=math.fsum(rates) / len(rates),
        half_widths={"operations_per_second": half_width(rates)},
    )


def _rate(report: Report, warm_up: float) -> float:
    seconds = report.measured_seconds - warm_up
    count = sum(operation.count for operation in report.operations.values())
    return count / seconds if seconds > 0 else 0.0


def _is_oversubscribed(report: Report) -> bool:
    """Return whether processes outnumber processors on any host."""
    if not report.hosts:
        return report.processes > len(os.sched_getaffinity(0))
    return any(warning.condition == "oversubscribed" for warning in report.warnings)


def _compare(steps: Sequence[Step], warm_up: float) -> None:
    """Add each step's speedup over the first step and its efficiency per process, with confidence
    intervals over the repetitions."""
    for step in steps:
        first = steps[0].operations_per_second
        more = step.report.processes / steps[0].report.processes
        if first and step.operations_per_second is not None:
            step.speedup = step.operations_per_second / first
            step.efficiency = step.speedup / more
        rates, begun = ([_rate(run, warm_up) for run in level.each] for level in (step, steps[0]))
        if step.report.intervals and all(begun[: len(rates)]):
            half = half_width([rate / at for rate, at in zip(rates, begun, strict=False)])
            step.half_widths |= {
                "speedup": half,
                "efficiency": None if half is None else half / more,
            }
