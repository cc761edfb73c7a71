"""Mitzenmacher 2000 and 2001, the power of two choices: published | ours | error.

Published are closed forms and a system of differential equations, which is solved here. Run it by
`headrace papers mitzenmacher-choices`.
"""

import sys

from headrace import interruption

if __name__ == "__main__":
    interruption.end_at_once()

import math
from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path

import matplotlib
import numpy as np
from numpy.typing import NDArray

import headrace as hr
from headrace.quantities import percent_text
from headrace.report.paper import Paper, Row, main

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "replica-choice.toml"
SERVERS = 100
SERVICE_S = 0.01
"""Mean service time: 100 kB at 10 MB/s."""
SIZES = 200
"""Sizes of equal probability that stand for an exponential distribution."""
LOADS = (0.5, 0.7, 0.8, 0.9)
CHOICES = (1, 2, 3)
PERIODS = (1.0, 5.0, 20.0)
"""Renewal of the bulletin board, in service times."""
BOUND = 0.05
"""Largest error: the published results are of infinitely many servers."""

Floats = NDArray[np.float64]


def exponential_sizes() -> str:
    """Sizes with the mean of each of equal parts of an exponential distribution."""
    bounds = [-math.log1p(-part / SIZES) for part in range(SIZES)] + [math.inf]

    def above(bound: float) -> float:
        return 0.0 if bound == math.inf else (bound + 1) * math.exp(-bound)

    means = ((above(low) - above(high)) * SIZES for low, high in pairwise(bounds))
    mean_bytes = SERVICE_S * 10e6
    return ", ".join(f'"{max(1, round(mean * mean_bytes))} B" = 1' for mean in means)


def time_in_system(load: float, sets: Mapping[str, object]) -> float:
    """The mean time of a read, in service times."""
    scenario = hr.load(
        SCENARIO,
        {
            "clients.count": 100,
            "servers.count": SERVERS,
            "replication.copies": SERVERS,
            "network.latency": "0 s",
            "network.bandwidth": "10 Tbit/s",
            "workload.0.read_sizes": f"{{ {exponential_sizes()} }}",
            "workload.0.rate": load * SERVERS / SERVICE_S,
            "run.warm_up": "6 s",
            "run.stop.time": "26 s",
            **sets,
        },
    )
    mean = hr.run(scenario).document["latency"]["all"]["mean"]
    return float(mean) / SERVICE_S


def limit(load: float, choices: int) -> float:
    """Mitzenmacher 2001, corollary of theorem 3: the expected time in the limiting system."""
    if choices == 1:
        return 1 / (1 - load)
    exponents = ((choices**i - choices) / (choices - 1) for i in range(1, 30))
    return float(sum(load**exponent for exponent in exponents if exponent < 1e4))


def old_information(load: float, choices: int, period: float) -> float:
    """Mitzenmacher 2000, section 3: periodic updates, in the limiting system.

    Args:
        load: Arrivals per server and service time.
        choices: Number of servers that a task looks at.
        period: Time between two updates, in service times.

    Returns:
        The expected time in the system, in service times, from the mean number of tasks over a
        period once periods repeat (Little's law).
    """
    most = 120
    state = np.array([(1 - load) * load**tasks for tasks in range(most)])
    before = math.inf
    for _ in range(200):
        rates = arrival_rates(state, load, choices)
        # One row for each load on the board, one column for each true load.
        seen = state > 1e-9
        rows, rates = np.diag(state)[seen], rates[seen, None]
        steps = math.ceil(period * (1 + float(rates.max())) / 0.15)
        step = period / steps
        tasks = 0.0
        for _ in range(steps):
            rows = rows + step * change(rows + 0.5 * step * change(rows, rates), rates)
            tasks += float(rows.sum(axis=0) @ np.arange(most)) * step
        state = rows.sum(axis=0)
        mean = tasks / period / load
        if abs(mean / before - 1) < 2e-4 * min(1.0, period):
            break
        before = mean
    return mean


def arrival_rates(board: Floats, load: float, choices: int) -> Floats:
    """The rate of arrivals at a server by its load on the board."""
    tail = np.cumsum(board[::-1])[::-1]
    after = np.append(tail[1:], 0.0)
    chosen: Floats = tail**choices - after**choices
    rates: Floats = np.divide(load * chosen, board, out=np.zeros_like(board), where=board > 1e-9)
    return rates


def change(rows: Floats, rates: Floats) -> Floats:
    """The change of the parts of servers with each load on the board and each true load."""
    up = rows[:, :-1] * rates - rows[:, 1:]
    found = np.zeros_like(rows)
    found[:, :-1] -= up
    found[:, 1:] += up
    return found


def row(what: str, published: float, ours: float) -> Row:
    """A mean time in the system."""
    error = ours / published - 1
    return Row(
        what,
        f"{published:.3f}",
        f"{ours:.3f}",
        percent_text(error, 2, sign=True),
        abs(error) <= BOUND,
    )


def chosen(choices: int | None) -> Mapping[str, object]:
    """The scheduler that looks at so many servers."""
    if choices == 1:
        return {"scheduler.kind": "none"}
    return {"scheduler.choices": "all" if choices is None else choices}


def reproduce(paper: Paper) -> list[Row]:
    """Simulate every point of both papers' models."""
    rows = []
    times: dict[int, list[float]] = {choices: [] for choices in CHOICES}
    for choices, found in times.items():
        for load in LOADS:
            name = f"load {load}, {choices} choice{'s' if choices > 1 else ''}"
            ours = paper.step(name, partial(time_in_system, load, chosen(choices)))
            found.append(ours)
            rows.append(row(name, limit(load, choices), ours))
    old: dict[int | None, list[float]] = {2: [], None: []}
    for among, found in old.items():
        for period in PERIODS:
            of_all = "all" if among is None else str(among)
            name = f"load 0.9, board renewed each {period:g} service times, least of {of_all}"
            sets = {
                **chosen(among),
                "scheduler.load": "view",
                "scheduler.view_period": f"{period * SERVICE_S * 1e3} ms",
            }
            ours = paper.step(name, partial(time_in_system, 0.9, sets))
            found.append(ours)
            if among is not None:
                rows.append(row(name, old_information(0.9, among, period), ours))
    random = 1 / (1 - 0.9)
    herds = min(old[None][1:]) > random > max(old[2])
    rows.append(
        Row(
            "boards of 5 and more service times: least of all, a random server, least of two",
            "the first is worse than the second, the third better",
            f"{min(old[None][1:]):.1f} > {random:.0f} > {max(old[2]):.1f}" if herds else "not so",
            "",
            herds,
        )
    )
    plot(paper, times, old)
    return rows


def plot(paper: Paper, times: dict[int, list[float]], old: dict[int | None, list[float]]) -> None:
    """Plot time in the system against load, and against the age of information."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    loads = np.linspace(0.3, 0.93, 60)
    for choices, found in times.items():
        (line,) = left.plot(loads, [limit(float(it), choices) for it in loads])
        left.plot(LOADS, found, "o", color=line.get_color(), label=f"{choices} of 100")
    for number, found in old.items():
        of_all = "all" if number is None else str(number)
        right.plot(PERIODS, found, "o-", label=f"least of {of_all}")
    right.axhline(10, color="grey", linestyle=":", label="random")
    left.set(xlabel="load", ylabel="time in system, service times", ylim=(0, 12))
    right.set(xlabel="period of the board, service times", yscale="log")
    for axes in (left, right):
        axes.legend()
    paper.save(figure, "choices")
    plt.close(figure)


if __name__ == "__main__":
    sys.exit(main("mitzenmacher-choices", "The power of two choices (Mitzenmacher)", reproduce))
