"""Workloads whose time is both measured and predicted."""

import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Literal, TypeAlias

from headrace import _core
from headrace.calibrate.fresh_inodes import FRESH_INODES
from headrace.calibrate.run_report import RunReport
from headrace.measure import Measurement, measure_strict, space
from headrace.measure import load as load_workload
from headrace.measure.conditions import memory_is_given_back

KIB, MIB = 1024, 1024 * 1024

Resource: TypeAlias = Literal["cache", "device"]
"""The limiting resource: processor and memory ("cache"), or the device."""

QUIESCE_S = 0.25
"""Idle time between preparation and measurement, in seconds. After two slices of 100 ms, throttling
(Linux 6.18, block/blk-throttle.c) no longer counts the preparation."""
FREE_PAGE_REPORTING_S = 5.0
"""Idle time after which a virtual machine has returned free memory to its host, in seconds. The
kernel waits 2 s before it reports free pages and starts with the most recent (Linux 6.18,
mm/page_reporting.c). Cold reads of 64 MiB took 30 to 40 ms right after eviction, and 56 to 99 ms 5
s later."""


def quiesce_seconds(resource: Resource, text: str) -> float:
    """Return how long the system stays idle before a workload is measured, in seconds.

    Parameters
    ----------
    resource
        The limiting resource of the workload.
    text
        The scenario.
    """
    if resource != "device":
        return 0.0
    # Evicted pages belong to the guest or the host, depending on the time since. On an idle machine
    # they belong to the host.
    return FREE_PAGE_REPORTING_S if _fills_the_cache(text) and memory_is_given_back() else QUIESCE_S


def _fills_the_cache(text: str) -> bool:
    """Return True if the workload reads an existing, uncached file through the page cache."""
    ways = [workload.get("io", {}) for workload in tomllib.loads(text)["workload"]]
    return any(
        way.get("existing", False) and not way.get("cached", True) and not way.get("direct", False)
        for way in ways
    )


@dataclass(frozen=True)
class Case:
    """A workload that is measured and predicted."""

    name: str
    group: Resource
    """The intended limiting resource, which decides how the case is measured."""
    workload: str
    """TOML of the `[[workload]]`, without its heading."""
    processes: int = 1

    @property
    def work(self) -> str:
        """TOML of the clients and the workload."""
        return scenario(self.name, self.workload, self.processes)

    def seconds(self, report: RunReport) -> float:
        """Return the time of the case from a measured or simulated run, in seconds.

        For one process this is the time in calls; for several, the time until all have finished. A
        wait for a CPU is only charged if the process was interrupted within a call. Time in calls
        therefore says little about processes that share CPUs.
        """
        if self.processes > 1:
            return report.elapsed
        return report.seconds_in_calls()

    def measure(self, directory: str | PathLike[str]) -> Measurement:
        """Measure the case in a directory. Raises as `run_workload` does."""
        return run_workload(self.work, directory, self.group)


def run_workload(
    text: str, directory: str | PathLike[str], resource: Resource, *, calls: str = "posix"
) -> Measurement:
    """Measure a workload under the conditions that a simulation assumes.

    Throttling starts without history, and files are created in a directory without recently freed
    inodes. If there is none, the document has a warning.

    Parameters
    ----------
    text
        The scenario.
    directory
        Directory to measure in.
    resource
        The limiting resource of the workload.
    calls
        "posix", or "null" to measure the load engine alone.

    Raises
    ------
    RunError, ScenarioError, OSError
        As `headrace.measure.measure_strict` does.
    """
    if NAMES not in text:
        return measure_strict(text, directory, calls=calls, settle=quiesce_seconds(resource, text))
    # The error must name the directory that the user knows.
    check_room([text], directory)
    with FRESH_INODES.below(directory) as place:
        measured = measure_strict(
            text, place.path, calls=calls, settle=quiesce_seconds(resource, text)
        )
    measured.report.warnings += place.warnings
    return measured


def check_room(texts: Iterable[str], directory: str | PathLike[str]) -> None:
    """Check that the largest workload fits on the file system under a directory.

    Raises
    ------
    ScenarioError
        If it does not. The message names the largest workload, so that space is freed once.
    """
    needed = [(_core.room_needed(loaded), loaded) for loaded in map(load_workload, texts)]
    # Name the largest, so that space is freed once.
    for most, other in ((0, 1), (1, 0)):
        space.check_room(max(needed, key=lambda row: (row[0][most], row[0][other]))[1], directory)


def scenario(name: str, workload: str, processes: int) -> str:
    """Return the TOML of one client host and one workload.

    Parameters
    ----------
    name
        Name of the scenario.
    workload
        TOML of the `[[workload]]`, without its heading.
    processes
        Number of client processes.
    """
    return (
        f'name = "{name}"\n[clients]\ncount = 1\nprocesses = {processes}\n'
        f"[[workload]]\n{workload}\n"
    )


def scenario_for_machine(machine: str | PathLike[str], work: str) -> str:
    """Return the text of a scenario that runs a workload on a machine file's system.

    Parameters
    ----------
    machine
        Path of the machine file.
    work
        TOML text of the clients and the workload, as `scenario` returns it.
    """
    # JSON string escapes are valid in TOML.
    return f"system = {json.dumps(fspath(machine), ensure_ascii=False)}\n{work}"


def transfers(size: int, block: int, phases: list[str], io: str, more: Mapping[str, str]) -> str:
    """Return the TOML of a workload that reads or writes a file.

    Parameters
    ----------
    size
        Size of the file, in bytes.
    block
        Size of each call, in bytes.
    phases
        Operations, in order.
    io
        Contents of the inline table `io`.
    more
        Further keys and their TOML values.
    """
    words = ", ".join(f'"{phase}"' for phase in phases)
    lines = [
        f'block = "{size} B"',
        f'transfer = "{block} B"',
        f"phases = [{words}]",
        f"io = {{ {io} }}",
    ]
    return "\n".join([*lines, *(f"{key} = {value}" for key, value in more.items())])


WARM = "existing = true, cached = true"
"""The file exists and is in the page cache."""
COLD = "existing = true, cached = false, pointers_cached = true"
"""The file's data is evicted from the page cache; its indirect blocks are not."""
NEW = "existing = false"
DIRECT = f"{COLD}, direct = true, huge_pages = true"
"""Direct I/O with one contiguous buffer in huge pages, like the large folios of the page cache. A
virtual disk needs a descriptor per segment; each 4 KiB segment after the first cost 2.8 us."""
SYNCHRONOUS = f"{WARM}, synchronous = true"
RANDOM = {"order": '"uniform"'}
OWN_FILES = {"access": '"file-per-process"'}
NAMES = 'kind = "mdtest"'
"""Marks a metadata workload."""
