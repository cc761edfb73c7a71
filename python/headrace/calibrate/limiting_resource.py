"""Classify a workload as CPU-bound or device-bound from its simulated waiting times.

A case's intended group is not reliable. Direct writes use the page cache if data is journaled
(Linux 6.18, fs/ext4/inode.c: ext4_dio_alignment). On a very fast device processes hardly wait for
it.
"""

from headrace.calibrate.case import Resource
from headrace.calibrate.run_report import RunReport

DEVICE_AND_QUEUE = ("device", "I/O queue")
ON_DEVICE = (*DEVICE_AND_QUEUE, "journal")
"""Places where a simulated call waits for the device. A journal commit consists of transfers and a
flush."""


def limiting_resource(simulated: RunReport) -> Resource:
    """Return the resource that takes more than half of the time in calls.

    Parameters
    ----------
    simulated
        Figures of a simulated machine.

    Returns
    -------
    Resource
        "device", or "cache" for processor and memory.
    """
    waiting = waits(simulated, 1)
    on_device = sum(waiting.get(name, 0.0) for name in ON_DEVICE)
    return "device" if 2 * on_device > sum(waiting.values()) else "cache"


def waits(simulated: RunReport, processes: int) -> dict[str, float]:
    """Return the time that one process spends at each place, in seconds by the place's name.

    Parameters
    ----------
    simulated
        Figures of a simulated machine.
    processes
        Number of processes over which the time is divided.
    """
    count = simulated.latency["all"].count if "all" in simulated.latency else 0
    values: dict[str, float] = {}
    for entry in simulated.breakdown:
        _, _, name = entry.place.rpartition("/")
        name = "I/O queue" if name == "O queue" else name  # It has a stroke of its own.
        values[name] = values.get(name, 0.0) + entry.seconds * count / processes
    return values
