"""A ladder of clients: what more processes of one host achieve, each asking again at once."""

import contextlib
import os
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

from headrace import _core
from headrace.measure.benchmark import measure_in, removed
from headrace.measure.hosts import new_directory
from headrace.measure.ladder import Ladder, Watch


def ladder_of_clients(
    with_processes: Callable[[int], _core.Loaded],
    below: str | PathLike[str],
    counts: Sequence[int],
    *,
    warm_up: float,
    calls: str = "posix",
    keep: bool = False,
    watch: Watch | None = None,
) -> Ladder:
    """Carries a mix out with one number of processes after another, as `ladder` does with loads.

    Raises as `ladder` does.
    """
    directory = new_directory(below)
    watch = watch or (lambda _: contextlib.nullcontext())
    cores = len(os.sched_getaffinity(0))
    steps: list[dict[str, Any]] = []
    scenario: dict[str, Any] = {}
    stop: dict[str, Any] = {"reason": "done"}
    try:
        for count in sorted(set(counts)):
            loaded = with_processes(count)
            with watch(f"{loaded.name}, {count} processes") as tell:
                document = measure_in(directory, loaded, calls=calls, progress=tell).document
            scenario = document["scenario"] | {"seed": document["seed"]}
            step = _step(document, warm_up, cores)
            steps.append(step)
            if document["stop"]["reason"] in ("interrupted", "failed"):
                step["partial"] = True
                error = {key: document[key] for key in ("error",) if key in document}
                stop = document["stop"] | error
                break
    finally:
        if not keep:
            removed(directory)
    _compare(steps)
    return Ladder(
        {
            "kind": "ladder of clients",
            "scenario": scenario,
            "version": _core.VERSION,
            "cores": cores,
            "steps": steps,
            "stop": stop,
        }
    )


def _step(document: dict[str, Any], warm_up: float, cores: int) -> dict[str, Any]:
    seconds = document["measured_seconds"] - warm_up
    count = sum(counted["count"] for counted in document["operations"].values())
    return {
        "processes": document["processes"],
        "oversubscribed": _is_oversubscribed(document, cores),
        "operations_per_second": count / seconds if seconds > 0 else 0.0,
        "service": document["latency"].get("all"),
        **{
            key: document[key]
            for key in ("operations", "throughput", "cache", "files", "counters", "warnings")
        },
    }


def _is_oversubscribed(document: dict[str, Any], cores: int) -> bool:
    """Whether processes wait for each other, on any host."""
    if "hosts" not in document:
        return bool(document["processes"] > cores)
    return any(it["condition"] == "oversubscribed" for it in document["warnings"])


def _compare(steps: Sequence[dict[str, Any]]) -> None:
    """Says how much more than the first step each achieves, and which part of it per process."""
    for step in steps:
        first = steps[0]["operations_per_second"]
        more = step["processes"] / steps[0]["processes"]
        step["speedup"] = step["operations_per_second"] / first if first else None
        step["efficiency"] = step["speedup"] / more if first else None
