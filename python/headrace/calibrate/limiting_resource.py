"""What bounds a workload: processor and memory, or the device, by where a simulation of it waits.

What a case is meant to show is not what it shows everywhere: direct writes go through the page
cache where data goes through the journal (Linux 6.18, fs/ext4/inode.c: ext4_dio_alignment), and
a device may be so fast that processes hardly wait for it.
"""

from collections.abc import Mapping
from typing import Any

from headrace.calibrate.case import Resource

DEVICE_AND_QUEUE = ("device", "I/O queue")
ON_DEVICE = (*DEVICE_AND_QUEUE, "journal")
"""Where calls of a simulation wait for the device: a commit is transfers and a flush."""


def limiting_resource(simulated: Mapping[str, Any]) -> Resource:
    """What takes most of the time in calls of a simulated machine's result."""
    found = waits(simulated, 1)
    on_device = sum(found.get(name, 0.0) for name in ON_DEVICE)
    return "device" if 2 * on_device > sum(found.values()) else "cache"


def waits(simulated: Mapping[str, Any], processes: int) -> dict[str, float]:
    """What a process of a simulated machine spends at each place, in seconds, by its name."""
    count = simulated["latency"].get("all", {}).get("count", 0)
    found: dict[str, float] = {}
    for entry in simulated["breakdown"]:
        _, _, name = entry["place"].rpartition("/")
        name = "I/O queue" if name == "O queue" else name  # It has a stroke of its own.
        found[name] = found.get(name, 0.0) + entry["seconds"] * count / processes
    return found
