"""An upper bound of the performance of a design, as a multiple of the applications' demand.

Every resource is busy for the least time that the demand can take. Each byte passes its disks, its
array's redundant disks and memory, the bus and both cards once. Each call at a random place takes
one access. Not considered: queues, seeks between streams, metadata. The simulation tells what
remains of the bound; a search uses it to order designs.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from headrace._core import parse_bytes
from headrace.design.performance.access import access
from headrace.design.performance.pacing import CAPABILITY, wanted_calls
from headrace.design.performance.recorded import (
    Recorded,
    Table,
    call_size,
    complete,
    file_size,
    preset,
    recorded,
    training_need,
)
from headrace.design.performance.system import CACHE_RATE, MEAN_RATE, ROTATION, TRANSFER_TIME
from headrace.design.performance.workloads import client_groups
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
    client: float = 0.0
    """Bytes a second of each client in the busier direction."""
    synchronous: bool = False
    """Whether an application waits for stable storage, so that arrays have no memory."""


def demands(worksheet: Worksheet, directory: Path = Path()) -> tuple[Demand, ...]:
    """Return the demand of each application.

    Raises:
        ValueError: An application's profile is none.
        OSError: It cannot be read.
    """
    ratios = []
    synchronous = any(application.synchronous for application in worksheet.applications)
    for application in worksheet.applications:
        hosts = sum(group.count for group in client_groups(application, worksheet)) or 1
        if application.profile is None and application.preset is None:
            does = access(application, worksheet)
            transfer: int | None = does.transfer
            share = does.read_share
            random = does.pattern == "random" or does.file_size < WHOLE_STRIPE
        else:
            source = (
                recorded(directory / application.profile)
                if application.profile is not None
                else Recorded((preset(application.preset or ""),), None)
            )
            table = complete(source.workloads[0])
            need = training_need(application, table, hosts, source.processes)
            if need is not None:
                moved = need.rate * (1.0 if application.au is None else application.au)
                each = parse_bytes(table["sample"]) * int(table["samples_per_file"])
                opened = moved / each if each < WHOLE_STRIPE else 0.0
                ratios.append(Demand(moved, opened, 1.0, moved / hosts, synchronous))
                continue
            transfer, share, random = _workload(table)
            if transfer is not None and application.transfer is not None:
                transfer = round(application.transfer)
        calls = wanted_calls(application, transfer)
        moved = application.throughput or (calls or 0.0) * (transfer or 0)
        if calls is None and not moved:
            moved = UNKNOWN_DEMAND
        if calls is None:
            calls = moved / (transfer or WHOLE_STRIPE)
        # Calls without data are for metadata, which is not considered.
        busier = moved * max(share, 1 - share) / hosts
        random_calls = calls if random and transfer else 0.0
        ratios.append(Demand(moved, random_calls, share, busier, synchronous))
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
    memory: float = 0.0
    """Seconds of the memories of arrays."""
    client: float = 0.0
    """Bytes through the card of a client in the busier direction."""


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
    has_memory = array.kind != "single" and not any(demand.synchronous for demand in loads)
    return Busy(
        disk_time,
        max(reads, writes * copies),
        reads + writes * copies * redundant,
        (reads + writes * copies) / CACHE_RATE if has_memory else 0.0,
        max((demand.client for demand in loads), default=0.0),
    )


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
        work.memory / (design.arrays_per_node * nodes),
        work.client / design.network.bandwidth,
    )
    return 1 / most if most > 0 else math.inf


def expected_events(design: Design, loads: Sequence[Demand]) -> float:
    """Return about how many events a simulated second has, if applications ask without
    pause."""
    requests = sum(max(demand.bytes / WHOLE_STRIPE, demand.random_calls) for demand in loads)
    events = EVENTS_EACH.get(design.file_system, OTHER_EVENTS)
    return events * requests * min(CAPABILITY, headroom(design, loads))
