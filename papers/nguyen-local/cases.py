"""Simulated runs of the table's rows. Rates are in KB/s of 1024 bytes."""

import tomllib
from pathlib import Path
from typing import Any

import headrace as hr

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "scenarios"
TRACES = Path(__file__).resolve().parent / "traces"

SYNCHRONOUS: dict[str, Any] = {"workload.0.io.synchronous": True}
DATA_JOURNAL: dict[str, Any] = {"machine.file_system.journal.mode": "journal"}
ORDERED: dict[str, Any] = {"machine.file_system.journal.mode": "ordered"}
CACHED: dict[str, Any] = {"workload.0.io.existing": True, "workload.0.io.cached": True}
"""The file exists and is cached before it is written."""


def run(name: str, sets: dict[str, Any]) -> dict[str, Any]:
    """Return the report of a shipped scenario with some values changed."""
    document: dict[str, Any] = hr.run(hr.load(SCENARIOS / f"{name}.toml", sets)).json()
    return document


def rate(name: str, operation: str, sets: dict[str, Any]) -> float:
    return float(run(name, sets)["throughput"][operation]) / 1024


def sequential_read(block: int, **more: Any) -> float:
    """Read a cached file in calls of `block` KB; `more` has dots written as two underscores."""
    return rate("nguyen-sequential-read", "read", {**size(block), **dotted(more)})


def sequential_write(block: int, sets: dict[str, Any]) -> float:
    """Write a new file in calls of `block` KB."""
    return rate("nguyen-data-journal", "write", {**ORDERED, **size(block), **sets})


def random_read() -> float:
    sets = {**CACHED, "workload.0.phases": ["read"]}
    return rate("nguyen-random-write", "read", sets)


def random_write(sets: dict[str, Any]) -> float:
    return rate("nguyen-random-write", "write", sets)


def trace(name: str, sets: dict[str, Any]) -> float:
    file = {"workload.0.file": str(TRACES / f"{name}.csv")}
    return rate("nguyen-trace", name.split("-")[0], {**file, **sets})


def bandwidth(sets: dict[str, Any]) -> float:
    """Write 2 GiB until all is on the disk."""
    sets = {**sets, "workload.0.block": "2 GiB", "workload.0.phases": ["write", "sync"]}
    return (2 << 20) / float(run("nguyen-data-journal", sets)["simulated_seconds"])


def copy_times() -> tuple[float, float, float]:
    """Return the microseconds of a page in the cache, a page in memory, and a system call."""
    scenario = hr.load(SCENARIOS / "nguyen-sequential-read.toml")
    machine = tomllib.loads(scenario.toml)["machine"]
    copy_file = machine["copying"]
    texts = copy_file["page_in_l2"], copy_file["page_in_memory"], machine["cpu"]["system_call"]
    in_cache, in_memory, call = map(microseconds, texts)
    return in_cache, in_memory, call


def microseconds(text: str) -> float:
    value, unit = text.split()
    return float(value) * {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}[unit]


def size(block: int) -> dict[str, Any]:
    return {"workload.0.transfer": f"{block} KiB"}


def dotted(sets: dict[str, Any]) -> dict[str, Any]:
    return {name.replace("__", "."): value for name, value in sets.items()}
