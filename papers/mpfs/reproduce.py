"""MPFS (Wang 2002, chapter 5) beside NFS: published | ours | error.

The figures are lost; what is compared are the numbers and statements of the text. Run it
by `headrace papers mpfs`.
"""

import sys

from headrace import interruption

if __name__ == "__main__":
    interruption.end_at_once()

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import matplotlib

import headrace as hr
from headrace.report.paper import Paper, Row, main, percent

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "mpfs-gateways.toml"
NFS: Mapping[str, object] = {
    "metadata.network.kind": "shared",
    "metadata.on": "data-servers",
    "metadata.client_cache": True,
    "metadata.times.open": "0.325 ms",
    "clients.machine.cpu.system_call": "1.5 ms",
    "servers.daemon.time_per_job": "0.49 ms",
    "network.link": "1GbE",
    "network.latency": "0.1 ms",
}
"""One server for names and data, over the local network; the same storage behind it.
Assumptions: data takes the server 1.5 times as long as a name, and a client's processor
is a tenth less busy than with two protocols."""
DATA = {"workload.0.weights": "{ read = 18, write = 9 }"}
NAMES = {
    "workload.0.weights": "{ stat = 45, readdir = 11, readlink = 7, create = 1, unlink = 1, "
    "setattr = 1, statfs = 1 }"
}
LOADS = (100, 1000, 2000, 3000, 3700, 4200)
"""Operations a second of eight clients."""
CLIENTS = tuple(range(1, 9))
TOO_MUCH = 800
"""Operations a second of each client that is asked for as much as it can do."""
NEAR = 0.25
"""A response time holds if it is as near as this."""


@dataclass(frozen=True)
class Point:
    """Operations a second that were asked for and served; mean seconds from the time at
    which an operation should have been asked."""

    asked: float
    served: float
    response: float


def run(sets: Mapping[str, object], clients: int, rate: float) -> Point:
    document = hr.run(
        hr.load(SCENARIO, {**sets, "clients.count": clients, "workload.0.rate": rate})
    ).json()
    operations = document["operations"]
    counts = {name: it["count"] for name, it in operations.items()}
    late, usual = document.get("latency_from_intended", {}), document["latency"]
    times = {name: late.get(name, usual[name])["mean"] for name in counts}
    total = sum(counts.values())
    response = sum(counts[name] * times[name] for name in counts) / total
    return Point(rate, total / 10, response)


def most(sets: Mapping[str, object], clients: int) -> float:
    """The throughput of clients that are asked for too much."""
    return run(sets, clients, TOO_MUCH * clients).served


def reproduce(paper: Paper) -> list[Row]:
    """Runs the experiments; plots them; gives the rows."""
    curve = [paper.step(f"MPFS, {load}/s", partial(run, {}, 8, load)) for load in LOADS]
    other = [paper.step(f"NFS, {load}/s", partial(run, NFS, 8, load)) for load in LOADS]
    mpfs = [paper.step(f"MPFS, {number} clients", partial(most, {}, number)) for number in CLIENTS]
    nfs = [paper.step(f"NFS, {number} clients", partial(most, NFS, number)) for number in CLIENTS]
    data, names = (
        paper.step(name, partial(most, sets, 8))
        for name, sets in (("reads and writes", DATA), ("names", NAMES))
    )
    plot(paper, curve, other, mpfs, nfs)
    return [
        *curve_rows(curve),
        *client_rows(mpfs, nfs, data, names),
        Row(
            "response at 100/s: NFS against MPFS (figure 5.8)",
            "NFS better at low loads",
            f"{1e3 * other[0].response:.2f} and {1e3 * curve[0].response:.2f} ms",
            "",
            other[0].response < curve[0].response,
        ),
        Row(
            "response at 3000/s: NFS against MPFS (figure 5.8)",
            "MPFS better",
            f"{1e3 * other[3].response:.1f} and {1e3 * curve[3].response:.1f} ms",
            "",
            curve[3].response < other[3].response,
        ),
    ]


def curve_rows(curve: list[Point]) -> list[Row]:
    """Figures 5.1 and 5.2: eight clients."""
    rows = []
    for load, published in ((100, 3.2e-3), (3700, 5.7e-3), (4200, 8e-3)):
        (point,) = [it for it in curve if it.asked == load]
        error = point.response / published - 1
        rows.append(
            Row(
                f"MPFS, 8 clients: response at {load}/s",
                f"{'about ' if load == 4200 else ''}{1e3 * published:.1f} ms",
                f"{1e3 * point.response:.1f} ms",
                percent(error, sign=True),
                abs(error) <= NEAR,
            )
        )
    served = [it.served / it.asked for it in curve]
    rows.append(
        Row(
            "MPFS, 8 clients: what is asked for is served",
            "up to 4200/s",
            f"{100 * min(served):.1f} % at the least",
            "",
            min(served) > 0.97,
        )
    )
    return rows


def client_rows(mpfs: list[float], nfs: list[float], data: float, names: float) -> list[Row]:
    """Figures 5.4, 5.6 and 5.9."""
    line = [rate / (number * mpfs[0]) for number, rate in zip(CLIENTS, mpfs, strict=True)]
    ahead = [number for number, a, b in zip(CLIENTS, mpfs, nfs, strict=True) if a > b]
    return [
        Row(
            "MPFS: throughput of 1 to 7 clients (figure 5.4)",
            "linear",
            f"{100 * min(line[:7]):.0f} % of the line through the first, at the least",
            "",
            min(line[:7]) > 0.9,
        ),
        Row(
            "MPFS: throughput of 8 clients against 7 (figure 5.4)",
            "increases only slightly",
            percent(mpfs[7] / mpfs[6] - 1, sign=True),
            "",
            0 <= mpfs[7] / mpfs[6] - 1 < 0.07,
        ),
        Row(
            "most operations/s: reads and writes < names < both (figure 5.6)",
            "2500 < ... < 4200",
            f"{data:.0f} < {names:.0f} < {mpfs[7]:.0f}",
            percent(data / 2500 - 1, sign=True),
            data < names < mpfs[7],
        ),
        Row(
            "clients from which MPFS carries more than NFS (figure 5.9)",
            "4",
            str(min(ahead)) if ahead else "none",
            "",
            bool(ahead) and 3 <= min(ahead) <= 5 and ahead == list(range(min(ahead), 9)),
        ),
    ]


def plot(
    paper: Paper, curve: list[Point], other: list[Point], mpfs: list[float], nfs: list[float]
) -> None:
    """Response against load, throughput against clients."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for name, points, rates in (("MPFS", curve, mpfs), ("NFS", other, nfs)):
        left.plot(
            [it.asked for it in points], [1e3 * it.response for it in points], "o-", label=name
        )
        right.plot(CLIENTS, rates, "o-", label=name)
    left.set(xlabel="operations asked for, 1/s", ylabel="response, ms", yscale="log")
    right.set(xlabel="clients", ylabel="operations served, 1/s", ylim=(0, None))
    for axes in (left, right):
        axes.legend()
    paper.save(figure, "mpfs")
    plt.close(figure)


if __name__ == "__main__":
    sys.exit(main("mpfs", "MPFS (Wang 2002, chapter 5)", reproduce))
