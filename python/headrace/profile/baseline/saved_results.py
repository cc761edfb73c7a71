"""A baseline from saved results of benchmarks."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, cast

from headrace import _core
from headrace.document_io import read_document
from headrace.environment import Environment, check, of_directory, started_of, timestamp
from headrace.fields import WrongField
from headrace.profile.baseline import changes
from headrace.profile.baseline.baseline import Baseline, Figure
from headrace.profile.baseline.cases import BLOCK, FIGURES, PAGE
from headrace.profile.baseline.measurement import host_settings
from headrace.store import open as open_store

PREFIX = "results:"
"""Prefix of an identifier in the store."""
RULE = "that of the imported results"

Document = Mapping[str, Any]


def import_baseline(directory: str | PathLike[str], names: Sequence[str]) -> Baseline:
    """Make a baseline of saved results, without measuring.

    Parameters:
        directory: Directory on the file system that the results were measured on.
        names: Files that `headrace bench disk`, `sweep` or `net` saved with `-o`, or `results:ID`
            in the store. If two results have one figure, the later one counts.

    Raises:
        ValueError: If a result is of another kind, host, file system or device, or results differ
            in these.
        OSError: If a file cannot be read, or there is no such directory.
        StoreError, StoreFailure: If the store has no such result or cannot be read.

    Examples:
        >>> from headrace.profile.baseline import import_baseline
        >>> figures = import_baseline(".", ["tests/data/documents/network.json"]).figures
        >>> f"{figures['network-send'].value / 1e9:.1f} GB/s"
        '3.1 GB/s'
    """
    here = of_directory(directory)
    figures: dict[str, Figure] = {}
    started, before = [], None
    for name in names:
        document = _read(name)
        environment = document.get("environment")
        try:
            check("environment", environment)
            values = dict(_figures(name, document))
            moment = started_of(document)
        except (AttributeError, LookupError, TypeError, ValueError, WrongField) as error:
            raise ValueError(f"{name}: the result is damaged: {error!r}") from None
        if not values:
            raise ValueError(
                f"{name}: it has no figure of a baseline: expected a result of headrace bench disk,"
                " sweep or net"
            )
        if not isinstance(environment, Mapping) or "host" not in environment:
            raise ValueError(f"{name}: it does not say where it was measured: measure it again")
        _check_same(name, environment, here)
        if before is not None and (other := changes.differences(before, environment)):
            raise ValueError(f"{name}: differs from {names[0]}: {other[0]}")
        before = environment if before is None else before
        started += [moment] if moment is not None else []
        figures |= values
    if before is None:
        raise ValueError("--import: expected one result or more")
    # The kernel and the mount options are those of the measurement, for `outdated`.
    environment = cast(Environment, {**here, **before})
    if started:
        environment["started"] = timestamp(min(started))
    settings, notes = host_settings(directory)
    return Baseline(
        version=_core.VERSION,
        environment=environment,
        figures={name: figures[name] for name in FIGURES if name in figures},
        file_bytes=None,
        file_rule=RULE,
        settings=settings,
        notes=[*notes, "imported without a self-check"],
    )


def _read(name: str) -> dict[str, Any]:
    if name.startswith(PREFIX):
        return open_store().record(name.removeprefix(PREFIX)).contents
    return read_document(Path(name))


IDENTITY = (
    *("host", "mount_point", "mount_source", "file_system"),
    *("device", "device_model", "device_bytes"),
)
"""Keys in which a result has to agree with the directory."""


def _check_same(name: str, environment: Document, here: Document) -> None:
    for key in IDENTITY:
        # A result of the network has no directory.
        if key in environment and environment[key] != here.get(key):
            words = key.replace("_", " ")
            raise ValueError(
                f"{name}: its {words} is {environment[key]}, and here it is"
                f" {here.get(key, 'none')}: expected a result of this host and device"
            )


Named = Iterator[tuple[str, Figure]]


def _figures(name: str, document: Document) -> Named:
    kind = document.get("benchmark") if document.get("kind") == "study" else document.get("kind")
    if isinstance(kind, str) and kind in READERS:
        yield from READERS[kind](name, document)


DISK = {
    "character write": ("character-write", "B/s"),
    "character read": ("character-read", "B/s"),
    "block write": ("block-write", "B/s"),
    "rewrite": ("rewrite", "B/s"),
    "block read": ("block-read", "B/s"),
    "create": ("create", "1/s"),
    "stat": ("stat", "1/s"),
    "unlink": ("remove", "1/s"),
}
"""Figures of `bench disk`. Its seeks are of 8 KiB and through the page cache: no figure here."""


def _disk(name: str, document: Document) -> Named:
    for row in document["summary"]:
        if row["test"] in DISK and row["median"]:
            figure, unit = DISK[row["test"]]
            yield figure, _figure(name, row, float(row["median"]), unit)


def _figure(name: str, row: Document, value: float, unit: str) -> Figure:
    cpu = row.get("cpu")
    return Figure(
        value=value,
        unit=unit,
        cpu=None if cpu is None else float(cpu),
        method=f"{row['test']} of {name}",
    )


def _sweep(name: str, document: Document) -> Named:
    """Yield the figures of the largest file.

    Random transfers of 4 KiB have to bypass the page cache. Cached ones are of the size nearest to
    that of block figures.
    """
    largest = max(row["file"] for row in document["summary"])
    rows = [row for row in document["summary"] if row["file"] == largest and row["median"]]
    nearest = min({row["block"] for row in rows}, key=lambda size: abs(size - BLOCK), default=0)
    # Points that memory may have answered are marked; those of direct I/O are not.
    for row in rows:
        test, in_memory = str(row["test"]), bool(row["in_memory"])
        if test in RANDOM and row["block"] == PAGE and not in_memory:
            yield RANDOM[test], _figure(name, row, float(row["median"]) / PAGE, "1/s")
        if test in CACHED and row["block"] == nearest and in_memory:
            yield CACHED[test], _figure(name, row, float(row["median"]), "B/s")


RANDOM = {"random read": "random-read", "random write": "random-write"}
CACHED = {"write": "cached-write", "reread": "cached-read"}


def _network(name: str, document: Document) -> Named:
    messages = sorted(document["messages"], key=lambda each: int(each["size"]))
    shortest, longest = messages[0], messages[-1]
    for figure, message, value, unit in (
        ("network-round-trip", shortest, 2 * shortest["latency"]["p50"], "s"),
        ("network-send", longest, longest["throughput"], "B/s"),
    ):
        method = f"messages of {message['size']} B of {name}"
        yield figure, Figure(value=float(value), unit=unit, method=method)


READERS: Mapping[str, Callable[[str, Document], Named]] = {
    "disk": _disk,
    "sweep": _sweep,
    "network": _network,
}
"""Readers by the benchmark; to import from another one, write a function and name it here."""
