"""Latency and throughput of messages between two hosts over TCP."""

import platform
import secrets
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from headrace import _core
from headrace.environment import Environment, of_host
from headrace.environment import resumed as resumed_environment
from headrace.interruption import STOP_EXCEPTIONS
from headrace.measure.resume import (
    check_checksum,
    check_matches,
    other_options_error,
    with_checksum,
)
from headrace.report.units import binary_size

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
) -> dict[int, dict[str, Any]]:
    """Return the messages of an earlier run, by size."""
    if resumed is None:
        return {}
    check_matches(resumed, {"kind": KIND}, here)
    check_checksum(resumed, "messages")
    messages = resumed.get("messages", ())
    known = {it["size"]: it for it in messages}
    if any(it["seconds"] != seconds for it in known.values()):
        raise other_options_error(resumed)
    return known


def _measured(address: str, token: str, size: int, seconds: float) -> dict[str, Any]:
    [(_, count, least, half, most, longest)] = _core.ask_messages(address, token, [size], seconds)
    return {
        "size": size,
        "seconds": seconds,
        "count": count,
        "latency": {
            "least": least / 2,
            "p50": half / 2,
            "p99": most / 2,
            "max": longest / 2,
        },
        "throughput": 2 * size / half,
    }


def _document(
    address: str,
    here: Mapping[str, str],
    environment: Environment,
    by_size: Mapping[int, Mapping[str, Any]],
    stop: str,
) -> dict[str, Any]:
    messages = [by_size[size] for size in sorted(by_size)]
    named = {f"message {binary_size(it['size'])}": it for it in messages}
    document = {
        "kind": KIND,
        "scenario": {"name": "bench net", "description": f"messages to {address} and back"},
        "version": _core.VERSION,
        "place": dict(here),
        "environment": environment,
        "peer": address,
        "messages": messages,
        "throughput": {name: it["throughput"] for name, it in named.items()},
        "latency": {
            name: {"p50": it["latency"]["p50"], "p99": it["latency"]["p99"]}
            for name, it in named.items()
        },
        "stop": {"reason": stop},
    }
    return with_checksum(document, "messages")
