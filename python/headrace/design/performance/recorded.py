"""Workloads of an application from its profile, a scenario, or a trace."""

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeGuard

import msgspec

from headrace._core import Loaded, parse_bytes, parse_seconds
from headrace.design.worksheet import Application
from headrace.document_io import parse_toml, read_json, read_toml, toml_value
from headrace.fields import convert

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


class _Fitted(msgspec.Struct):
    """The workload of a profile."""

    workload: str
    processes: int


class _Profile(msgspec.Struct):
    """The fields of a profile that are read."""

    workload: _Fitted


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
    document: Table = tomllib.loads(Loaded.from_text(text, "workload.toml", []).toml)["workload"][0]
    return document


class TrainingNeed(NamedTuple):
    """Demand of a training on its storage."""

    accelerators: float
    rate: float
    """Bytes a second of all accelerators if they never wait."""
    step: float
    """Seconds of a computation."""
    loaders: int
    """Loaders of all accelerators."""


def training_need(
    application: Application, workload: Table, hosts: int, recorded_processes: int | None = None
) -> TrainingNeed | None:
    """Return what a training takes; None if the workload is none.

    Args:
        application: The application.
        workload: Its workload with its defaults.
        hosts: Its clients.
        recorded_processes: Processes of a recorded workload in all.

    Raises:
        ValueError: The worksheet asks for accelerators, and the workload is no training.
    """
    if workload.get("kind") != "training":
        if application.accelerators or application.au is not None:
            raise ValueError(
                f"{application.name}: accelerators and au are of a training: expected"
                ' preset = "unet3d", or another workload with kind = "training"'
            )
        return None
    number = application.accelerators or (
        application.processes * hosts if application.processes else recorded_processes or hosts
    )
    step = parse_seconds(workload["computation"])
    rate = number * workload["batch"] * parse_bytes(workload["sample"]) / max(step, 1e-9)
    return TrainingNeed(number, rate, step, round(number * workload["loaders"]))


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
    if not _are_tables(workloads):
        raise ValueError(f"{path}: expected a [[workload]], as headrace trace workload writes it")
    for workload in workloads:
        workload.pop("group", None)
        if "file" in workload:
            workload["file"] = str(path.parent / str(workload["file"]))
    clients = document.get("clients")
    processes = clients.get("processes") if isinstance(clients, dict) else None
    return Recorded(tuple(workloads), processes if type(processes) is int else None)


def _of_profile(path: Path) -> Recorded:
    expected = "expected a profile with a workload, as headrace profile writes it with a trace"
    try:
        fitted = convert(read_json(path, "a profile in JSON"), _Profile).workload
        tables = parse_toml("workload", fitted.workload, "tables in TOML").get("workload")
    except ValueError as error:
        raise ValueError(f"{path}: {expected}: {error}") from None
    if not _are_tables(tables):
        raise ValueError(f"{path}: {expected}")
    return Recorded(tuple(tables), fitted.processes)


def _are_tables(value: Any) -> TypeGuard[list[Table]]:
    """Return whether a value is a list of one table or more."""
    return isinstance(value, list) and value != [] and all(isinstance(item, dict) for item in value)
