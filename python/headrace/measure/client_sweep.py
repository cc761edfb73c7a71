"""Client sweep: throughput with more processes on one host, each of which issues its next operation
at once."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

from headrace import _core
from headrace.intervals import half_width
from headrace.measure.sweep_result import LoadSweep
from headrace.measure.sweep_runner import SoFar, SweepRunner, Watch, run_sweep
from headrace.measure.sweep_steps import step as step_of


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
    """

    def steps(sweep: SweepRunner) -> None:
        for count in sorted(set(counts)):
            sweep.step(with_processes(count), f"{count} processes")

    return run_sweep(
        steps,
        lambda sweep: _document(sweep, warm_up),
        below,
        of="clients",
        step_of=lambda document: _step(document, warm_up),
        calls=calls,
        repeats=repeats,
        keep=keep,
        watch=watch,
        resumed=resumed,
        so_far=so_far,
    )


def _document(sweep: SweepRunner, warm_up: float) -> dict[str, Any]:
    steps = sorted(sweep.steps, key=lambda step: int(step["processes"]))
    _compare(steps, warm_up)
    document = {**sweep.document(), "steps": steps}
    whole = [step for step in steps if not step.get("partial")]
    document |= _catalogued({step["name"]: step for step in whole})
    if sweep.repetition_count > 1:
        names = [step["name"] for step in whole]
        several = zip(
            *(step["repetitions"] for step in whole if sweep.first_complete), strict=False
        )
        document["repetitions"] = [
            _catalogued({name: _shown(it, warm_up) for name, it in zip(names, of_it, strict=True)})
            for of_it in several
        ]
    return document


def _catalogued(steps: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the figures that the store catalogues, so that sweeps can be compared step by step."""
    return {
        "operations": {
            name: {"per_second": step["operations_per_second"]} for name, step in steps.items()
        },
        "latency": {name: step["service"] for name, step in steps.items() if step["service"]},
    }


def _shown(document: Mapping[str, Any], warm_up: float) -> dict[str, Any]:
    """Return the figures of one measurement that the store catalogues."""
    return {
        "operations_per_second": _rate(document, warm_up),
        "service": document["latency"].get("all"),
    }


def _step(document: dict[str, Any], warm_up: float) -> dict[str, Any]:
    made = step_of(f"processes {document['processes']}", document)
    rates = _rates(made, warm_up)
    made |= {
        "oversubscribed": _is_oversubscribed(document),
        "operations_per_second": math.fsum(rates) / len(rates),
    }
    if "intervals" in made:
        made["intervals"]["operations_per_second"] = half_width(rates)
    return made


def _rates(step: Mapping[str, Any], warm_up: float) -> list[float]:
    """Operations a second in each repeat of a step."""
    return [_rate(it, warm_up) for it in step.get("repetitions", [step])]


def _rate(document: Mapping[str, Any], warm_up: float) -> float:
    seconds = document["measured_seconds"] - warm_up
    count = sum(counted["count"] for counted in document["operations"].values())
    return count / seconds if seconds > 0 else 0.0


def _is_oversubscribed(document: dict[str, Any]) -> bool:
    """Return whether processes outnumber processors on any host."""
    if "hosts" not in document:
        return bool(document["processes"] > len(os.sched_getaffinity(0)))
    return any(it["condition"] == "oversubscribed" for it in document["warnings"])


def _compare(steps: Sequence[dict[str, Any]], warm_up: float) -> None:
    """Add each step's speedup over the first step and its efficiency per process, with confidence
    intervals over the repetitions."""
    for step in steps:
        first = steps[0]["operations_per_second"]
        more = step["processes"] / steps[0]["processes"]
        step["speedup"] = step["operations_per_second"] / first if first else None
        step["efficiency"] = step["speedup"] / more if first else None
        both = list(zip(_rates(step, warm_up), _rates(steps[0], warm_up), strict=False))
        if "intervals" in step and all(begun for _, begun in both):
            half = half_width([rate / begun for rate, begun in both])
            half_widths = {"speedup": half, "efficiency": None if half is None else half / more}
            step["intervals"] = step["intervals"] | half_widths
