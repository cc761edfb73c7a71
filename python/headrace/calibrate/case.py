"""A workload of which the time is measured and predicted."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, Literal, TypeAlias

from headrace import _core
from headrace.calibrate.fresh_inodes import FRESH_INODES
from headrace.measure import Measurement, measure_strict
from headrace.measure import load as load_workload
from headrace.measure.conditions import memory_is_given_back

KIB, MIB = 1024, 1024 * 1024

Bound: TypeAlias = Literal["cache", "device"]
"""What takes most of the time: processor and memory, or the device."""

SETTLE = 0.25
"""Seconds after preparation: whatever limits a device (Linux 6.18, block/blk-throttle.c) has
forgotten by then what preparation used of them, after two slices of 100 ms."""
TAKEN_BACK = 5.0
"""Seconds after which free memory is the host's, where a virtual machine gives it back: the kernel
waits 2 s before it reports any, and begins with what was freed last (Linux 6.18,
mm/page_reporting.c). Reads of 64 MiB that were not cached took 30 to 40 ms right after the file's
pages were dropped, and 56 to 99 ms 5 s later."""


def settle(bound: Bound, text: str) -> float:
    """How long the system is left alone before the measurement of a workload, in seconds."""
    if bound != "device":
        return 0.0
    # What was dropped from the page cache is the host's or is still there, by how long ago that
    # was: as on a machine that was left alone, it is the host's.
    return TAKEN_BACK if _fills_the_cache(text) and memory_is_given_back() else SETTLE


def _fills_the_cache(text: str) -> bool:
    """Whether a workload goes through the page cache to a file that is there and not in it."""
    ways = [it.get("io", {}) for it in tomllib.loads(text)["workload"]]
    return any(
        way.get("existing", False) and not way.get("cached", True) and not way.get("direct", False)
        for way in ways
    )


@dataclass(frozen=True)
class Case:
    """A workload that is measured and predicted."""

    name: str
    group: Bound
    """What bounds it as a rule; it is measured accordingly."""
    workload: str
    """The `[[workload]]`, without its heading."""
    processes: int = 1

    @property
    def work(self) -> str:
        """Clients and workload, as a scenario has them."""
        return scenario(self.name, self.workload, self.processes)

    def seconds(self, document: Mapping[str, Any]) -> float:
        """What one process spends in its calls, by a result, measured or simulated; how long
        several take until all are done.

        A call of one that waits for a processor is measured only if it was interrupted within
        the call, so the time in calls says little of several that share processors.
        """
        if self.processes > 1:
            return elapsed(document)
        return seconds_in_calls(document)

    def measured(self, directory: str | PathLike[str]) -> Measurement:
        """Carries it out in a directory. Raises as `carried_out` does."""
        return carried_out(self.work, directory, self.group)


def carried_out(
    text: str, directory: str | PathLike[str], bound: Bound, *, calls: str = "posix"
) -> Measurement:
    """Measures a workload in a directory, as a simulation has it: with no limits that remember
    what was before, and names where no inodes were freed lately; the document warns if there was
    no such place.

    Raises as `headrace.measure.measure_strict` does.
    """
    if NAMES not in text:
        return measure_strict(text, directory, calls=calls, settle=settle(bound, text))
    # By the name that the user knows.
    check_room([text], directory)
    with FRESH_INODES.below(directory) as place:
        measured = measure_strict(text, place.path, calls=calls, settle=settle(bound, text))
    measured.document["warnings"] += place.warnings
    return measured


def check_room(texts: Iterable[str], directory: str | PathLike[str]) -> None:
    """Raises ScenarioError if one of some workloads takes more than the file system under a
    directory has."""
    needed = [(_core.room_needed(loaded), loaded) for loaded in map(load_workload, texts)]
    # That which takes most, so that whoever makes room does so once.
    for most, other in ((0, 1), (1, 0)):
        _core.check_room(max(needed, key=lambda it: (it[0][most], it[0][other]))[1], directory)


def scenario(name: str, workload: str, processes: int) -> str:
    """What is carried out: processes of one client, and a `[[workload]]` without its heading."""
    return (
        f'name = "{name}"\n[clients]\ncount = 1\nprocesses = {processes}\n'
        f"[[workload]]\n{workload}\n"
    )


def elapsed(document: Mapping[str, Any]) -> float:
    """How long it took until all processes were done, by a result, in seconds."""
    return float(document.get("measured_seconds") or document["simulated_seconds"])


def seconds_in_calls(document: Mapping[str, Any], processes: int = 1) -> float:
    """What a process spends in its calls, by a result, measured or simulated, in seconds."""
    latency, operations = document["latency"], document["operations"]
    total = sum(
        it["count"] * latency[name]["mean"] for name, it in operations.items() if name in latency
    )
    return float(total) / processes


def transfers(size: int, block: int, phases: list[str], io: str, more: Mapping[str, str]) -> str:
    """A workload: a file of so many bytes in calls of a block."""
    words = ", ".join(f'"{phase}"' for phase in phases)
    lines = [
        f'block = "{size} B"',
        f'transfer = "{block} B"',
        f"phases = [{words}]",
        f"io = {{ {io} }}",
    ]
    return "\n".join([*lines, *(f"{key} = {value}" for key, value in more.items())])


WARM = "existing = true, cached = true"
"""The file is there, and in the page cache."""
COLD = "existing = true, cached = false, pointers_cached = true"
"""Its data was dropped from the page cache, as the engine can; its blocks of pointers were not."""
NEW = "existing = false"
DIRECT = f"{COLD}, direct = true, huge_pages = true"
"""Into one piece of memory, as what passes through the page cache has large folios: a virtual disk
has a descriptor for each piece, and here took 2.8 us for each of 4 KiB beyond the first."""
SYNCHRONOUS = f"{WARM}, synchronous = true"
RANDOM = {"order": '"uniform"'}
NAMES = 'kind = "mdtest"'
"""Calls on names; by this a workload of them is known."""
