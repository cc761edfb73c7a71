"""Calibrate the network to servers, and the time a server takes for a request."""

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
from headrace.calibrate.hodges_lehmann import hodges_lehmann
from headrace.calibrate.measurements import Calibration, ProgressCallback
from headrace.calibrate.mount import served_mount_of
from headrace.calibrate.parameter import Parameter
from headrace.calibrate.probe import Probe, calls
from headrace.calibrate.records import Unit
from headrace.calibrate.run_report import RunReport
from headrace.calibrate.sysfs import read_sysfs
from headrace.calibrate.warning_collector import WarningCollector
from headrace.environment import of_directory
from headrace.measure import measure_strict

SECONDS = 0.3
"""Duration of the measurement for each size, and at least ten messages
(crates/load/src/network/sender.rs)."""
WARM_UP = 5
"""Messages that are sent before the measurement (crates/load/src/network/sender.rs)."""
BYTE, BLOCK = 1, 512
"""A block fits in one packet, and is the smallest direct call."""
MIDDLE, LARGE = 256 << 10, 1 << 20
"""Two large sizes. The first bytes of each may use saved tokens of a rate limit; the difference
does not."""
SIZES = (BYTE, BLOCK, MIDDLE, LARGE)
FRAMING = 38
"""Default of `network.framing` (IEEE 802.3), in bytes."""
IP_MTU, IPV6_MTU = 14, 24
"""Options of getsockopt(2): include/uapi/linux/in.h and in6.h."""

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
    "network.latency": ("s", "half of a byte's round trip, minus processor and wire time"),
    "network.bandwidth": ("B/s", "round trips of 256 KiB and 1 MiB; headers and framing added"),
    "hosts.cpu.send": ("s", "half of the processor time of a one-byte round trip"),
    "hosts.cpu.receive": ("s", "half of the processor time of a one-byte round trip"),
    "hosts.cpu.send_rate": ("B/s", "processor time of a 1 MiB round trip minus that of one byte"),
    "hosts.cpu.receive_rate": (
        "B/s",
        "processor time of a 1 MiB round trip minus that of one byte",
    ),
    "hosts.cpu.serve_read": (
        "s",
        f"direct reads of {BLOCK} B, minus a round trip with as much data one way",
    ),
    "hosts.cpu.serve_write": (
        "s",
        f"direct writes of {BLOCK} B, minus a round trip with as much data one way",
    ),
}


@dataclass(frozen=True)
class Messages:
    """Times of messages of one size to a server and back, in seconds."""

    elapsed: float
    """The median."""
    processor: float
    """Processor time on this host, which sends and receives the message."""


def calibrate_servers(
    directory: str | PathLike[str],
    addresses: Sequence[str],
    token: str,
    *,
    rounds: int = 5,
    on_progress: ProgressCallback | None = None,
) -> Calibration:
    """Measure the network to servers and the time that a server takes for a request.

    `headrace bench net answer` must listen on each server. The directory's files must be in the
    server's memory and have no copies. For several servers the Hodges-Lehmann
    estimate counts.

    Parameters
    ----------
    directory
        Directory on the network file system.
    addresses
        HOST:PORT of each server.
    token
        Shared secret.
    rounds
        Number of rounds.
    on_progress
        Called before each measurement.

    Raises
    ------
    ScenarioError
        If simulations do not support the directory's file system.
    ValueError
        If a server cannot be reached. The message names it.
    RunError
        If no round yields a parameter.
    """
    hosts = [host_and_port(address) for address in addresses]
    mount = served_mount_of(directory)
    started = datetime.now(UTC)
    environment = of_directory(directory, started)
    mtu, header = _path_mtu(addresses[0], *hosts[0])
    steps = [*addresses, *(probe.name for probe in CALLS.values())]
    values: list[dict[str, float]] = []
    collector = WarningCollector()
    for number in range(rounds):
        messages: list[dict[int, Messages]] = []
        seconds: dict[str, float] = {}
        for place, step in enumerate(steps):
            if on_progress is not None:
                on_progress(number * len(steps) + place, rounds * len(steps), step)
            if place < len(addresses):
                messages.append({size: _messages(step, token, size) for size in SIZES})
            else:
                operation = list(CALLS)[place - len(addresses)]
                seconds[operation] = _seconds(CALLS[operation], directory, collector)
        values.append(
            combine_servers([network_parameters(one, seconds, mtu, header) for one in messages])
        )
    parameters = (
        Parameter("network.mtu", (mtu,), "B", "getsockopt(2), IP_MTU"),
        Parameter("network.header", (header,), "B", "IP and TCP; net.ipv4.tcp_timestamps"),
        *combine_rounds(values),
    )
    where = str(Path(directory).resolve())
    return Calibration(
        where, mount.kind, parameters, (), started, collector.all(), environment=environment
    )


def combine_servers(servers: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the Hodges-Lehmann estimate of each parameter over the servers that yield it."""
    return {
        name: hodges_lehmann(estimates)
        for name in METHODS
        if (estimates := [server[name] for server in servers if name in server])
    }


def combine_rounds(rounds: Sequence[dict[str, float]]) -> list[Parameter]:
    """Return the parameters over all rounds. A round that does not yield one takes the estimate of
    the others.

    Raises
    ------
    RunError
        If no round yields a parameter.
    """
    parameters = []
    for name, (unit, method) in METHODS.items():
        estimates = [row[name] for row in rounds if name in row]
        if not estimates:
            raise RunError(
                f"{name} cannot be estimated from {method}: in all {len(rounds)} rounds large"
                " messages took no longer than small ones, because other traffic delayed them:"
                " repeat when the network is less busy, or raise --repetitions"
            )
        if len(estimates) < len(rounds):
            method += f"; from {len(estimates)} of {len(rounds)} rounds"
        others = hodges_lehmann(estimates)
        values = tuple(row.get(name, others) for row in rounds)
        parameters.append(Parameter(name, values, unit, method))
    return parameters


def network_parameters(
    messages: dict[int, Messages], seconds: dict[str, float], mtu: int, header: int
) -> dict[str, float]:
    """Estimate the parameters of one server, in SI units by field.

    The bandwidth is missing if large messages took no longer than small ones.

    Parameters
    ----------
    messages
        Times by message size.
    seconds
        Seconds of a direct read and write.
    mtu
        Largest packet, in bytes.
    header
        IP and TCP headers of a packet, in bytes.
    """
    byte, block, middle, large = (messages[size] for size in SIZES)
    beyond = large.elapsed - middle.elapsed
    bandwidth = {}
    if beyond > 0:
        payload = 2 * (LARGE - MIDDLE) / beyond
        bandwidth["network.bandwidth"] = payload * (mtu + FRAMING) / (mtu - header)
    one_way = max(block.elapsed - byte.elapsed, 0.0) / 2
    wire = one_way * (BYTE + header + FRAMING) / (BLOCK - BYTE)
    trip = byte.elapsed + one_way
    # A cost of 0 would be an infinite rate.
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
        # Name the server that failed.
        raise ValueError(f"--server {address}: {error}") from None
    return Messages(median, (time.process_time() - before) / (count + WARM_UP))


def _seconds(probe: Probe, directory: str | PathLike[str], collector: WarningCollector) -> float:
    report = measure_strict(probe.text, directory).report
    collector.add(report.warnings)
    return probe.seconds(RunReport.measured(report))


def host_and_port(address: str) -> tuple[str, int]:
    """Split HOST:PORT; an IPv6 address is in brackets.

    Raises
    ------
    ValueError
        If the text has another form.
    """
    match = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+(?:%\w+)?)\]|([^\s:\[\]]+)):(\d{1,5})", address)
    if match is None or not 1 <= int(match[3]) <= MOST_PORT:
        raise ValueError(
            f"--server {address}: expected HOST:PORT with a port from 1 to {MOST_PORT},"
            " such as server-0:7417 or [fe80::1]:7417"
        )
    return match[1] or match[2], int(match[3])


MOST_PORT = 65535


def _path_mtu(address: str, host: str, port: int) -> tuple[int, int]:
    """Return the MTU of the path to a host, and the headers of a packet, in bytes.

    IPv4 (RFC 791) has 20 B, IPv6 (RFC 8200) 40, TCP (RFC 9293) 20, its timestamps 12 (RFC 7323).
    """
    try:
        family, kind, protocol, _, where = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as probe_socket:
            probe_socket.connect(where)
            six = family == socket.AF_INET6
            level, option = (socket.IPPROTO_IPV6, IPV6_MTU) if six else (socket.IPPROTO_IP, IP_MTU)
            mtu = probe_socket.getsockopt(level, option)
    except OSError as error:
        raise ValueError(f"--server {address}: {error.strerror or error}") from None
    stamps = 0 if read_sysfs(Path("/proc/sys/net/ipv4/tcp_timestamps")) == "0" else 12
    return mtu, (40 if six else 20) + 20 + stamps
