"""Workloads of an application from its profile, a scenario, or a trace."""

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from headrace._core import Loaded, parse_bytes
from headrace.document_io import read_json, read_toml, toml_value

Table: TypeAlias = dict[str, Any]
"""A `[[workload]]` as TOML has it."""

PROBE = """name = "probe"
system = "pvfs2"
[clients]
count = 1
[servers]
count = 8
device = { read_rate = "1 GB/s", write_rate = "1 GB/s" }
[network]
bandwidth = "1 GB/s"
latency = "1 us"
[run.stop]
time = "1 s"
"""
"""A system that takes every workload of parallel file systems."""


class Recorded(NamedTuple):
    """Workloads of an application."""

    workloads: tuple[Table, ...]
    processes: int | None
    """Processes that were recorded; None if the file does not say."""


@lru_cache(maxsize=64)
def preset(name: str) -> Table:
    """Return the workload of a preset, with its defaults.

    Raises:
        ValueError: There is no such preset.
    """
    return complete({"preset": name})


def complete(workload: Table) -> Table:
    """Return a workload with its defaults."""
    text = f"{PROBE}\n[[workload]]\n" + "".join(
        f"{key} = {toml_value(value)}\n" for key, value in workload.items()
    )
    found: Table = tomllib.loads(Loaded.from_text(text, "workload.toml", []).toml)["workload"][0]
    return found


def call_size(workload: Table) -> int:
    """Return the bytes of a call of an IOR workload that has its defaults."""
    return parse_bytes(workload.get("transfer") or workload["block"])


def file_size(workload: Table) -> int:
    """Return the bytes that a process has in a file of an IOR workload with its defaults."""
    return parse_bytes(workload["block"]) * int(workload.get("segments", 1))


@lru_cache(maxsize=64)
def recorded(path: Path) -> Recorded:
    """Read the workloads of an application.

    Args:
        path: A profile that has a workload, a scenario, or a trace, which gets a workload fitted.

    Raises:
        ValueError: The file has no workload.
        OSError: It cannot be read.
    """
    if path.suffix == ".toml":
        return _of_scenario(path)
    if path.suffix == ".json":
        return _of_profile(path)
    # Fitting imports tables.
    from headrace.profile.workload_fit import fit

    fitted = fit(path)
    return Recorded(tuple(tomllib.loads(fitted.workload)["workload"]), fitted.processes)


def _of_scenario(path: Path) -> Recorded:
    document = read_toml(path, "a scenario or a workload in TOML")
    workloads = document.get("workload")
    if not isinstance(workloads, list) or not workloads:
        raise ValueError(f"{path}: expected a [[workload]], as headrace trace workload writes it")
    for workload in workloads:
        workload.pop("group", None)
        if "file" in workload:
            workload["file"] = str(path.parent / workload["file"])
    processes = document.get("clients", {}).get("processes")
    return Recorded(tuple(workloads), processes if isinstance(processes, int) else None)


def _of_profile(path: Path) -> Recorded:
    wanted = "expected a profile with a workload, as headrace profile writes it with a trace"
    try:
        document = read_json(path, "a profile in JSON")
        fitted = document["workload"]
        tables = tomllib.loads(fitted["workload"])["workload"]
        return Recorded(tuple(tables), int(fitted["processes"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        reason = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        raise ValueError(f"{path}: {wanted}: {reason}") from None
