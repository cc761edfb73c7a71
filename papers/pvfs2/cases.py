"""The measured cases as scenarios."""

from typing import Any

SERVERS = 4

SCENARIO = """\
name = "pvfs2"
system = "pvfs2"

[clients]
count = {clients}

[clients.card]
burst = "64 KiB"

[servers]
count = 4

[servers.card]
burst = "64 KiB"

[servers.daemon]
# TroveMaxConcurrentIO, as pvfs2-genconfig leaves it
threads = 16

[servers.machine]
system = "ext3"

[servers.machine.cpu]
cores = 2

[servers.machine.memory]
# Servers' memory is not limited: a part of the machine's that holds all files.
size = "6 GiB"

[servers.machine.write_back]
# No writer is throttled, as "absorbed by the page cache" says.
background_bytes = "2 GiB"
bytes = "4 GiB"

[servers.machine.read_ahead]
# A loop device of Linux 6.18 has this by default (papers/linux-local).
window = "2560 KiB"

[servers.machine.device]
kind = "throttled"
rate = "2 GB/s"
read_rate = "40 MB/s"
write_rate = "40 MB/s"
largest_request = "1280 KiB"

[metadata.card]
burst = "64 KiB"

[network]
# veth and bridge have no rate of their own: the cards' buckets are the limit.
bandwidth = "100 Gbit/s"
latency = "0 s"
header = "52 B"
framing = "14 B"

[messages]
kind = "rendezvous"

[hosts.cpu]
shared_by = "all"
cores = 2

[[workload]]
block = "48 MiB"
transfer = "{block} B"
phases = {phases}
"""


def text(case: dict[str, Any]) -> str:
    """Return the scenario of a measured case."""
    phases = {"write": '["write"]', "cold": '["read"]', "warm": '["write", "read"]'}
    return SCENARIO.format(clients=case["clients"], block=case["block"], phases=phases[case["op"]])


def seconds(case: dict[str, Any], result: dict[str, Any]) -> float:
    """Return the time of the slowest client, in seconds."""
    direction = "write" if case["op"] == "write" else "read"
    total = case["clients"] * (48 << 20)
    return float(total / result["throughput"][direction])
