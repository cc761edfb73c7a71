"""Rate of a rebuild beside the load of clients, simulated by the array model.

Each client keeps one random read of 1 MiB outstanding. The array rebuilds a disk at the same time,
by `device.rebuild` of the scenario. Chunks that are rebuilt in 20 simulated seconds give the rate.
"""

import functools

from headrace import simulate
from headrace.design.system import ArrayKind

LEVELS: dict[ArrayKind, int] = {"raid1": 1, "raid5": 5, "raid6": 6, "raid10": 10}
"""RAID levels that the array model has."""
CHUNK = 1 << 20
"""Bytes that are rebuilt at once (declared)."""
BUFFERS = 4
"""Chunks that are rebuilt at the same time (declared)."""
SECONDS = 20
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
kind = "simple"
read_rate = {rate}
write_rate = {rate}
time_per_request = {access_time}

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


@functools.lru_cache(maxsize=1024)
def rebuild_share(
    kind: ArrayKind, disks: int, rate: float, access_time: float, clients: int
) -> float:
    """Return the rate of a rebuild beside a load, as a part of the disk's own rate.

    Args:
        kind: RAID level of the array, a key of `LEVELS`.
        disks: Disks of the array.
        rate: Bytes a second that a disk moves.
        access_time: Seconds before each of its transfers.
        clients: Clients that read 1 MiB at random, one request after the other.

    Raises:
        ValueError: The array model has no such array.
    """
    if kind not in LEVELS:
        raise ValueError(f"{kind}: the array model rebuilds {', '.join(LEVELS)} only")
    scenario = simulate.load(
        _SCENARIO.format(
            clients=clients,
            level=LEVELS[kind],
            disks=disks,
            chunk=f'"{CHUNK} B"',
            buffers=BUFFERS,
            rate=f'"{rate:.0f} B/s"',
            access_time=f'"{1e9 * access_time:.0f} ns"',
            seconds=SECONDS,
        )
    )
    document = simulate.run(scenario, progress=False).json()
    chunks = sum(
        it["visits"] for it in document["stations"] if it["station"].endswith("array/rebuild")
    )
    return min(1.0, chunks * CHUNK / SECONDS / rate)
