"""The tables' cases on a current machine, an eighth as large as the author's (`testbed.toml`).

Measured rates are in the directory `present`. Predictions use the calibration in the same
directory.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import traces
from published_figures import (
    JOURNAL_RANDOM,
    JOURNAL_TRACES,
    RANDOM_READ,
    RANDOM_WRITE,
    SYNCHRONOUS_RANDOM,
    SYNCHRONOUS_TRACES,
    TRACE_READS,
    TRACE_WRITES,
    Published,
)

from headrace.calibrate import scenario_for_machine
from headrace.calibrate.case import (
    KIB,
    MIB,
    NEW,
    RANDOM,
    WARM,
    Resource,
    scenario,
    transfers,
)
from headrace.calibrate.run_report import RunReport
from headrace.validate import Predicted, predict

FOLDER = Path(__file__).resolve().parent / "present"
MACHINE, MEASURED = "machine.toml", "measured.json"
"""The machine file, and the measurements on that machine."""

PART = 8
"""Divisor of the author's memory, file, journal and dirty limit."""
FILE = traces.FILE // PART
SYNCHRONOUS = ", synchronous = true"
SYNCED = "write and sync"
"""Both operations as one."""

JOURNALS = ("ordered", "journal")
"""One testbed per journal mode; the first is calibrated."""


@dataclass(frozen=True)
class Case:
    """A workload on a testbed, and the operation whose rate counts."""

    name: str
    journal: str
    resource: Resource
    operation: str
    work: Callable[[Path], str]
    """Returns a `[[workload]]` without its heading, for the directory of the traces."""

    def text(self, folder: Path) -> str:
        """Return the scenario, without a system."""
        return scenario(self.name, self.work(folder), 1)

    def rate(self, report: RunReport) -> float:
        """Return KB/s of 1024 bytes from a measured or simulated run."""
        if self.operation == SYNCED:
            return BANDWIDTH / report.seconds_in_calls() / KIB
        return (report.throughput[self.operation] or 0.0) / KIB


def _calls(size: int, block: int, phases: list[str], io: str, **more: str) -> Callable[[Path], str]:
    return lambda _: transfers(size, block, phases, io, more)


def _replayed(name: str, io: str) -> Callable[[Path], str]:
    def work(folder: Path) -> str:
        return f'kind = "trace"\nfile = {json.dumps(str(folder / name))}\nio = {{ {io} }}'

    return work


RANDOM_WRITES = RANDOM | {"requests": str(16384 // PART)}
"""As many as are simulated for the author's machine, in an eighth of its file. Reads, which no
limit meets, are as many as there."""


def _table(
    published: Published, journal: str, resource: Resource, work: Callable[[Path], str]
) -> Case:
    operation = "read" if "read" in published.what else "write"
    return Case(published.what, journal, resource, operation, work)


def _tables() -> list[tuple[Published, Case]]:
    def random(io: str) -> Callable[[Path], str]:
        return _calls(FILE, 8 * KIB, ["write"], NEW + io, **RANDOM_WRITES)

    reads = RANDOM | {"requests": "16384"}
    cached = _calls(FILE, 8 * KIB, ["read"], WARM, **reads)
    rows: list[tuple[Published, str, Resource, Callable[[Path], str]]] = [
        (RANDOM_READ, "ordered", "cache", cached),
        (RANDOM_WRITE, "ordered", "cache", random("")),
        (JOURNAL_RANDOM, "journal", "device", random("")),
        (SYNCHRONOUS_RANDOM, "ordered", "device", random(SYNCHRONOUS)),
    ]
    replayed: list[tuple[dict[str, Published], str, Resource, str]] = [
        (TRACE_READS, "ordered", "cache", "synchronous = false"),
        (TRACE_WRITES, "ordered", "cache", "synchronous = false"),
        (JOURNAL_TRACES, "journal", "device", "synchronous = false"),
        (SYNCHRONOUS_TRACES, "ordered", "device", "synchronous = true"),
    ]
    for published, journal, resource, io in replayed:
        rows += [
            (row, journal, resource, _replayed(f"{name}.csv", io))
            for name, row in published.items()
        ]
    made = [(row, _table(row, journal, resource, work)) for row, journal, resource, work in rows]
    return sorted(made, key=lambda it: int(it[0].table))


TABLES = _tables()
"""Tables 5 to 12: what was published, and the case."""

BLOCKS = {
    ("read", "ordered", ""): [8, 32, 128, 512, 2048, 8192],
    ("write", "ordered", ""): [8, 32, 128, 512, 2048, 8192],
    ("write", "journal", ""): [8, 128, 2048],
    ("write", "ordered", SYNCHRONOUS): [8, 32, 128, 512, 2048],
}
"""KB of a call, by operation, journal and more; in order through a file of 48 MB, which stays
below the limit of dirty data, or 8 MB of synchronous writes."""

READ_SIZES = [4, 16, 64, 256, 512]
"""MB of a cached file that is read; the last is as large as memory."""
WRITE_SIZES = [16, 32, 48, 64, 96, 128, 192]
"""MB of a new file; 64 is the limit of dirty data."""
BANDWIDTH = 192 * MIB
"""What is written until all is on the disk."""


def block_case(operation: str, journal: str, more: str, block: int) -> Case:
    """A case of `BLOCKS`."""
    size = (8 if more else 48) * MIB
    cached = WARM if operation == "read" else NEW
    words = [operation, journal, *(["synchronous"] if more else []), f"{block} KB a call"]
    resource: Resource = "device" if more or journal == "journal" else "cache"
    work = _calls(size, block * KIB, [operation], cached + more)
    return Case(", ".join(words), journal, resource, operation, work)


def size_case(operation: str, size: int) -> Case:
    """A case of `READ_SIZES` or `WRITE_SIZES`."""
    io, block = (WARM, 8 * KIB) if operation == "read" else (NEW, 32 * KIB)
    most = FILE if operation == "write" else 256 * MIB
    resource: Resource = "device" if size * MIB > most else "cache"
    work = _calls(size * MIB, block, [operation], io)
    return Case(f"{operation} of a file of {size} MB", "ordered", resource, operation, work)


def bandwidth_case(journal: str) -> Case:
    """A file that is written and synced."""
    work = _calls(BANDWIDTH, 128 * KIB, ["write", "sync"], NEW)
    return Case(f"write and sync, {journal}", journal, "device", SYNCED, work)


CASES = (
    *(case for _, case in TABLES),
    *(block_case(*kind, block) for kind, blocks in BLOCKS.items() for block in blocks),
    *(size_case("read", size) for size in READ_SIZES),
    *(size_case("write", size) for size in WRITE_SIZES),
    *(bandwidth_case(journal) for journal in JOURNALS),
)
"""All, in the order in which they are measured in each round."""


@dataclass(frozen=True)
class Present:
    """What was measured on a present machine, by the folder that has it."""

    folder: Path

    @cached_property
    def document(self) -> dict[str, Any]:
        """Where and how it was measured, the settings of each testbed, and all rates."""
        found: dict[str, Any] = json.loads((self.folder / MEASURED).read_text(encoding="utf-8"))
        return found

    @property
    def kernel(self) -> str:
        """The version of Linux, as 6.18."""
        return ".".join(str(self.document["kernel"]).split(".")[:2])

    def rates(self, case: Case) -> list[float]:
        """KB/s of 1024 bytes, in each round."""
        rates: list[float] = self.document["kb_per_s"][case.name]
        return rates

    def predicted(self, case: Case) -> Predicted:
        """The case's rate by the calibration, where others have seconds, with its interval."""
        with TemporaryDirectory(prefix="headrace-") as name:
            traces.write(Path(name), part=PART)
            text = scenario_for_machine(self.folder / MACHINE, case.text(Path(name)))
            # The machine was calibrated with the first of the journal's modes; of the others
            # only what the kernel tells of them is known.
            sets = self.document["settings"][case.journal]
            return predict(text, case.rate, case.resource, sets)
