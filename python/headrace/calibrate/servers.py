"""A network file system: the network to its servers, and what these take for a request."""

import re
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

from headrace import _core
from headrace._core import RunError
from headrace.calibrate.case import DIRECT
from headrace.calibrate.measured import Calibration, Told
from headrace.calibrate.middle import middle
from headrace.calibrate.mount import served_mount_of
from headrace.calibrate.parameter import Parameter, Unit
from headrace.calibrate.probe import Probe, calls
from headrace.calibrate.small_file import word
from headrace.calibrate.warned import Warned
from headrace.environment import of_directory
from headrace.measure import measure_whole

SECONDS = 0.3
"""For each size, and at least ten messages (crates/load/src/network/sender.rs)."""
WARM_UP = 5
"""Messages before those that count (the same file)."""
BYTE, BLOCK = 1, 512
"""A block is a packet, and what direct calls can move at least."""
MIDDLE, LARGE = 256 << 10, 1 << 20
"""Two large sizes, since the first bytes of each may pass on tokens that a limit has saved up."""
SIZES = (BYTE, BLOCK, MIDDLE, LARGE)
FRAMING = 38
"""What `network.framing` is by default (IEEE 802.3)."""
IP_MTU, IPV6_MTU = 14, 24
"""Of getsockopt(2): include/uapi/linux/in.h and in6.h."""

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
    server's memory. All of it once, then all of it again; of several servers the middle.

    Raises ScenarioError if the directory's file system is none on servers that a simulation
    knows; ValueError, which names the server, if one cannot be asked; RunError if no round tells a
    parameter.
    """
    hosts = [host_and_port(it) for it in addresses]
    mount = served_mount_of(directory)
    started = datetime.now(UTC)
    environment = of_directory(directory, started)
    mtu, header = _way_to(addresses[0], *hosts[0])
    steps = [*addresses, *(probe.name for probe in CALLS.values())]
    found: list[dict[str, float]] = []
    warned = Warned()
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
                seconds[operation] = _seconds(CALLS[operation], directory, warned)
        found.append(of_round([solved(it, seconds, mtu, header) for it in messages]))
    parameters = (
        Parameter("network.mtu", (mtu,), "B", "getsockopt(2), IP_MTU"),
        Parameter("network.header", (header,), "B", "IP and TCP; net.ipv4.tcp_timestamps"),
        *of_rounds(found),
    )
    where = str(Path(directory).resolve())
    return Calibration(
        where, mount.kind, parameters, (), started, warned.all(), environment=environment
    )


def of_round(servers: Sequence[dict[str, float]]) -> dict[str, float]:
    """The middle of those servers that tell a parameter."""
    return {
        name: middle(told)
        for name in METHODS
        if (told := [it[name] for it in servers if name in it])
    }


def of_rounds(found: Sequence[dict[str, float]]) -> list[Parameter]:
    """A round that does not tell a parameter counts as the middle of those that do. Raises
    RunError if none does."""
    parameters = []
    for name, (unit, method) in METHODS.items():
        told = [it[name] for it in found if name in it]
        if not told:
            raise RunError(
                f"{name} cannot be told from {method}: in each of {len(found)} rounds the large"
                " ones took no longer than the small ones, which something else kept waiting;"
                " repeat this when the network is less busy, or with more rounds"
            )
        if len(told) < len(found):
            method += f"; {len(told)} of {len(found)} rounds tell it"
        others = middle(told)
        values = tuple(it.get(name, others) for it in found)
        parameters.append(Parameter(name, values, unit, method))
    return parameters


def solved(
    messages: dict[int, Messages], seconds: dict[str, float], mtu: int, header: int
) -> dict[str, float]:
    """Parameters by their fields, in SI units: from messages of all sizes, and the seconds that
    calls which read and write take. Without the network's bandwidth where large messages took no
    longer than small ones."""
    byte, block, middle, large = (messages[size] for size in SIZES)
    beyond = large.elapsed - middle.elapsed
    bandwidth = {}
    if beyond > 0:
        payload = 2 * (LARGE - MIDDLE) / beyond
        bandwidth["network.bandwidth"] = payload * (mtu + FRAMING) / (mtu - header)
    one_way = max(block.elapsed - byte.elapsed, 0.0) / 2
    wire = one_way * (BYTE + header + FRAMING) / (BLOCK - BYTE)
    trip = byte.elapsed + one_way
    # Never nothing, which would be an infinite rate.
    each_byte = max(large.processor - byte.processor, 1e-12 * LARGE) / (2 * LARGE)
    return {
        "network.latency": max(byte.elapsed / 2 - byte.processor - wire, 0.0),
        **bandwidth,
        "hosts.cpu.send": byte.processor / 2,
        "hosts.cpu.receive": byte.processor / 2,
        "hosts.cpu.send_rate": 1 / each_byte,
        "hosts.cpu.receive_rate": 1 / each_byte,
        "hosts.cpu.serve_read": max(seconds["read"] - trip, 0.0),
        "hosts.cpu.serve_write": max(seconds["write"] - trip, 0.0),
    }


def _messages(address: str, token: str, size: int) -> Messages:
    before = time.process_time()
    try:
        [(_, count, _, median, _, _)] = _core.ask_messages(address, token, [size], SECONDS)
    except OSError as error:
        # Of several servers, the one that is wrong.
        raise ValueError(f"--server {address}: {error}") from None
    return Messages(median, (time.process_time() - before) / (count + WARM_UP))


def _seconds(probe: Probe, directory: str | PathLike[str], warned: Warned) -> float:
    document = measure_whole(probe.text, directory).document
    warned.add(document)
    return probe.seconds(document)


def host_and_port(address: str) -> tuple[str, int]:
    """What an address names; IPv6 has brackets. Raises ValueError if it is none."""
    found = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+(?:%\w+)?)\]|([^\s:\[\]]+)):(\d{1,5})", address)
    if found is None or not 1 <= int(found[3]) <= MOST_PORT:
        raise ValueError(
            f"--server {address}: expected HOST:PORT with a port of 1 to {MOST_PORT}, as"
            " server-0:7417 or [fe80::1]:7417"
        )
    return found[1] or found[2], int(found[3])


MOST_PORT = 65535


def _way_to(address: str, host: str, port: int) -> tuple[int, int]:
    """The largest packet to a host, and its headers: bytes.

    IPv4 (RFC 791) has 20 B, IPv6 (RFC 8200) 40, TCP (RFC 9293) 20, its timestamps 12 (RFC 7323).
    """
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as asked:
            asked.connect(where)
            six = family == socket.AF_INET6
            level, option = (socket.IPPROTO_IPV6, IPV6_MTU) if six else (socket.IPPROTO_IP, IP_MTU)
            mtu = asked.getsockopt(level, option)
    except OSError as error:
        raise ValueError(f"--server {address}: {error.strerror or error}") from None
    stamps = 0 if word(Path("/proc/sys/net/ipv4/tcp_timestamps")) == "0" else 12
    return mtu, (40 if six else 20) + 20 + stamps
