"""Counters of the kernel as text: files in /proc, /sys and of file systems."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from headrace.profile.counters import (
    cgroup,
    interfaces,
    lustre,
    memory,
    nfs,
    pressure,
    processors,
    tcp,
)

PARSERS: tuple[Callable[[bytes, Counter[str]], object], ...] = (
    cgroup.parse_pairs,
    cgroup.parse_transfers,
    interfaces.parse,
    lustre.parse,
    lambda text, left_out: memory.parse(text, text, left_out),
    nfs.parse,
    pressure.parse,
    processors.parse,
    tcp.parse,
)


def _counters(path: Path) -> None:
    """Parse a text. No parser refuses one: it counts the lines that it does not understand."""
    text = path.read_bytes()
    for parse in PARSERS:
        try:
            parse(text, Counter())
        except ValueError as error:
            raise AssertionError("a parser of counters refused a text") from error


READERS = (_counters,)
