"""Frames of rates with known levels, for tests of phases and verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

IDLE: Mapping[str, float] = {
    "cpu.0.user": 0.0,
    "cpu.1.user": 0.0,
    "cpu.idle": 1.0,
    "cpu.iowait": 0.0,
    "tree.user": 0.0,
    "tree.system": 0.0,
    "tree.busiest_thread": 0.0,
    "tree.running": 0.0,
    "tree.disk_wait": 0.0,
    "tree.sleeping": 1.0,
    "tree.resident_bytes": 4e6,
    "tree.major_faults_per_s": 0.0,
    "tree.minor_faults_per_s": 0.0,
    "tree.read_calls_per_s": 0.0,
    "tree.write_calls_per_s": 0.0,
    "tree.read_call_bytes_per_s": 0.0,
    "tree.write_call_bytes_per_s": 0.0,
    "tree.read_bytes_per_s": 0.0,
    "tree.write_bytes_per_s": 0.0,
    "tree.voluntary_switches_per_s": 0.0,
    "memory.total_bytes": 8e9,
    "memory.available_bytes": 4e9,
    "paging.swap_in_bytes_per_s": 0.0,
    "paging.swap_out_bytes_per_s": 0.0,
    "disk.sda.read_bytes_per_s": 0.0,
    "disk.sda.write_bytes_per_s": 0.0,
    "disk.sda.reads_per_s": 0.0,
    "disk.sda.writes_per_s": 0.0,
    "disk.sda.queue": 0.0,
    "disk.sda.read_service_s": 0.0,
    "disk.sda.write_service_s": 0.0,
    "disk.sda.utilisation": 0.0,
    "net.eth0.receive_bytes_per_s": 0.0,
    "net.eth0.send_bytes_per_s": 0.0,
    "net.eth0.receive_packets_per_s": 0.0,
    "net.eth0.send_packets_per_s": 0.0,
    "net.eth0.errors_per_s": 0.0,
    "net.eth0.drops_per_s": 0.0,
    "net.eth0.collisions_per_s": 0.0,
}
"""Rates of a program that sleeps on an idle machine of two cores. Columns that kernels may lack,
such as delay accounting and PSI, are left out."""


def frame(
    *levels: tuple[int, Mapping[str, float | Sequence[float]]],
    interval_s: float = 1.0,
    noise: float = 0.0,
    seed: int = 1,
) -> pl.DataFrame:
    """Return a frame with one level after another.

    Parameters
    ----------
    levels
        Number of rows, and the columns that differ from `IDLE`: a value, or one for each row.
    noise
        Relative standard deviation of the columns that differ from `IDLE`.
    """
    random = np.random.default_rng(seed)
    names = list(dict(IDLE) | {name: 0.0 for _, level in levels for name in level})
    data: dict[str, list[float | None]] = {name: [] for name in names}
    for count, level in levels:
        for name in names:
            values = np.broadcast_to(np.asarray(level.get(name, IDLE.get(name, 0.0))), (count,))
            factors = 1.0 + noise * random.normal(size=count) if name in level else 1.0
            data[name].extend(float(it) for it in np.maximum(values * factors, 0.0))
    rows = len(data[names[0]])
    starts = [interval_s * it for it in range(rows)]
    return pl.DataFrame(
        {"from_s": starts, "to_s": [it + interval_s for it in starts], **data},
        schema_overrides={"from_s": pl.Float64, "to_s": pl.Float64},
    )


@dataclass(frozen=True)
class Figure:
    """A figure of a baseline, as far as verdicts use it."""

    value: float


@dataclass(frozen=True)
class Figures:
    """A baseline, as far as verdicts use it."""

    figures: Mapping[str, Figure]


def baseline(**figures: float) -> Figures:
    """Return a baseline; underscores in names stand for hyphens."""
    return Figures({name.replace("_", "-"): Figure(value) for name, value in figures.items()})
