"""Workloads of a baseline and the figures that each yields, measured or simulated.

To add a figure, add a case to `cases`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.quantities import binary_size

BLOCK = 8192
"""Bytes of a call of the block figures: bonnie++'s chunk (Hindman 2011, section 5.2.2.2)."""
PAGE = 4096
FIGURES = (
    *("character-write", "block-write", "rewrite", "character-read", "block-read"),
    *("cached-write", "cached-read", "memory-copy"),
    *("random-read", "random-write", "sync-write", "small-call", "create", "stat", "remove"),
    *("random-create", "random-stat", "random-remove"),
    *("network-send", "network-round-trip"),
)
"""All figures, in the order in which they are shown."""
CHARACTERS = ("character-write", "character-read")
WORDS = {"B/s": "bytes", "1/s": "count"}


@dataclass(frozen=True)
class Sizes:
    """Amounts of work of a baseline, in bytes, seconds and files."""

    file: int
    """File of the device figures."""
    characters: int
    """File that is written and read by characters."""
    cached: int
    """File that is read from the page cache."""
    new: int
    """File that is written to the page cache only."""
    synced: int
    """File to which synchronised writes append, at the most."""
    call_s: float
    """Time of a pass of a figure of the processor and memory."""
    device_s: float
    """Time of a figure of the device that counts operations."""
    names: int
    """Files that are created, looked up and removed."""


@dataclass(frozen=True)
class Reading:
    """A figure of a case: an amount over the active time of operations."""

    figure: str
    unit: str
    """"B/s" or "1/s"."""
    operation: str
    """The operation whose bytes or calls count."""
    until: str | None = None
    """The operation whose time counts besides: the sync after a write."""

    def value(self, document: Mapping[str, Any]) -> float:
        """Return the figure in the document of a measurement or of a simulation.

        Raises ValueError if the operation took no time.
        """
        operations = document["operations"]
        named = [self.operation, *([self.until] if self.until else [])]
        seconds = sum(operations[name]["active_seconds"] for name in named)
        if not seconds > 0:
            raise ValueError(f"{self.operation} took no time")
        return float(operations[self.operation][WORDS[self.unit]] / seconds)


@dataclass(frozen=True)
class Case:
    """A workload and its figures."""

    name: str
    workload: str
    """TOML of `[run]` and `[[workload]]`."""
    readings: Sequence[Reading]
    method: str
    passes: int = 1
    """Number of passes; the median counts."""
    fallback: str | None = None
    """The workload without direct I/O, for file systems that lack it."""
    processes: int = 1

    @property
    def text(self) -> str:
        """The scenario, without a system."""
        return f"[clients]\ncount = 1\nprocesses = {self.processes}\n{self.workload}"


def _files(size: int, transfer: int, phases: str, io: str = "", *, stop_s: float = 0.0) -> str:
    """Return the TOML of transfers within a file, repeated until a time if one is given."""
    run = f'[run]\nstop.time = "{stop_s:g} s"\n' if stop_s else ""
    forever = 'repeat = "forever"\n' if stop_s else ""
    return (
        f'{run}[[workload]]\nkind = "ior"\nblock = "{binary_size(size)}"\n'
        f'transfer = "{binary_size(transfer)}"\nphases = [{phases}]\n{forever}{io}'
    )


def _random(phase: str, sizes: Sizes, direct: str, processes: int = 1) -> str:
    io = f'order = "uniform"\nio = {{ existing = true, {direct} }}\n'
    # A file for each process, of whole pages.
    size = max(sizes.file // processes // PAGE, 1) * PAGE
    return _files(size, PAGE, f'"{phase}"', io, stop_s=sizes.device_s)


CONCURRENT = 16
"""Processes of the concurrent random reads."""


def concurrent_case(sizes: Sizes) -> Case:
    """Return the case of random reads by many processes, which shows the device's concurrency."""
    return Case(
        "concurrent-read",
        _random("read", sizes, "direct = true", CONCURRENT),
        [Reading("concurrent-read", "1/s", "read")],
        f"direct reads of 4 KiB by {CONCURRENT} processes",
        processes=CONCURRENT,
    )


def cases(sizes: Sizes, passes: int) -> list[Case]:
    """Return all cases but those of `characters` and those without a workload."""
    blocks = f"blocks of {binary_size(BLOCK)}"
    planned = [
        Case(
            "block-write",
            _files(sizes.file, BLOCK, '"write", "sync"'),
            [Reading("block-write", "B/s", "write", "sync")],
            f"{blocks} to a new file, and fsync",
        ),
        Case(
            "rewrite",
            f'[[workload]]\nkind = "pipeline"\ninput = "{binary_size(sizes.file)}"\n'
            f'request = "{binary_size(BLOCK)}"\nin_place = true\nsync = true\n',
            [Reading("rewrite", "B/s", "write", "sync")],
            f"{blocks} read and written back, and fsync; the bytes of the file count once",
        ),
        Case(
            "block-read",
            _files(sizes.file, BLOCK, '"read"', "io = { existing = true }\n"),
            [Reading("block-read", "B/s", "read")],
            f"{blocks} of a file that is not in the page cache",
        ),
    ]
    for phase in ("read", "write"):
        planned.append(
            Case(
                f"random-{phase}",
                _random(phase, sizes, "direct = true"),
                [Reading(f"random-{phase}", "1/s", phase)],
                f"direct {phase}s of 4 KiB at uniform offsets of an existing file",
                fallback=_random(phase, sizes, "cached = false"),
            )
        )
    planned += [
        Case(
            "sync-write",
            _files(sizes.synced, PAGE, '"write"', "sync_per_write = true\n", stop_s=sizes.device_s),
            [Reading("sync-write", "1/s", "sync")],
            "4 KiB appended to a file and fsync, in turn",
        ),
        Case(
            "names",
            f'[[workload]]\nkind = "mdtest"\nfiles = {sizes.names}\n'
            'phases = ["create", "stat", "unlink"]\n',
            [
                Reading("create", "1/s", "create"),
                Reading("stat", "1/s", "stat"),
                Reading("remove", "1/s", "unlink"),
            ],
            f"{sizes.names} empty files in one directory; one processor share for all three",
        ),
        Case(
            "random-names",
            # Bonnie++'s random create, read and delete (Hindman 2011, section 5.2.2.2).
            f'[[workload]]\nkind = "mdtest"\nfiles = {sizes.names}\nrandom = true\n'
            'phases = ["create", "stat", "unlink"]\n',
            [
                Reading("random-create", "1/s", "create"),
                Reading("random-stat", "1/s", "stat"),
                Reading("random-remove", "1/s", "unlink"),
            ],
            f"{sizes.names} empty files in one directory, each time in another random order",
        ),
        Case(
            "cached-read",
            _files(sizes.cached, BLOCK, '"read"', _CACHED, stop_s=sizes.call_s),
            [Reading("cached-read", "B/s", "read")],
            f"{blocks} of a file in the page cache",
            passes,
        ),
        Case(
            "cached-write",
            _files(sizes.new, BLOCK, '"write"'),
            [Reading("cached-write", "B/s", "write")],
            f"{blocks} to a new file, without fsync",
            passes,
        ),
        Case(
            "small-call",
            _files(1 << 20, 1, '"read"', _CACHED, stop_s=sizes.call_s),
            [Reading("small-call", "1/s", "read")],
            "system calls that read one byte of a file in the page cache",
            passes,
        ),
    ]
    return planned


_CACHED = "io = { existing = true, cached = true }\n"


def character_cases(size: int) -> list[Case]:
    """Return the cases that write and read a file by one byte through the C library."""
    io = 'io = { existing = true, interface = "library" }\n'
    return [
        Case(
            "character-write",
            _files(size, 1, '"write", "sync"', 'io.interface = "library"\n'),
            [Reading("character-write", "B/s", "write", "sync")],
            "fputc_unlocked of the load engine, a buffer at a time",
        ),
        Case(
            "character-read",
            _files(size, 1, '"read"', io),
            [Reading("character-read", "B/s", "read")],
            "fgetc_unlocked of the load engine, a buffer at a time",
        ),
    ]
