"""The results of PFSsim (Liu et al. 2011), reproduced: published | ours | error.

Run it by `headrace papers pfssim`.
"""

import sys

from headrace import interruption

if __name__ == "__main__":
    interruption.end_at_once()

from dataclasses import dataclass
from functools import partial
from pathlib import Path

import matplotlib
import polars as pl

import headrace as hr
from headrace.quantities import percent_text
from headrace.report.paper import Paper, Row, main

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
CLIENTS = (4, 8, 16, 32, 64)
WEIGHTS = (1, 2, 4)
STEADY = {"run.warm_up": "10 s", "run.stop.time": "210 s"}
"""200 s after the servers' caches have filled with dirty data."""


@dataclass(frozen=True)
class Point:
    """One number of clients: rates in bytes/s, times in seconds."""

    clients: int
    read: float
    write: float
    read_time: float
    write_time: float
    wall: float


@dataclass(frozen=True)
class Shares:
    """One ratio of weights 1:weight, and the samples of G2's share."""

    weight: int
    mean: float
    deviation: float
    times: list[float]
    samples: list[float]


def reproduce(paper: Paper) -> list[Row]:
    """Run the paper's experiments, plot them, and return the rows of its table."""
    points = [paper.step(f"{clients} clients", partial(point, clients)) for clients in CLIENTS]
    shares = [paper.step(f"weights 1:{weight}", partial(share, weight)) for weight in WEIGHTS]
    steady = [
        paper.step(f"weights 1:{weight}, caches full", partial(share, weight, **STEADY))
        for weight in WEIGHTS
    ]
    largest = paper.step("512 clients, 32 servers", largest_run)
    plot_points(paper, points)
    plot_shares(paper, shares)
    return [*client_rows(points), *share_rows(shares, steady), *speed_rows(points, largest)]


def point(clients: int) -> Point:
    scenario = hr.load(SCENARIOS / "pfssim-write-then-read.toml", {"clients.count": clients})
    report = hr.run(scenario).json()
    return Point(
        clients,
        report["throughput"]["read"],
        report["throughput"]["write"],
        report["latency"]["read"]["mean"],
        report["latency"]["write"]["mean"],
        report["wall_seconds"],
    )


def share(weight: int, **sets: str) -> Shares:
    sets = {"scheduler.weights.G2": str(weight), **sets}
    scenario = hr.load(SCENARIOS / "pfssim-sfq.toml", sets)
    result = hr.run(scenario)
    share = result.json()["groups"]["G2"]["share"]
    rates = result.series.group_by("time_s").agg(
        share=pl.col("throughput_bytes_per_s").filter(pl.col("group") == "G2").sum()
        / pl.col("throughput_bytes_per_s").sum()
    )
    rates = rates.sort("time_s").filter(pl.col("time_s") < share["to_s"])
    return Shares(
        weight, share["mean"], share["sd"], rates["time_s"].to_list(), rates["share"].to_list()
    )


def largest_run() -> float:
    """Return the seconds of the paper's largest run: 512 clients, 32 servers."""
    scenario = hr.load(
        SCENARIOS / "pfssim-write-then-read.toml",
        {"clients.count": 512, "servers.count": 32},
    )
    return float(hr.run(scenario).json()["wall_seconds"])


def client_rows(points: list[Point]) -> list[Row]:
    by = {point.clients: point for point in points}
    reads = [point.read for point in points]
    writes = [point.write for point in points]
    times = [(point.read_time + point.write_time) / 2 for point in points]
    ratio = by[8].read / by[4].read
    fall = by[16].read / by[8].read
    flat = by[64].read / by[32].read - 1
    disks = 4 * 60e6
    buffered = by[4].write / disks
    write_flat = by[64].write / by[32].write - 1
    growth = (times[-1] / times[0]) / (CLIENTS[-1] / CLIENTS[0])
    return [
        Row(
            "read, 8 clients over 4 clients (both from the cache)",
            "2 times",
            f"{ratio:.3f} times",
            percent_text(ratio / 2 - 1, 2),
            abs(ratio / 2 - 1) < 0.05,
        ),
        Row(
            "read, 4 and 8 clients: served from the cache",
            "above the disks' rate",
            f"{reads[0] / disks:.1f} and {reads[1] / disks:.1f} times their {disks / 1e6:.0f} MB/s",
            "",
            min(reads[:2]) > disks,
        ),
        Row(
            "read, 16 clients: at most 900 MB a server stay cached",
            "falls steeply",
            f"to {percent_text(fall, 2)} of 8 clients",
            "",
            fall < 0.25,
        ),
        Row(
            "read, 64 against 32 clients: disk-bound",
            "flat",
            percent_text(flat, 2, sign=True),
            percent_text(flat, 2, sign=True),
            abs(flat) < 0.10,
        ),
        Row(
            "write, 4 clients: mostly buffered",
            "above the disks' rate",
            f"{buffered:.1f} times the disks' rate",
            "",
            buffered > 1,
        ),
        Row(
            "write, more clients: dirty data passes 400 MB a server",
            "falls",
            " > ".join(f"{write / 1e6:.0f}" for write in writes) + " MB/s",
            "",
            writes == sorted(writes, reverse=True),
        ),
        Row(
            "write, 64 against 32 clients: disk-bound",
            "flat",
            percent_text(write_flat, 2, sign=True),
            percent_text(write_flat, 2, sign=True),
            abs(write_flat) < 0.10,
        ),
        Row(
            "response time, 4 to 64 clients",
            "grows non-linearly",
            ", ".join(f"{time * 1e3:.1f}" for time in times)
            + f" ms: {growth:.1f} times what 16 times the clients would give",
            "",
            growth > 1.5,
        ),
    ]


def share_rows(shares: list[Shares], steady: list[Shares]) -> list[Row]:
    rows = []
    for share in shares:
        ideal = share.weight / (share.weight + 1)
        error = share.mean / ideal - 1
        rows.append(
            Row(
                f"SFQ(4), weights 1:{share.weight}: mean share of G2",
                f"{ideal:.4f} (within 5 %)",
                f"{share.mean:.4f}",
                percent_text(error, 2, sign=True),
                abs(error) < 0.01,
            )
        )
    for when, samples in (("first 200 s", shares), ("200 s with full caches", steady)):
        deviations = [share.deviation for share in samples]
        rows.append(
            Row(
                f"SFQ(4), 1:1, 1:2, 1:4, {when}: standard deviation of the share",
                "grows with the imbalance",
                " < ".join(f"{deviation:.6f}" for deviation in deviations),
                "",
                deviations == sorted(deviations) and deviations[0] < deviations[-1],
            )
        )
    return rows


def speed_rows(points: list[Point], largest: float) -> list[Row]:
    slowest = points[-1]
    return [
        Row(
            "time to simulate 64 clients",
            "under 3 min (read alone; Core Duo, 1.66 GHz)",
            f"{slowest.wall:.2f} s (write and read)",
            "",
            slowest.wall < 180,
        ),
        Row(
            "largest run: 512 clients, 32 servers",
            "runs",
            f"{largest:.1f} s",
            "",
            True,
        ),
    ]


def plot_points(paper: Paper, points: list[Point]) -> None:
    clients = [str(point.clients) for point in points]
    for name, label, values in (
        (
            "throughput",
            "average throughput (MB/s)",
            {
                "read": [point.read / 1e6 for point in points],
                "write": [point.write / 1e6 for point in points],
            },
        ),
        (
            "response-time",
            "mean response time of a 1 MiB request (ms)",
            {
                "read": [point.read_time * 1e3 for point in points],
                "write": [point.write_time * 1e3 for point in points],
            },
        ),
    ):
        figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
        for offset, (operation, heights) in zip((-0.2, 0.2), values.items(), strict=True):
            at = [index + offset for index in range(len(clients))]
            bars = axes.bar(at, heights, 0.38, label=operation)
            labels = [f"{height:.0f}" if height >= 100 else f"{height:.1f}" for height in heights]
            axes.bar_label(bars, labels, fontsize=8)
        axes.set_xticks(range(len(clients)), clients)
        axes.set_xlabel("clients")
        axes.set_ylabel(label)
        axes.set_title("PFSsim: 400 files of 1 MiB a client, written, then read", fontsize=10)
        axes.legend(frameon=False)
        axes.spines[["top", "right"]].set_visible(False)
        paper.save(figure, name)
        plt.close(figure)


def plot_shares(paper: Paper, shares: list[Shares]) -> None:
    figure, rows = plt.subplots(
        len(shares), figsize=(6.4, 6), sharex=True, sharey=True, layout="constrained"
    )
    for axes, share in zip(rows, shares, strict=True):
        ideal = share.weight / (share.weight + 1)
        axes.axhline(ideal, color="0.6", linewidth=1, linestyle="--")
        axes.plot(share.times, share.samples, linewidth=1.2)
        axes.set_title(
            f"weights 1:{share.weight}: mean {share.mean:.4f}, ideal {ideal:.4f}, "
            f"standard deviation {share.deviation:.4f}",
            fontsize=9,
            loc="left",
        )
        axes.set_ylim(0, 1)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_ylabel("share of G2")
    rows[-1].set_xlabel("time (s), samples of 2.5 s")
    figure.suptitle("SFQ(4) at every server: share of group G2", fontsize=10)
    paper.save(figure, "shares")
    plt.close(figure)


if __name__ == "__main__":
    sys.exit(main("pfssim", "PFSsim (Liu et al. 2011)", reproduce))
