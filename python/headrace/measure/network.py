"""What a network gives between two hosts: messages there and back, over TCP."""

import ipaddress
import secrets
from collections.abc import Callable, Sequence
from typing import Any

from headrace import _core
from headrace.report.units import binary_size

PORT = 7417
"""Where a host answers, if nothing else is said: none that IANA has given away."""
SIZES = tuple(1 << step for step in range(0, 25, 2))
"""1 B to 16 MiB, as NetPIPE begins with one byte and goes up."""


def new_token() -> str:
    """A token that nobody guesses."""
    return secrets.token_urlsafe(12)


def is_loopback(host: str) -> bool:
    """Whether only programs on this host can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def answer(address: str, token: str, started: Callable[[str], object]) -> None:
    """Sends back every message of whoever knows the token, until Ctrl-C.

    Raises OSError if nobody can listen there, ValueError if the token is too long.
    """
    _core.answer_messages(address, token, started)


def ask(
    address: str,
    token: str,
    sizes: Sequence[int] = SIZES,
    *,
    seconds: float = 0.5,
    progress: Callable[[int], object] | None = None,
) -> dict[str, Any]:
    """Sends messages of each size there and back, each for so many seconds.

    Gives a document as `headrace bench net ask --json` prints it. Latency is half of a round
    trip, throughput the message's bytes over it.

    Raises OSError if the other side cannot be reached or refuses the token, ValueError for a
    size that cannot be.
    """
    rows = _core.ask_messages(address, token, list(sizes), seconds, progress)
    messages: list[dict[str, Any]] = [
        {
            "size": size,
            "count": count,
            "latency": {
                "least": least / 2,
                "p50": half / 2,
                "p99": most / 2,
                "max": longest / 2,
            },
            "throughput": 2 * size / half,
        }
        for size, count, least, half, most, longest in rows
    ]
    return {
        "kind": "network",
        "scenario": {"name": "bench net", "description": f"messages to {address} and back"},
        "version": _core.VERSION,
        "peer": address,
        "messages": messages,
        "throughput": {f"message {binary_size(it['size'])}": it["throughput"] for it in messages},
        "latency": {
            f"message {binary_size(it['size'])}": {
                "p50": it["latency"]["p50"],
                "p99": it["latency"]["p99"],
            }
            for it in messages
        },
    }
