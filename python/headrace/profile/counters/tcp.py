"""TCP segments (RFC 4022; proc(5), /proc/net/snmp)."""

from collections import Counter

from headrace.profile.counters.source import (
    Columns,
    Raw,
    Read,
    Source,
    Watched,
    naturals,
    open_file,
    per_second,
)

NAME = "tcp"
SAVED = {b"InSegs": "received", b"OutSegs": "sent", b"RetransSegs": "retransmitted"}


def parse(text: bytes, left_out: Counter[str]) -> Raw | None:
    """Return segments received, sent and retransmitted; None if the text has none."""
    lines = [line.split() for line in text.splitlines() if line.startswith(b"Tcp:")]
    if len(lines) != 2 or len(lines[0]) != len(lines[1]):
        left_out[NAME] += 1
        return None
    raw: Raw = {}
    for name, value in zip(*lines, strict=True):
        if name in SAVED:
            values = naturals([value])
            if values is None:
                left_out[NAME] += 1
            else:
                raw[SAVED[name]] = values[0]
    return raw


def _open(watched: Watched) -> Read | None:
    file = open_file(watched.proc / "net" / "snmp")
    return None if file is None else lambda: parse(file.read(), watched.left_out)


def rates(before: Raw, after: Raw, seconds: float) -> Columns:
    """Return the rate of retransmitted segments."""
    key = "retransmitted"
    known = key in before and key in after
    rate = per_second(before[key], after[key], seconds) if known else None
    return {"tcp.retransmits_per_s": rate}


SOURCE = Source(NAME, _open, rates)
