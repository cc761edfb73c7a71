"""PVFS as Nguyen (2011, chapters 3.3, 6 and 7) describes it: published | ours | error.

All figures of the chapters are curves without numbers: what is compared are the
statements of the text. Run it by `headrace papers nguyen-pvfs`.
"""

import sys

from headrace import interruption

if __name__ == "__main__":
    interruption.end_at_once()

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib

import headrace as hr
from headrace.quantities import percent_text
from headrace.report.paper import Paper, Row, main

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SCENARIO = Path(__file__).resolve().parents[2] / "scenarios" / "nguyen-iod.toml"
CLIENTS = (1, 2, 4, 8)
BLOCKS = (4, 8, 16, 32, 64, 256, 1024)
"""Block sizes in KiB."""
LIST = 1024
"""KiB of a client's outstanding requests: "the list is passed"."""
JOB, ENTRY = 150e-6, 2e-6
"""Seconds to accept a job, and per entry of its client's list; assumptions."""
FITTED = 16
"""Block size in KiB at which the flat model takes the mean time of the list."""
EQUAL = 0.01
"""Largest relative difference of two models that count as equal."""
SIZES = (64, 256, 1024, 2048, 4096, 8192, 16384)
"""File sizes in KiB."""


@dataclass(frozen=True)
class Pair:
    """Write rates in bytes/s, with and without list traversal."""

    clients: int
    block: int
    linear: float
    flat: float

    @property
    def ahead(self) -> float:
        """Relative advantage of the flat model."""
        return self.flat / self.linear - 1


def blocks(clients: int, block: int, job: float, entry: float) -> dict[str, Any]:
    """Write a file from several clients in blocks, with many outstanding."""
    sets = {
        "clients.count": clients,
        "clients.processes": max(1, LIST // block),
        "metadata.time_per_operation": "0 s",
        "servers.receive_buffer.time_per_job": f"{job} s",
        "servers.receive_buffer.time_per_entry": f"{entry} s",
        "workload.0.access": "shared",
        "workload.0.block": f"{block} KiB",
        "workload.0.transfer": f"{block} KiB",
        "workload.0.segments": 8,
        "workload.0.phases": ["write"],
    }
    return hr.run(hr.load(SCENARIO, sets)).json()


def mean_time() -> float:
    """Return the mean time to insert a job into its list."""
    stations = blocks(1, FITTED, JOB, ENTRY)["stations"]
    (buffers,) = [it for it in stations if it["station"].endswith("receive buffers")]
    return float(buffers["service"])


def pair(clients: int, block: int, flat: float) -> Pair:
    linear = blocks(clients, block, JOB, ENTRY)["throughput"]["write"]
    return Pair(clients, block, linear, blocks(clients, block, flat, 0.0)["throughput"]["write"])


def rates(clients: int, direction: str) -> list[float]:
    """Return the rate of each client, in bytes/s."""
    names = [f"client {number}" for number in range(clients)]
    sets = {"clients.count": clients, "clients.groups": names, "workload.0.phases": [direction]}
    groups = hr.run(hr.load(SCENARIO, sets)).json()["groups"]
    return [float(group["throughput"][direction]) for group in groups.values()]


def of_size(size: int, direction: str) -> float:
    """Return the rate of one client with a file of `size` KiB, in bytes/s."""
    sets = {
        "clients.count": 1,
        "workload.0.block": f"{size} KiB",
        "workload.0.transfer": "64 KiB",
        "workload.0.io.cached": direction == "read",
        "workload.0.phases": [direction],
    }
    return float(hr.run(hr.load(SCENARIO, sets)).json()["throughput"][direction])


def reproduce(paper: Paper) -> list[Row]:
    """Run the experiments, plot them, and return the rows."""
    flat = paper.step("one client, fitted", mean_time)
    pairs = [
        paper.step(f"{clients} clients, {block} KiB", partial(pair, clients, block, flat))
        for clients in CLIENTS
        for block in BLOCKS
    ]
    each = {
        (clients, direction): paper.step(
            f"{clients} clients, {direction}", partial(rates, clients, direction)
        )
        for clients in (*range(1, 4), 8)
        for direction in ("read", "write")
    }
    sizes = {
        direction: [
            paper.step(f"{size} KiB, {direction}", partial(of_size, size, direction))
            for size in SIZES
        ]
        for direction in ("write", "read")
    }
    plot(paper, pairs, sizes)
    return [*list_rows(pairs), *client_rows(each), *size_rows(sizes)]


def list_rows(pairs: list[Pair]) -> list[Row]:
    """The receive buffer (section 7.3.1), and how the crossing moves (7.3.4)."""
    small = [it.ahead for it in pairs if it.block == BLOCKS[0]]
    large = [it.ahead for it in pairs if it.block == BLOCKS[-1]]

    def crossing(clients: int) -> int:
        same = [it.block for it in pairs if it.clients == clients and it.ahead < EQUAL]
        return min(same)

    crossings = [crossing(clients) for clients in CLIENTS]
    return [
        Row(
            "write, flat receive buffer at small blocks (4 KiB)",
            "faster than reality",
            ", ".join(percent_text(it, 2, sign=True) for it in small),
            "",
            min(small) > EQUAL,
        ),
        Row(
            "write, flat receive buffer at large blocks (1 MiB)",
            "slower than reality",
            ", ".join(f"{100 * it:+.4f} %" for it in large),
            "",
            max(large) < 0,
        ),
        Row(
            f"block from which both are within {100 * EQUAL:.0f} %, 1 to 8 clients",
            "larger with more clients",
            ", ".join(f"{block} KiB" for block in crossings),
            "",
            sorted(crossings) == crossings and crossings[-1] > crossings[0],
        ),
    ]


def client_rows(each: dict[tuple[int, str], list[float]]) -> list[Row]:
    """Clients among each other, and with others beside them."""
    rows = []
    for direction in ("read", "write"):
        spread = max(max(own) / min(own) - 1 for (_, it), own in each.items() if it == direction)
        rows.append(
            Row(
                f"{direction}: clients' rates, up to 8 clients",
                "very close to each other",
                f"at most {percent_text(spread, 2)} apart",
                "",
                spread < 0.1,
            )
        )
        few = [sum(each[clients, direction]) / clients for clients in range(1, 4)]
        rows.append(
            Row(
                f"{direction}: a client's rate with 1, 2, 3 clients",
                "about the same",
                ", ".join(f"{rate / 1e6:.1f} MB/s" for rate in few),
                percent_text(min(few) / max(few) - 1, 2, sign=True),
                min(few) > 0.9 * max(few),
            )
        )
    return rows


def size_rows(sizes: dict[str, list[float]]) -> list[Row]:
    """Files of different sizes (section 3.3.3)."""
    write, read = sizes["write"], sizes["read"]
    reaches = next(size for size, rate in zip(SIZES, write, strict=True) if rate > 0.9 * write[-1])
    return [
        Row(
            "write: size of a file from which the rate is within 10 % of the highest",
            "2 MB",
            f"{reaches} KiB",
            "",
            1024 < reaches <= 4096,
        ),
        Row(
            "read: rate of a file of 64 KiB against one of 16 MiB",
            "the same",
            percent_text(read[0] / read[-1], 2),
            percent_text(read[0] / read[-1] - 1, 2, sign=True),
            read[0] > 0.9 * read[-1],
        ),
    ]


def plot(paper: Paper, pairs: list[Pair], sizes: dict[str, list[float]]) -> None:
    """Plot both models against block size, and rates against file size."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for clients in CLIENTS:
        own = [it for it in pairs if it.clients == clients]
        line = left.plot(
            [it.block for it in own], [it.linear / 1e6 for it in own], label=f"{clients} clients"
        )
        color = line[0].get_color()
        left.plot([it.block for it in own], [it.flat / 1e6 for it in own], ls="--", color=color)
    left.set(xscale="log", xlabel="KiB of a block", ylabel="MB/s", ylim=(0, None))
    left.set_title("write; dashed: lists that are not gone through")
    left.legend(fontsize="small")
    for direction, rate in sizes.items():
        right.plot(SIZES, [it / 1e6 for it in rate], marker="o", label=direction)
    right.set(xscale="log", xlabel="KiB of a file", ylim=(0, None), title="one client")
    right.legend(fontsize="small")
    paper.save(figure, "receive-buffers-and-sizes")
    plt.close(figure)


if __name__ == "__main__":
    sys.exit(main("nguyen-pvfs", "Nguyen 2011: PVFS", reproduce))
