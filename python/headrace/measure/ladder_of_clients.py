"""A ladder of clients: what more processes of one host achieve, each asking again at once."""

import os
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any

from headrace import _core
from headrace.measure.climb import Climb, SoFar, Watch, carried_out
from headrace.measure.ladder import Ladder

OF_A_MEASUREMENT = (
    *("operations", "operation_groups", "throughput"),
    *("cache", "files", "counters", "warnings"),
)
"""What a step keeps of its measurement."""


def ladder_of_clients(
    with_processes: Callable[[int], _core.Loaded],
    below: str | PathLike[str],
    counts: Sequence[int],
    *,
    warm_up: float,
    calls: str = "posix",
    keep: bool = False,
    watch: Watch | None = None,
    resumed: Mapping[str, Any] | None = None,
    so_far: SoFar | None = None,
) -> Ladder:
    """Carries a mix out with one number of processes after another, as `ladder` does with loads.

    Raises as `ladder` does.
    """

    def steps(climb: Climb) -> None:
        for count in sorted(set(counts)):
            climb.step(with_processes(count), f"{count} processes")

    document = carried_out(
        steps,
        _document,
        below,
        of="clients",
        step_of=lambda document: _step(document, warm_up),
        calls=calls,
        keep=keep,
        watch=watch,
        resumed=resumed,
        so_far=so_far,
    )
    return Ladder(document)


def _document(climb: Climb) -> dict[str, Any]:
    _compare(climb.steps)
    named = {
        f"processes {step['processes']}": step for step in climb.steps if not step.get("partial")
    }
    return {
        **climb.document(),
        # As the store catalogues them, so that ladders can be compared step by step.
        "operations": {
            name: {"per_second": step["operations_per_second"]} for name, step in named.items()
        },
        "latency": {name: step["service"] for name, step in named.items() if step["service"]},
    }


def _step(document: dict[str, Any], warm_up: float) -> dict[str, Any]:
    seconds = document["measured_seconds"] - warm_up
    count = sum(counted["count"] for counted in document["operations"].values())
    return {
        "processes": document["processes"],
        "oversubscribed": _is_oversubscribed(document),
        "operations_per_second": count / seconds if seconds > 0 else 0.0,
        "service": document["latency"].get("all"),
        **{key: document[key] for key in OF_A_MEASUREMENT},
    }


def _is_oversubscribed(document: dict[str, Any]) -> bool:
    """Whether processes wait for each other, on any host."""
    if "hosts" not in document:
        return bool(document["processes"] > len(os.sched_getaffinity(0)))
    return any(it["condition"] == "oversubscribed" for it in document["warnings"])


def _compare(steps: Sequence[dict[str, Any]]) -> None:
    """Says how much more than the first step each achieves, and which part of it per process."""
    for step in steps:
        first = steps[0]["operations_per_second"]
        more = step["processes"] / steps[0]["processes"]
        step["speedup"] = step["operations_per_second"] / first if first else None
        step["efficiency"] = step["speedup"] / more if first else None
