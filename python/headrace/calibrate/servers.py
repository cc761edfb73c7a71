"""A network file system: the network to its servers, and what these take for a request."""

import socket
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

from headrace import _core
from headrace.calibrate.calibration import Calibration, Told
from headrace.calibrate.case import DIRECT
from headrace.calibrate.mount import served_mount_of
from headrace.calibrate.parameter import Parameter, Unit
from headrace.calibrate.probe import Probe, calls
from headrace.calibrate.small_file import word
from headrace.measure import measure_whole

SECONDS = 0.3
"""For each size, and at least ten messages (crates/load/src/network/ask.rs)."""
WARM_UP = 5
"""Messages before those that count (the same file)."""
BYTE, BLOCK = 1, 512
"""A block is a packet, and what direct calls can move at least."""
MIDDLE, LARGE = 256 << 10, 1 << 20
"""Two large sizes, since the first bytes of each may pass on tokens that a limit has saved up."""
SIZES = (BYTE, BLOCK, MIDDLE, LARGE)
FRAMING = 38
"""What `network.framing` is by default (IEEE 802.3)."""
IP_MTU = 14
"""Of getsockopt(2): include/uapi/linux/in.h."""

CALLS = {
    operation: Probe(
        f"direct {operation}s of {BLOCK} B",
        calls(1000, BLOCK, [operation], DIRECT),
        operation,
        "p50",
    )
    for operation in ("read", "write")
}

METHODS: dict[str, tuple[Unit, str]] = {
    "network.latency": ("s", "half of a byte's round trip, less processors and wire"),
    "network.bandwidth": ("B/s", "round trips of 256 KiB and 1 MiB; headers and framing added"),
    "hosts.cpu.send": ("s", "half of the processor time for a byte there and back"),
    "hosts.cpu.receive": ("s", "half of the processor time for a byte there and back"),
    "hosts.cpu.send_rate": ("B/s", "processor time of 1 MiB there and back, beyond that of a byte"),
    "hosts.cpu.receive_rate": (
        "B/s",
        "processor time of 1 MiB there and back, beyond that of a byte",
    ),
    "hosts.cpu.serve_read": (
        "s",
        f"direct reads of {BLOCK} B, less a round trip with as much one way",
    ),
    "hosts.cpu.serve_write": (
        "s",
        f"direct writes of {BLOCK} B, less a round trip with as much one way",
    ),
}


@dataclass(frozen=True)
class Messages:
    """Messages of one size to a server and back: seconds for each."""

    elapsed: float
    """The median."""
    processor: float
    """On this host's processor, which sends the message and receives it."""


def calibrate_servers(
    directory: str | PathLike[str],
    addresses: Sequence[str],
    token: str,
    *,
    rounds: int = 5,
    told: Told | None = None,
) -> Calibration:
    """The network between this host and servers, where `headrace bench net answer` listens, and
    what a server takes for a request to a file in a directory, which has no copies and is in the
    server's memory. All of it once, then all of it again; of several servers the median.

    Raises ScenarioError if the directory's file system is none on servers that a simulation
    knows; OSError or ValueError as `headrace.measure.network.ask` does.
    """
    mount = served_mount_of(directory)
    started = datetime.now(UTC)
    header, mtu = _header(), _mtu(addresses[0])
    steps = [*addresses, *(probe.name for probe in CALLS.values())]
    found: list[dict[str, float]] = []
    for number in range(rounds):
        messages: list[dict[int, Messages]] = []
        seconds: dict[str, float] = {}
        for place, step in enumerate(steps):
            if told is not None:
                told(number * len(steps) + place, rounds * len(steps), step)
            if place < len(addresses):
                messages.append({size: _messages(step, token, size) for size in SIZES})
            else:
                operation = list(CALLS)[place - len(addresses)]
                seconds[operation] = _seconds(CALLS[operation], directory)
        of_servers = [solved(it, seconds, mtu, header) for it in messages]
        found.append({name: statistics.median(it[name] for it in of_servers) for name in METHODS})
    parameters = [
        Parameter("network.mtu", (mtu,), "B", "getsockopt(2), IP_MTU"),
        Parameter("network.header", (header,), "B", "IPv4 and TCP; net.ipv4.tcp_timestamps"),
        *(
            Parameter(name, tuple(it[name] for it in found), unit, method)
            for name, (unit, method) in METHODS.items()
        ),
    ]
    return Calibration(str(Path(directory).resolve()), mount, tuple(parameters), (), started)


def solved(
    messages: dict[int, Messages], seconds: dict[str, float], mtu: int, header: int
) -> dict[str, float]:
    """Parameters by their fields, in SI units: from messages of all sizes, and the seconds that
    calls which read and write take."""
    byte, block, middle, large = (messages[size] for size in SIZES)
    payload = 2 * (LARGE - MIDDLE) / (large.elapsed - middle.elapsed)
    one_way = max(block.elapsed - byte.elapsed, 0.0) / 2
    wire = one_way * (BYTE + header + FRAMING) / (BLOCK - BYTE)
    trip = byte.elapsed + one_way
    # Never nothing, which would be an infinite rate.
    each_byte = max(large.processor - byte.processor, 1e-12 * LARGE) / (2 * LARGE)
    return {
        "network.latency": max(byte.elapsed / 2 - byte.processor - wire, 0.0),
        "network.bandwidth": payload * (mtu + FRAMING) / (mtu - header),
        "hosts.cpu.send": byte.processor / 2,
        "hosts.cpu.receive": byte.processor / 2,
        "hosts.cpu.send_rate": 1 / each_byte,
        "hosts.cpu.receive_rate": 1 / each_byte,
        "hosts.cpu.serve_read": max(seconds["read"] - trip, 0.0),
        "hosts.cpu.serve_write": max(seconds["write"] - trip, 0.0),
    }


def _messages(address: str, token: str, size: int) -> Messages:
    before = time.process_time()
    [(_, count, _, median, _, _)] = _core.ask_messages(address, token, [size], SECONDS)
    return Messages(median, (time.process_time() - before) / (count + WARM_UP))


def _seconds(probe: Probe, directory: str | PathLike[str]) -> float:
    return probe.seconds(measure_whole(probe.text, directory).document)


def _header() -> int:
    """IPv4 (RFC 791) and TCP (RFC 9293) have 20 B each, timestamps 12 B (RFC 7323)."""
    return 40 + (12 if word(Path("/proc/sys/net/ipv4/tcp_timestamps")) != "0" else 0)


def _mtu(address: str) -> int:
    """Of the way to a host: bytes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise ValueError(f"--server {address}: expected HOST:PORT, as server-0:7417")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.connect((host, int(port)))
        return asked.getsockopt(socket.IPPROTO_IP, IP_MTU)
