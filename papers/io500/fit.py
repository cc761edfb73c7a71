"""Sets costs.csv from one half of the rows.

    python papers/io500/fit.py

Rows of the half, `fitted`, are not among those that reproduce.py reports as predicted. A time of an
operation is the median over families of a kind of system, each with one vote. Intervals hold 90 %
of the half, so that they may hold 80 % of other rows.
"""

import csv
import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import geometric_mean, linear_regression, median, quantiles

import predict
from predict import (
    COSTS,
    DESCRIPTION,
    EASY,
    HARD,
    HARD_BYTES,
    LATENCY,
    LOCK_MESSAGES,
    PHASES,
    System,
)
from published import Published, rows

ROWS = Path(__file__).with_name("rows.csv")
BOUND = 0.85
"""Share of what cards and drives allow from which a phase says nothing of a time."""
FEW = 4
"""Rows below which an interval holds all of them, and below which no rate by clients is fitted."""
WIDER = 1.5
"""Factor by which intervals of rates by clients are wider than those of the half: declared."""
APART = 3.0
"""Factor that an interval of a phase of small operations has at the least. It holds 80 % of the
times of mdtest of a DAOS family by those of the other families, of the half that is fitted."""
LIMITS = {
    "network": (0.75, 1.1),
    "network, assumed as the servers'": (0.6, 1.1),
    "servers' network": (0.8, 1.1),
    "drives": (0.8, 1.2),
    "storage": (0.8, 1.2),
    "unknown: drives": (0.2, 1.05),
}
"""Intervals of ior-easy by what limits it: declared, wide enough for the half that is fitted."""
Fields = tuple[str, str, str, float, float, float, float, str]


def fitted(row: Published) -> bool:
    """True if costs may be set by a row: half of the rows, by a hash of the submission."""
    return int(hashlib.sha256(row["submission"].encode()).hexdigest(), 16) % 2 == 1


def fit() -> list[Fields]:
    """Return the lines of costs.csv."""
    half = [row for row in rows(ROWS, DESCRIPTION) if fitted(row)]
    lines: list[Fields] = [
        ("any", "ior_easy", name, 0.0, 0.0, *factors, "declared")
        for name, factors in LIMITS.items()
    ]
    for phase in PHASES:
        lines += _by_clients(half, phase)
        if phase not in EASY:
            lines += _times(half, phase)
    return sorted(lines, key=lambda line: line[:3])


def _groups(half: Iterable[Published], name: Callable[[System], str]) -> dict[str, list[Published]]:
    groups: dict[str, list[Published]] = defaultdict(list)
    for row in half:
        groups[name(System(row))].append(row)
    return groups


def _by_clients(half: list[Published], phase: str) -> list[Fields]:
    """Fit rate = value · clients^exponent to the rows of a kind, and to all. A kind whose rows have
    few numbers of clients has the exponent of all."""
    groups = _groups(half, lambda system: system.kind)
    del groups[""]
    lines: list[Fields] = []
    of_all = _exponent(half, phase)
    for kind, some in [*groups.items(), ("any", half)]:
        if len(some) < FEW:
            continue
        distinct = len({row["client_nodes"] for row in some})
        exponent = _exponent(some, phase) if distinct >= FEW else of_all
        each = [float(row[phase]) / float(row["client_nodes"]) ** exponent for row in some]
        value = median(each)
        low, high = _interval([one / value for one in each])
        source = f"fitted on {len(some)} rows"
        lines.append(
            (kind, phase, "by clients", value, exponent, low / WIDER, high * WIDER, source)
        )
    return lines


def _exponent(some: Iterable[Published], phase: str) -> float:
    """Return the slope of the logarithm of a rate over that of clients, from 0 to 1."""
    pairs = [(math.log(float(row["client_nodes"])), math.log(float(row[phase]))) for row in some]
    slope = linear_regression([x for x, _ in pairs], [y for _, y in pairs]).slope
    return min(max(slope, 0.0), 1.0)


def _times(half: list[Published], phase: str) -> list[Fields]:
    """Fit the time of an operation to the rows of a kind whose servers are known."""
    lines: list[Fields] = []
    for kind, some in _groups(half, _kind).items():
        times = _by_families(some, phase)
        if not times:
            continue
        time = _middle(times)
        known = [row for row in some if _time(System(row), row, phase)]
        low, high = _interval(
            [float(row[phase]) / _simulated(System(row), phase, time) for row in known]
        )
        source = "fitted on rows " + " ".join(row["submission"] for row in known)
        lines.append(
            (kind, phase, "time", time, 0.0, min(low, 1 / APART), max(high, APART), source)
        )
    return lines


def _kind(system: System) -> str:
    return "DAOS EC" if system.coded else system.kind


def _by_families(some: Iterable[Published], phase: str) -> dict[str, float]:
    """Return the time of an operation of each family of systems."""
    families: dict[str, list[float]] = defaultdict(list)
    for row in some:
        time = _time(System(row), row, phase)
        if time:
            families[row["family"]].append(time)
    return {name: geometric_mean(times) for name, times in families.items()}


def _middle(times: Mapping[str, float]) -> float:
    return math.exp(median(math.log(time) for time in times.values()))


def _time(system: System, row: Published, phase: str) -> float | None:
    """Return the time of an operation that explains a published rate, if it is not bound by
    cards and drives."""
    if not system.servers or not system.kind:
        return None
    rate = float(row[phase])
    if phase in HARD:
        rate *= 1e6 / HARD_BYTES
        direction = "write" if phase == HARD[0] else "read"
        limits = system.limits(direction).values()
        if limits and rate * HARD_BYTES > BOUND * min(limits):
            return None
        if direction == "write" and system.kind == "Lustre":
            return system.servers / LOCK_MESSAGES / rate
    by_servers = system.servers_of(phase) * system.threads(phase) / rate
    if phase == predict.FIND:
        return by_servers
    by_processes = system.clients * system.each / rate - 2 * LATENCY
    return min(by_servers, by_processes)


def _simulated(system: System, phase: str, time: float) -> float:
    if phase == predict.FIND:
        return system.servers_of(phase) * system.threads(phase) / time
    if phase in HARD:
        return system.hard(phase, time) / 1e6
    return system.metadata({phase: time}, "easy" if "easy" in phase else "hard")[phase]


def _interval(ratios: list[float]) -> tuple[float, float]:
    """Return factors that hold 90 % of published by predicted, or all of few rows."""
    if len(ratios) < FEW:
        return min([*ratios, 1.0]), max([*ratios, 1.0])
    parts = quantiles(ratios, n=20, method="inclusive")
    return min(parts[0], 1 / 1.1), max(parts[-1], 1.1)


def write(lines: Iterable[Fields]) -> None:
    """Write costs.csv."""
    with COSTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("kind", "phase", "quantity", "value", "exponent", "low", "high", "source"))
        for *names, value, exponent, low, high, source in lines:
            numbers = (f"{number:.4g}" for number in (value, exponent, low, high))
            writer.writerow((*names, *numbers, source))


if __name__ == "__main__":
    write(fit())
