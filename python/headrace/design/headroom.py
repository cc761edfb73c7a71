"""An upper bound of the performance of a design, as a multiple of the applications' demand.

Every resource is busy for the least time that the demand can take. Each byte passes its disks, its
array's redundant disks, the bus and the card once. Each call at a random place takes one access.
Not considered: queues, seeks between streams, metadata, the clients' own cards. The simulation
tells what remains of the bound; a search uses it to order designs.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from headrace.design.performance.access import access
from headrace.design.performance.pacing import CAPABILITY, wanted_calls
from headrace.design.performance.recorded import (
    Table,
    call_size,
    complete,
    file_size,
    preset,
    recorded,
)
from headrace.design.performance.system import MEAN_RATE, ROTATION, TRANSFER_TIME
from headrace.design.system import ArrayKind, Design
from headrace.design.worksheet import Worksheet

UNKNOWN_DEMAND = 100e6
"""Bytes a second that an application counts with if it says nothing (declared: gigabit Ethernet
delivers somewhat more)."""
WHOLE_STRIPE = 1 << 20
"""Bytes of a file up to which each call counts as one at a random place."""
WRITES: dict[ArrayKind, int] = {"raid1": 2, "raid10": 2, "raid5": 4, "raid6": 6, "draid": 6}
"""Accesses of disks for a small write: both mirrors, or old and new data and parity."""


EVENTS_EACH = {"glusterfs": 400}
"""Events of a simulation for a request of a MiB (declared: of the order of arrays of ten disks), by
file systems with stripes of their own; of others `OTHER_EVENTS`."""
OTHER_EVENTS = 80


class Demand(NamedTuple):
    """Demand of an application for disks."""

    bytes: float
    """Bytes a second."""
    random_calls: float
    """Calls a second at random places."""
    read_share: float


def demands(worksheet: Worksheet, directory: Path = Path()) -> tuple[Demand, ...]:
    """Return the demand of each application.

    Raises:
        ValueError: An application's profile is none.
        OSError: It cannot be read.
    """
    ratios = []
    for application in worksheet.applications:
        if application.profile is None and application.preset is None:
            does = access(application, worksheet)
            transfer: int | None = does.transfer
            share = does.read_share
            random = does.pattern == "random" or does.file_size < WHOLE_STRIPE
        else:
            source: Sequence[Table] = (
                recorded(directory / application.profile).workloads
                if application.profile is not None
                else (preset(application.preset or ""),)
            )
            transfer, share, random = _workload(complete(source[0]))
            if transfer is not None and application.transfer is not None:
                transfer = round(application.transfer)
        calls = wanted_calls(application, transfer)
        moved = application.throughput or (calls or 0.0) * (transfer or 0)
        if calls is None and not moved:
            moved = UNKNOWN_DEMAND
        if calls is None:
            calls = moved / (transfer or WHOLE_STRIPE)
        # Calls without data are for metadata, which is not considered.
        ratios.append(Demand(moved, calls if random and transfer else 0.0, share))
    return tuple(ratios)


def _workload(table: Table) -> tuple[int | None, float, bool]:
    """Return bytes of a call, read share, and whether calls are at random places."""
    if table.get("kind", "ior") != "ior":
        return None, 0.5, True
    phases = table.get("phases", ["write"])
    reads, writes = "read" in phases or "mixed" in phases, "write" in phases or "mixed" in phases
    share = float(table.get("read_share", 0.5)) if reads and writes else float(reads)
    small = file_size(table) < WHOLE_STRIPE
    random = table.get("order", "sequential") not in ("sequential", "backward") or small
    return call_size(table), share, random


class Busy(NamedTuple):
    """Least work of the applications' demand in a second, by resource."""

    disk: float
    """Seconds of disks."""
    wire: float
    """Bytes through network cards in the busier direction."""
    bus: float
    """Bytes through buses."""


def busy(design: Design, loads: Sequence[Demand]) -> Busy:
    """Return the work of a design's resources; servers, arrays and network do not change it.

    Args:
        design: The design.
        loads: Demand of each application, by `demands`.
    """
    array, disk = design.array, design.disk
    turns = disk.disk_class in ROTATION
    factor = MEAN_RATE if turns else 1.0
    access_time = disk.access_time if turns else TRANSFER_TIME.get(disk.disk_class, 0.0)
    code = design.code
    copies = design.copies if code is None else (code.data + code.parity) / code.data
    redundant = (array.data + array.parity) / array.data
    reads = writes = disk_time = 0.0
    for demand in loads:
        read, written = demand.bytes * demand.read_share, demand.bytes * (1 - demand.read_share)
        reads, writes = reads + read, writes + written
        amplified = redundant if not demand.random_calls else float(WRITES.get(array.kind, 1))
        disk_time += read / (disk.read_rate * factor)
        disk_time += written * copies * amplified / (disk.write_rate * factor)
        disk_time += (
            demand.random_calls
            * access_time
            * (demand.read_share + (1 - demand.read_share) * copies * WRITES.get(array.kind, 1))
        )
    return Busy(disk_time, max(reads, writes * copies), reads + writes * copies * redundant)


def headroom(design: Design, loads: Sequence[Demand]) -> float:
    """Return an upper bound of the performance of a design, as a multiple of the demand.

    Args:
        design: The design.
        loads: Demand of each application, by `demands`.
    """
    work, nodes = busy(design, loads), design.nodes
    most = max(
        work.disk / (design.array.disks * design.arrays_per_node * nodes),
        work.wire / (nodes * design.network.bandwidth),
        work.bus / (nodes * (design.node.bus_rate or math.inf)),
    )
    return 1 / most if most > 0 else math.inf


def expected_events(design: Design, loads: Sequence[Demand]) -> float:
    """Return about how many events a simulated second has, if applications ask without
    pause."""
    requests = sum(max(demand.bytes / WHOLE_STRIPE, demand.random_calls) for demand in loads)
    events = EVENTS_EACH.get(design.file_system, OTHER_EVENTS)
    return events * requests * min(CAPABILITY, headroom(design, loads))
