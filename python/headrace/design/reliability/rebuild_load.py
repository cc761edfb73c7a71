"""Rate of a rebuild beside the load of clients, simulated by the array model.

Each client keeps one random read of 1 MiB outstanding. The array rebuilds a disk at the same time,
by `device.rebuild` of the scenario. Chunks that are rebuilt in 20 simulated seconds give the rate.
"""

import functools
from collections.abc import Iterable

from headrace import simulate
from headrace.design.system import ArrayKind

NEARLINE_ACCESS = 0.0125
"""Seconds of an average seek of 8.3 ms and half a turn at 7200 a minute (declared: data sheets of
nearline disks)."""
NEARLINE_RPM = 7200.0
LEVELS: dict[ArrayKind, int] = {"raid1": 1, "raid5": 5, "raid6": 6, "raid10": 10}
"""RAID levels that the array model has."""
CHUNK = 1 << 20
"""Bytes that are rebuilt at once (declared)."""
BUFFERS = 4
"""Chunks that are rebuilt at the same time (declared)."""
SECONDS = 20
CAPACITY = 2e12
"""Bytes of a simulated disk: seeks go over all of it."""
_SCENARIO = """
name = "rebuild beside a load"
system = "pvfs2"

[clients]
count = {clients}

[servers]
count = 1

[servers.device]
kind = "raid"
level = {level}
disks = {disks}
chunk = "512 KiB"
failed = [0]

[servers.device.rebuild]
disk = 0
chunk = {chunk}
chunks = {buffers}

[servers.device.member]
{member}

# Wide enough to be no limit.
[network]
bandwidth = "100 Gbit/s"
latency = "0.05 ms"

[layout]
unit = "1 MiB"

[run]
stop = {{ time = "{seconds} s" }}

[[workload]]
kind = "ior"
files = 1
transfer = "1 MiB"
block = "100 GiB"
order = "random"
phases = ["read"]
"""


_DISK = """kind = "disk"
capacity = "{capacity:.0f} B"
rpm = {rpm}
track_to_track_seek = "{track:.0f} ns"
average_seek = "{seek:.0f} ns"
full_stroke_seek = "{stroke:.0f} ns"
outer_rate = "{rate:.0f} B/s"
interface_rate = "600 MB/s"
buffer = "64 MiB"
queue_depth = 32"""
_SOLID_STATE = """kind = "simple"
read_rate = "{rate:.0f} B/s"
write_rate = "{rate:.0f} B/s"
time_per_request = "{access_time:.0f} ns\""""


@functools.lru_cache(maxsize=1024)
def rebuild_share(
    kind: ArrayKind, disks: int, rate: float, access_time: float, rpm: float, clients: int
) -> float:
    """Return the rate of a rebuild beside a load, as a part of the disk's own rate.

    Args:
        kind: RAID level of the array, a key of `LEVELS`.
        disks: Disks of the array.
        rate: Bytes a second that a disk moves.
        access_time: Seconds of an average seek and half a turn; of a solid-state drive the latency.
        rpm: Turns a minute; 0: a solid-state drive.
        clients: Clients that read 1 MiB at random, one request after the other.

    Raises:
        ValueError: The array model has no such array.
    """
    if kind not in LEVELS:
        raise ValueError(f"{kind}: the array model rebuilds {', '.join(LEVELS)} only")
    if rpm:
        # Ratios of seeks as in data sheets of nearline disks (declared).
        seek = max(access_time - 30 / rpm, 1e-3)
        member = _DISK.format(
            capacity=CAPACITY,
            rpm=int(rpm),
            track=1e9 * seek / 8,
            seek=1e9 * seek,
            stroke=2e9 * seek,
            rate=rate,
        )
    else:
        member = _SOLID_STATE.format(rate=rate, access_time=1e9 * access_time)
    scenario = simulate.load(
        _SCENARIO.format(
            clients=clients,
            level=LEVELS[kind],
            disks=disks,
            chunk=f'"{CHUNK} B"',
            buffers=BUFFERS,
            member=member,
            seconds=SECONDS,
        )
    )
    document = simulate.run(scenario, server_series=False).json()
    visits: Iterable[float] = (
        node["visits"] for node in document["stations"] if node["station"].endswith("array/rebuild")
    )
    return min(1.0, sum(visits) * CHUNK / SECONDS / rate)
