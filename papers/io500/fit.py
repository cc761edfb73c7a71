"""Sets costs.csv from one half of the rows.

    python papers/io500/fit.py

Rows of the half, `fitted`, are not among those that reproduce.py reports as predicted. A time of an
operation is the median over families of a kind of system, each with one vote. Intervals hold 90 % of the
half, so that they may hold 80 % of other rows.
"""

import csv
import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Iterable
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
"""Families below which an interval is widened by WIDER, and rows below which it holds them all."""
WIDER = 1.5
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
    """Fit rate = value · clients^exponent to the rows of a kind, and to all."""
    groups = _groups(half, lambda system: system.kind)
    del groups[""]
    lines: list[Fields] = []
    for kind, some in [*groups.items(), ("any", half)]:
        rates = [float(row[phase]) for row in some]
        if len(some) < FEW:
            continue
        clients = [float(row["client_nodes"]) for row in some]
        exponent = 1.0
        if len(set(clients)) >= FEW:
            logs = [math.log(count) for count in clients], [math.log(rate) for rate in rates]
            exponent = linear_regression(*logs).slope
        each = [rate / count**exponent for rate, count in zip(rates, clients, strict=True)]
        value = median(each)
        low, high = _interval([one / value for one in each])
        if len({row["family"] for row in some}) < FEW:
            low, high = low / WIDER, high * WIDER
        lines.append((kind, phase, "by clients", value, exponent, low, high, f"{len(some)} rows"))
    return lines


def _times(half: list[Published], phase: str) -> list[Fields]:
    """Fit the time of an operation to the rows of a kind whose servers are known."""
    lines: list[Fields] = []
    groups = _groups(half, lambda system: "DAOS EC" if system.coded else system.kind)
    for kind, some in groups.items():
        times = {row["submission"]: _time(System(row), row, phase) for row in some}
        known = {name: time for name, time in times.items() if time}
        if not known:
            continue
        families: dict[str, list[float]] = defaultdict(list)
        for row in some:
            if row["submission"] in known:
                families[row["family"]].append(known[row["submission"]])
        time = math.exp(median(math.log(geometric_mean(each)) for each in families.values()))
        ratios = [
            float(row[phase]) / _simulated(System(row), phase, time)
            for row in some
            if times[row["submission"]]
        ]
        source = "fitted on rows " + " ".join(known)
        low, high = _interval(ratios)
        if len(families) < FEW:
            low, high = low / WIDER, high * WIDER
        lines.append((kind, phase, "time", time, 0.0, low, high, source))
    return lines


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
