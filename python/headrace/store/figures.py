"""Figures of a result that are catalogued one by one."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

LATENCIES = ("mean", "p50", "p95", "p99", "p999")
THROUGHPUT = "throughput_bytes_per_s"
RATE = "operations_per_s"
FIGURES = (
    *(THROUGHPUT, RATE),
    *(f"{time}_{name}_s" for time in ("latency", "response") for name in LATENCIES),
)
"""Figures under the column names of `Result.summary`, in display order. Steps of a load sweep also
have response times, from the intended start."""

MOST_POINTS = 200
"""Points of a sweep above which none is catalogued: lists of results would be too long."""
OF_POINTS = {
    "throughput": THROUGHPUT,
    "operations": RATE,
    "latency": "latency_mean_s",
    **{f"latency_{name}": f"latency_{name}_s" for name in LATENCIES[1:]},
}
"""Catalogued figures of a sweep's points, by their keys."""


def chosen_pair(
    pairs: Iterable[tuple[str, str]], operation: str | None = None, figure: str | None = None
) -> tuple[str, str] | None:
    """Return the operation and figure of a history: those asked for, and the first that results
    have in place of others.

    Parameters:
        pairs: Operations and figures that the results have.
        operation: None for the first in alphabetical order; figure: None for the first catalogued.
    """
    known = sorted(pair for pair in pairs if pair[1] in FIGURES)
    if operation is not None:
        known = [pair for pair in known if pair[0] == operation] or known
    known = [pair for pair in known if pair[0] == known[0][0]]
    named = [pair for pair in known if pair[1] == figure]
    return min(named or known, key=lambda pair: FIGURES.index(pair[1]), default=None)


def most_changed(ratios: Mapping[tuple[str, str], float]) -> tuple[str, str] | None:
    """Return the operation with the largest change of the first catalogued figure that there is,
    and this figure; None if there is none."""
    known = {
        pair: abs(math.log(ratio))
        for pair, ratio in ratios.items()
        if pair[1] in FIGURES and 0 < ratio < math.inf
    }
    rank = {pair: (FIGURES.index(pair[1]), -change, pair[0]) for pair, change in known.items()}
    return min(rank, key=lambda pair: rank[pair], default=None)


class Figure(NamedTuple):
    """One figure of one operation, of a group of operations, or of `all`."""

    operation: str
    figure: str
    value: float


def group(name: str) -> str:
    """A group of operations as it is called among operations, some of which are called alike."""
    return f"group {name}"


REPEATED = ("replications", "repetitions", "repeats")
"""Keys under which a document has the figures of each replication or repetition."""


def figures(document: Mapping[str, Any]) -> Iterator[Figure]:
    """Throughput, rates and latency of each operation over all groups of clients, and of each
    group of operations if there are several, where they exist."""
    yield from _once(_figures(document))


def _once(rows: Iterable[Figure]) -> Iterable[Figure]:
    """Return the last figure of each name: an operation may have the name of a group, and names are
    keys."""
    return {(one.operation, one.figure): one for one in rows}.values()


def _figures(document: Mapping[str, Any]) -> Iterator[Figure]:
    for operation, value in _entries(document, "throughput"):
        yield from _figure(operation, THROUGHPUT, value)
    for operation, rates in _entries(document, "operations"):
        yield from _figure(operation, RATE, _part(rates, "per_second"))
    for operation, latency in _entries(document, "latency"):
        for name in LATENCIES:
            yield from _figure(operation, f"latency_{name}_s", _part(latency, name))
    yield from _points(document)
    groups = list(_entries(document, "operation_groups"))
    for name, of_it in groups if len(groups) > 1 else ():
        yield from _figure(group(name), THROUGHPUT, _part(of_it, "throughput"))
        yield from _figure(group(name), RATE, _part(of_it, "per_second"))
        for percentile in LATENCIES:
            value = _part(_part(of_it, "latency"), percentile)
            yield from _figure(group(name), f"latency_{percentile}_s", value)


def _points(document: Mapping[str, Any]) -> Iterator[Figure]:
    """The means of each point of a sweep, by its values."""
    points = document.get("points")
    by_values: dict[str, list[Mapping[str, Any]]] = {}
    for entry in points if isinstance(points, list) else ():
        values = _part(entry, "set")
        if isinstance(values, Mapping):
            name = " ".join(f"{path}={value}" for path, value in values.items())
            by_values.setdefault(name, []).append(entry)
    if len(by_values) > MOST_POINTS:
        return
    for name, entries in by_values.items():
        for key, figure in OF_POINTS.items():
            values = [entry.get(key) for entry in entries]
            known = [float(value) for value in values if value is not None and _is_number(value)]
            if len(known) == len(entries):
                yield from _figure(name, figure, sum(known) / len(known))


class Repetition(NamedTuple):
    """One of the runs that a result is of."""

    seed: int | None
    figures: list[Figure]


def repetitions(document: Mapping[str, Any]) -> Iterator[Repetition]:
    """The figures of each replication or repeat, if there was more than one."""
    for key in REPEATED:
        entries = document.get(key)
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, Mapping):
                seed = entry.get("seed")
                yield Repetition(seed if isinstance(seed, int) else None, list(figures(entry)))


class StepFigure(NamedTuple):
    """One figure of one operation at a step of a load sweep."""

    step: str
    repetition: int
    """Number of the repetition, from 1; 0 for all together."""
    operation: str
    figure: str
    value: float


def step_figures(document: Mapping[str, Any]) -> Iterator[StepFigure]:
    """Return the figures of each complete step of a load sweep, with response times, over all
    repetitions and for each."""
    steps = document.get("steps")
    for step in steps if isinstance(steps, list) else ():
        name = _part(step, "name")
        if not isinstance(name, str) or step.get("partial"):
            continue
        each = step.get("repetitions")
        for number, part in enumerate([step, *(each if isinstance(each, list) else ())]):
            if isinstance(part, Mapping):
                once = _once([*_figures(part), *_responses(part)])
                yield from (StepFigure(name, number, *one) for one in once)


def _responses(document: Mapping[str, Any]) -> Iterator[Figure]:
    """Response times of each operation, and of groups of operations if there are several."""
    times = list(_entries(document, "latency_from_intended"))
    groups = list(_entries(document, "operation_groups"))
    for name, of_it in groups if len(groups) > 1 else ():
        times.append((group(name), _part(of_it, "latency_from_intended")))
    for name, latency in times:
        for percentile in LATENCIES:
            yield from _figure(name, f"response_{percentile}_s", _part(latency, percentile))


def _entries(document: Mapping[str, Any], key: str) -> Iterator[tuple[str, Any]]:
    part = document.get(key)
    if isinstance(part, Mapping):
        yield from part.items()


def _part(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None


def _figure(operation: str, figure: str, value: Any) -> Iterator[Figure]:
    if _is_number(value):
        yield Figure(operation, figure, float(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
