"""Figures that the rules of monitors name."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from headrace.profile.counters.source import ratio

Values = Mapping[str, float]
"""Figures of a sample by name."""

MONITORS: Mapping[str, str | None] = {
    "processor": None,
    "memory": None,
    "disk": "disk.",
    "network": "net.",
    "tcp": None,
    "nfs": "nfs.",
}
"""Monitors, and how the names of the figures of their devices begin; None for the host itself."""


class MonitorFigure(NamedTuple):
    """A figure of a device, or of the host."""

    unit: str
    text: str
    value: Callable[[Values, str], float | None]
    """Gets the figures of a sample, and how the names of the device's begin."""


def _of(name: str) -> Callable[[Values, str], float | None]:
    return lambda values, device: values.get(device + name)


def _busy(values: Values, device: str) -> float | None:
    idle = values.get("cpu.idle")
    return None if idle is None else max(1.0 - idle - values.get("cpu.iowait", 0.0), 0.0)


def _share_of_memory(name: str) -> Callable[[Values, str], float | None]:
    return lambda values, device: ratio(values.get(name), values.get("memory.total_bytes"))


def _swap(values: Values, device: str) -> float | None:
    found = [values.get(f"paging.swap_{it}_bytes_per_s") for it in ("in", "out")]
    return None if None in found else sum(it for it in found if it is not None)


def _collision_share(values: Values, device: str) -> float | None:
    return ratio(values.get(f"{device}collisions_per_s"), values.get(f"{device}send_packets_per_s"))


def _retransmit_share(values: Values, device: str) -> float | None:
    sent = sum(
        value
        for name, value in values.items()
        if name.startswith("net.") and name.endswith(".send_packets_per_s")
    )
    return ratio(values.get("tcp.retransmits_per_s"), sent)


FIGURES: Mapping[str, MonitorFigure] = {
    "processor.busy": MonitorFigure(
        "share", "time of all processors that is neither idle nor waits for I/O", _busy
    ),
    "processor.iowait": MonitorFigure(
        "share", "idle time of all processors while I/O is outstanding", _of("cpu.iowait")
    ),
    "processor.pressure": MonitorFigure(
        "share", "time in which a task waits for a processor (PSI)", _of("pressure.cpu")
    ),
    "processor.running": MonitorFigure("tasks", "tasks that run or wait", _of("load.running")),
    "memory.available": MonitorFigure(
        "share", "memory for new programs", _share_of_memory("memory.available_bytes")
    ),
    "memory.pressure": MonitorFigure(
        "share", "time in which a task waits for memory (PSI)", _of("pressure.memory")
    ),
    "memory.swap": MonitorFigure("bytes/s", "bytes swapped in and out", _swap),
    "memory.refaults": MonitorFigure(
        "bytes/s",
        "bytes read again after their eviction from the page cache",
        _of("paging.refault_bytes_per_s"),
    ),
    "disk.utilisation": MonitorFigure(
        "share", "time in which the disk has a request", _of("utilisation")
    ),
    "disk.service_time": MonitorFigure(
        "s", "mean time of a request from issue to completion", _of("service_s")
    ),
    "disk.queue": MonitorFigure("requests", "mean number of requests at the disk", _of("queue")),
    "network.errors": MonitorFigure(
        "packets/s", "packets received or sent with errors", _of("errors_per_s")
    ),
    "network.drops": MonitorFigure("packets/s", "packets dropped", _of("drops_per_s")),
    "network.collisions": MonitorFigure("1/s", "collisions", _of("collisions_per_s")),
    "network.collision_share": MonitorFigure(
        "share", "collisions for each packet sent", _collision_share
    ),
    "tcp.retransmits": MonitorFigure(
        "segments/s", "TCP segments sent again", _of("tcp.retransmits_per_s")
    ),
    "tcp.retransmit_share": MonitorFigure(
        "share", "TCP segments sent again for each packet sent", _retransmit_share
    ),
    "nfs.round_trip": MonitorFigure(
        "s", "mean time from request to reply on the network", _of("rtt_s")
    ),
    "nfs.queue": MonitorFigure("s", "mean time before a request is sent", _of("queue_s")),
    "nfs.retransmits": MonitorFigure("requests/s", "requests sent again", _of("retransmits_per_s")),
}
"""Figures by name: that of their monitor, a dot and their own."""


def devices(values: Values, monitor: str) -> list[str]:
    """Return the devices of a monitor in a sample; the host itself is ""."""
    prefix = MONITORS[monitor]
    if prefix is None:
        return [""]
    found = (it.removeprefix(prefix).rpartition(".")[0] for it in values if it.startswith(prefix))
    return list(dict.fromkeys(it for it in found if it))


def value_of(values: Values, device: str) -> Callable[[str], float | None]:
    """Return the function that returns a figure of a device in a sample, None if unknown."""
    return lambda name: FIGURES[name].value(values, device)
