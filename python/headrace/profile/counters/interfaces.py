"""Network interfaces (proc(5), /proc/net/dev)."""

from collections import Counter

from headrace.profile.counters.source import (
    Columns,
    Raw,
    Read,
    Source,
    Watched,
    as_text,
    naturals,
    open_file,
    per_second,
    with_prefix,
)

NAME = "interfaces"
HEADER_LINES = 2
FIELDS = 16
SAVED = (0, 1, 2, 3, 8, 9, 10, 11, 13)
"""Fields in a sample: bytes, packets, errors and drops received; the same sent; collisions."""


def parse(text: bytes, left_out: Counter[str]) -> Raw:
    """Return the counters of each interface that has received or sent a packet."""
    raw: Raw = {}
    for line in text.splitlines()[HEADER_LINES:]:
        # Old kernels write no blank after the colon, and names of aliases contain one.
        name, _, rest = line.rpartition(b":")
        values = naturals(rest.split())
        if not name.strip() or values is None or len(values) < FIELDS:
            left_out[NAME] += bool(line.strip())
            continue
        saved = [values[key] for key in SAVED]
        if any(saved):
            raw[as_text(name.strip())] = saved
    return raw


def _open(watched: Watched) -> Read | None:
    file = open_file(watched.proc / "net" / "dev")
    return None if file is None else lambda: parse(file.read(), watched.left_out)


def rates(before: Raw, after: Raw, seconds: float) -> Columns:
    """Return throughput, packets, errors, drops and collisions of each interface."""
    columns: Columns = {}
    for name, now in after.items():
        then = before.get(name) or [0] * len(SAVED)
        columns |= with_prefix(
            f"net.{name}",
            {
                "receive_bytes_per_s": per_second(then[0], now[0], seconds),
                "send_bytes_per_s": per_second(then[4], now[4], seconds),
                "receive_packets_per_s": per_second(then[1], now[1], seconds),
                "send_packets_per_s": per_second(then[5], now[5], seconds),
                "errors_per_s": per_second(then[2] + then[6], now[2] + now[6], seconds),
                "drops_per_s": per_second(then[3] + then[7], now[3] + now[7], seconds),
                "collisions_per_s": per_second(then[8], now[8], seconds),
            },
        )
    return columns


SOURCE = Source(NAME, _open, rates)
