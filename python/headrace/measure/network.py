"""Latency and throughput of messages between two hosts over TCP."""

import platform
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from headrace import _core
from headrace.environment import Environment, of_host
from headrace.environment import resumed as resumed_environment
from headrace.fields import convert, to_document
from headrace.interruption import STOP_EXCEPTIONS
from headrace.measure.report import PlanText, Stop
from headrace.measure.resume import (
    check_checksum,
    check_matches,
    other_options_error,
    with_checksum,
)
from headrace.quantities import binary_size

PORT = 7417
"""Default port; IANA has not assigned it."""
SIZES = tuple(1 << step for step in range(0, 25, 2))
"""1 B to 16 MiB, as NetPIPE begins with one byte and goes up."""


def new_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(12)


def answer(address: str, token: str, started: Callable[[str], object]) -> None:
    """Answer the messages of peers that know the token, until Ctrl-C.

    Raises OSError if the address cannot be used, ValueError if the token is too long.
    """
    _core.answer_messages(address, token, started)


KIND = "network"


class MessageLatency(msgspec.Struct, frozen=True):
    """Half of the round trips of messages of one size, in seconds."""

    least: float
    p50: float
    p99: float
    max: float


class MessageTimes(msgspec.Struct, frozen=True):
    """Messages of one size."""

    size: int
    """Bytes of a message."""
    seconds: float
    """Seconds for which they were sent."""
    count: int
    latency: MessageLatency
    throughput: float
    """Bytes a second."""


class Percentiles(msgspec.Struct, frozen=True):
    """Percentiles of the latency, in seconds."""

    p50: float
    p99: float


class NetworkReport(msgspec.Struct, frozen=True, kw_only=True):
    """The document of messages between two hosts."""

    kind: str = KIND
    scenario: PlanText
    version: str
    place: dict[str, str]
    environment: Environment
    peer: str
    """Address of the peer, HOST:PORT."""
    messages: list[MessageTimes]
    throughput: dict[str, float]
    latency: dict[str, Percentiles]
    stop: Stop


def ask(
    address: str,
    token: str,
    sizes: Sequence[int] = SIZES,
    *,
    seconds: float = 0.5,
    on_progress: Callable[[int, int, str], object] | None = None,
    resumed: Mapping[str, Any] | None = None,
    so_far: Callable[[dict[str, Any]], object] | None = None,
) -> dict[str, Any]:
    """Send messages of each size to a peer and back, each size for `seconds`.

    Return the document that `headrace bench net ask --json` prints. On Ctrl-C it has the sizes that
    are done, and `document["stop"]["reason"]` is `interrupted`. Latency is half of a round trip;
    throughput is the message's bytes divided by it. `on_progress` is called before each size with
    the sizes done, their total and the next one. Sizes of `resumed`, the document of an earlier
    run, are not measured again. `so_far` is called with the document after each size.

    Raises OSError if the peer cannot be reached or refuses the token. Raises ValueError for an
    invalid size, or if `resumed` is of other hosts, another version or another time.
    """
    here = {"host": platform.node(), "peer": address.rpartition(":")[0]}
    environment = resumed_environment(of_host(), resumed)
    known = _known(resumed, seconds, here)
    stop = "unfinished"
    try:
        for number, size in enumerate(sizes):
            if on_progress is not None:
                on_progress(number, len(sizes), binary_size(size))
            if size in known:
                continue
            known[size] = _measured(address, token, size, seconds)
            if so_far is not None:
                so_far(_document(address, here, environment, known, stop))
        stop = "done"
    except STOP_EXCEPTIONS:
        stop = "interrupted"
    return _document(address, here, environment, known, stop)


def _known(
    resumed: Mapping[str, Any] | None, seconds: float, here: Mapping[str, str]
) -> dict[int, MessageTimes]:
    """Return the messages of an earlier run, by size."""
    if resumed is None:
        return {}
    check_matches(resumed, {"kind": KIND}, here)
    check_checksum(resumed, "messages")
    messages = convert(resumed.get("messages", []), list[MessageTimes])
    if any(message.seconds != seconds for message in messages):
        raise other_options_error(resumed)
    return {message.size: message for message in messages}


def _measured(address: str, token: str, size: int, seconds: float) -> MessageTimes:
    [(_, count, least, half, most, longest)] = _core.ask_messages(address, token, [size], seconds)
    latency = MessageLatency(least / 2, half / 2, most / 2, longest / 2)
    return MessageTimes(size, seconds, count, latency, throughput=2 * size / half)


def _document(
    address: str,
    here: Mapping[str, str],
    environment: Environment,
    by_size: Mapping[int, MessageTimes],
    stop: str,
) -> dict[str, Any]:
    messages = [by_size[size] for size in sorted(by_size)]
    named = {f"message {binary_size(message.size)}": message for message in messages}
    report = NetworkReport(
        scenario=PlanText("bench net", f"messages to {address} and back"),
        version=_core.VERSION,
        place=dict(here),
        environment=environment,
        peer=address,
        messages=messages,
        throughput={name: value.throughput for name, value in named.items()},
        latency={name: Percentiles(it.latency.p50, it.latency.p99) for name, it in named.items()},
        stop=Stop(stop),
    )
    return with_checksum(to_document(report), "messages")
