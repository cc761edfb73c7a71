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
from itertools import pairwise
from pathlib import Path

import matplotlib
import polars as pl

import headrace as hr
from headrace.quantities import percent_text
from headrace.report.paper import Paper, Row, main

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
WINDOWS: Mapping[str, object] = {
    "clients.machine.cpu.system_call": "1.37 ms",
    "metadata.time_per_operation": "1.376 ms",
}
"""Inputs of figure 5.5: one client carries 730 operations/s, the server 1069/s, 68 % of them
on names, if names are its limit (an assumption); all else as with Solaris."""
MIXED: Mapping[str, object] = {
    "metadata.times.open": "0.27 ms",
    "clients.machine.cpu.system_call": "1.585 ms",
}
"""Half of the clients with NFS, as mean clients: what the server takes for a transfer or its
mapping, and what a client's processor takes, are halfway between MPFS's and NFS's."""
AVOIDED: Mapping[str, object] = {
    "workload.0.weights": "{ read = 1 }",
    "workload.0.io.direct": False,
    "workload.0.files": 1000 * 10_000_000 // 26_700,
}
"""Reads that may be cached, of a file set of 10 MB for each of 1000 operations/s (section
3.3.3.4), whose files have 26.7 KB in the mean (table 3.1)."""
DATA = {"workload.0.weights": "{ read = 18, write = 9 }"}
NAMES = {
    "workload.0.weights": "{ stat = 45, readdir = 11, readlink = 7, create = 1, unlink = 1, "
    "setattr = 1, statfs = 1 }"
}
LOADS = (100, 1000, 2000, 3000, 3700, 4200)
"""Operations per second of eight clients."""
WINDOWS_LOADS = (100, 700, 1000)
CLIENTS = tuple(range(1, 9))
TOO_MUCH = 800
"""Operations per second of an overloaded client."""
STORAGE = 3.2e-3
"""Service time of the storage for a transfer, in seconds."""
NEAR = 0.25
"""Largest relative error at which a response time holds."""


@dataclass(frozen=True)
class Point:
    """Requested and completed operations per second; mean seconds since the intended start."""

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


def hits(sets: Mapping[str, object]) -> float:
    """Return the share of operations, at 1000 per second, that took less than the storage does."""
    scenario = hr.load(SCENARIO, {**sets, "clients.count": 8, "workload.0.rate": 1000})
    latencies = hr.run(scenario).latency_distribution
    fast = latencies.filter(pl.col("latency_s") < STORAGE)
    return max(fast["share"].to_list(), default=0.0)


def most(sets: Mapping[str, object], clients: int) -> float:
    """Return the throughput of overloaded clients."""
    return run(sets, clients, TOO_MUCH * clients).served


def reproduce(paper: Paper) -> list[Row]:
    """Run the experiments, plot them, and return the rows."""
    curve = [paper.step(f"MPFS, {load}/s", partial(run, {}, 8, load)) for load in LOADS]
    other = [paper.step(f"NFS, {load}/s", partial(run, NFS, 8, load)) for load in LOADS]
    mpfs = [paper.step(f"MPFS, {number} clients", partial(most, {}, number)) for number in CLIENTS]
    nfs = [paper.step(f"NFS, {number} clients", partial(most, NFS, number)) for number in CLIENTS]
    data, names = (
        paper.step(name, partial(most, sets, 8))
        for name, sets in (("reads and writes", DATA), ("names", NAMES))
    )
    mixed = [paper.step(f"both, {load}/s", partial(run, MIXED, 8, load)) for load in (100, 3000)]
    windows = [
        paper.step(f"Windows, {load}/s", partial(run, WINDOWS, 8, load)) for load in WINDOWS_LOADS
    ]
    carried = [
        paper.step(f"Windows, {number} clients", partial(most, WINDOWS, number))
        for number in CLIENTS
    ]
    cached = paper.step("cache hits", partial(hits, AVOIDED))
    plot(paper, curve, other, mpfs, nfs)
    return [
        *curve_rows(curve),
        *client_rows(mpfs, nfs, data, names),
        *windows_rows(windows, carried),
        Row(
            "hits of the client's cache with the file set of the benchmark (section 3.3.8)",
            "< 10 %",
            f"{100 * cached:.1f} %",
            "",
            cached < 0.1,
        ),
        between(
            "both beside each other, response at 100/s (figure 5.8)", curve[0], mixed[0], other[0]
        ),
        between(
            "both beside each other, response at 3000/s (figure 5.8)", curve[3], mixed[1], other[3]
        ),
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
                percent_text(error, 2, sign=True),
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


def windows_rows(curve: list[Point], carried: list[float]) -> list[Row]:
    """Figures 5.3 and 5.5: clients with Windows NT."""
    rows = []
    for point, published in zip(curve, (3.5e-3, 6.5e-3), strict=False):
        error = point.response / published - 1
        rows.append(
            Row(
                f"Windows, 8 clients: response at {point.asked:.0f}/s (figure 5.3)",
                f"{1e3 * published:.1f} ms",
                f"{1e3 * point.response:.1f} ms",
                percent_text(error, 2, sign=True),
                abs(error) <= NEAR,
            )
        )
    before, after = (b.response - a.response for a, b in pairwise(curve))
    steeper = after / (WINDOWS_LOADS[2] - WINDOWS_LOADS[1]) / (before / (WINDOWS_LOADS[1] - 100))
    return [
        *rows,
        Row(
            "Windows, 8 clients: rise of the response beyond 700/s against before (figure 5.3)",
            "rapidly",
            f"{steeper:.0f} times as steep up to 1000/s",
            "",
            steeper > 2,
        ),
        Row(
            "Windows: throughput of 1, 2 and 4 clients (figure 5.5; 1 and 4 are inputs)",
            "increases from 730 to 1069/s",
            ", ".join(f"{carried[number - 1]:.0f}" for number in (1, 2, 4)) + "/s",
            percent_text(carried[3] / 1069 - 1, 2, sign=True),
            carried[0] < carried[1] <= 1.02 * carried[3],
        ),
        Row(
            "Windows: throughput of 8 clients against 4 (figure 5.5)",
            "almost the same",
            percent_text(carried[7] / carried[3] - 1, 2, sign=True),
            "",
            abs(carried[7] / carried[3] - 1) < 0.05,
        ),
    ]


def between(what: str, mpfs: Point, mixed: Point, nfs: Point) -> Row:
    """Return True if the response of both together lies between those of each alone."""
    shown = " < ".join(f"{1e3 * it.response:.2f}" for it in (mpfs, mixed, nfs))
    holds = mpfs.response < mixed.response < nfs.response
    return Row(what, "between", f"{shown} ms" if holds else f"not {shown} ms", "", holds)


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
            percent_text(mpfs[7] / mpfs[6] - 1, 2, sign=True),
            "",
            0 <= mpfs[7] / mpfs[6] - 1 < 0.07,
        ),
        Row(
            "most operations/s: reads and writes < names < both (figure 5.6)",
            "2500 < ... < 4200",
            f"{data:.0f} < {names:.0f} < {mpfs[7]:.0f}",
            percent_text(data / 2500 - 1, 2, sign=True),
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
    """Plot response time against load, and throughput against clients."""
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
