"""Block devices (Linux, Documentation/admin-guide/iostats.rst, /proc/diskstats)."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from headrace.mountinfo import mounted
from headrace.profile.counters.source import (
    Columns,
    Raw,
    Read,
    Source,
    Watched,
    as_text,
    growth,
    naturals,
    open_file,
    ratio,
    with_prefix,
)

NAME = "disks"
SECTOR = 512
"""Bytes of a sector of /proc/diskstats, whatever the device has."""
FIELDS = 11
"""Counters of kernels before 4.18. Discards (4.18) and flushes (5.5) follow."""
READS, READ_SECTORS, READ_MS = 0, 2, 3
WRITES, WRITTEN_SECTORS, WRITE_MS = 4, 6, 7
BUSY_MS, QUEUED_MS = 9, 10
FLUSHES = 15


class Parser:
    """Reads /proc/diskstats. Lines that have not changed are not divided again."""

    def __init__(self, matches: Callable[[str, str], bool], left_out: Counter[str]) -> None:
        self._wanted = matches
        self._left_out = left_out
        self._lines: dict[bytes, tuple[str, list[int]] | None] = {}

    def parse(self, text: bytes) -> Raw:
        """Return the counters of each wanted device that has completed a request.

        `wanted` gets the device number, such as "8:1", and the name.
        """
        raw: Raw = {}
        before, self._lines = self._lines, {}
        for line in text.split(b"\n"):
            device = before[line] if line in before else self._device(line)
            self._lines[line] = device
            if device is not None:
                raw[device[0]] = device[1]
        return raw

    def _device(self, line: bytes) -> tuple[str, list[int]] | None:
        words = line.split()
        if not words:
            return None
        values = naturals(words[3:])
        numbers = naturals(words[:2])
        if values is None or numbers is None or len(values) < FIELDS:
            self._left_out[NAME] += 1
            return None
        name = as_text(words[2])
        if not (values[READS] or values[WRITES]) or not self._wanted(
            f"{numbers[0]}:{numbers[1]}", name
        ):
            return None
        return name, values


class Selection:
    """Whole devices, and partitions that are mounted."""

    def __init__(self, blocks: Path) -> None:
        self._blocks = blocks
        self._known: dict[tuple[str, str], bool] = {}

    def __call__(self, number: str, name: str) -> bool:
        known = self._known.get((number, name))
        if known is None:
            known = self._is_whole(name) or self._is_mounted(number)
            self._known[number, name] = known
        return known

    def _is_whole(self, name: str) -> bool:
        # The kernel replaces "/" in names of this directory by "!".
        return not self._blocks.is_dir() or (self._blocks / name.replace("/", "!")).exists()

    @staticmethod
    def _is_mounted(number: str) -> bool:
        try:
            return any(mount.device == number for mount in mounted())
        except (OSError, ValueError):
            return False


def _open(watched: Watched) -> Read | None:
    file = open_file(watched.proc / "diskstats")
    parser = Parser(Selection(watched.sys / "block"), watched.left_out)
    return None if file is None else lambda: parser.parse(file.read())


def rates(before: Raw, after: Raw, seconds: float) -> Columns:
    """Return throughput, operations, queue and service time of each device."""
    columns: Columns = {}
    for name, now in after.items():
        # A device without requests is not in a sample.
        then = before.get(name) or [0] * len(now)
        columns |= with_prefix(f"disk.{name}", _device(then, now, seconds))
    return columns


def _device(before: list[int], after: list[int], seconds: float) -> Columns:
    grown = [growth(a, b) for a, b in zip(before, after, strict=False)]

    def rate(field: int, factor: float = 1.0) -> float | None:
        if len(grown) <= field or (value := grown[field]) is None:
            return None
        return factor * value / seconds

    busy = rate(BUSY_MS, 1e-3)
    return {
        "read_bytes_per_s": rate(READ_SECTORS, SECTOR),
        "write_bytes_per_s": rate(WRITTEN_SECTORS, SECTOR),
        "reads_per_s": rate(READS),
        "writes_per_s": rate(WRITES),
        "flushes_per_s": rate(FLUSHES),
        "queue": rate(QUEUED_MS, 1e-3),
        "read_service_s": ratio(rate(READ_MS, 1e-3), rate(READS)),
        "write_service_s": ratio(rate(WRITE_MS, 1e-3), rate(WRITES)),
        "utilisation": None if busy is None else min(busy, 1.0),
    }


SOURCE = Source(NAME, _open, rates)
