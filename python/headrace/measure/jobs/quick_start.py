"""The quick start: reads and writes, in order and at random, within half a minute."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from headrace.jobs.plan import IO_URING, Access, FileLayout, Job, Pace, Plan
from headrace.quantities import short_size, size

FILE = 1 << 30
"""Bytes of a file: more than caches of devices hold, of usual drives."""
LEAST = 16 << 20
"""Bytes of a file in any case."""
LAYOUT_S = 4.0
"""Seconds after which the layout of all files ends: 240 MB on a disk of 60 MB/s."""
FREE = 4
"""All files together take at most one part in this many of the free space."""
UNIT = 4 << 20
"""Unit, in bytes, of which file sizes are multiples."""


@dataclass(frozen=True)
class Options:
    """Options of the quick start."""

    file: int | None = None
    """Bytes of each process's file, written completely; else `FILE`, as time and space allow."""
    sequential_block: int = 1 << 20
    random_block: int = 4096
    queue_depths: Sequence[int] = (1, 16)
    processes: int = 1
    seconds: float = 1.5
    """Seconds of each step."""
    rate: float | None = None
    """Requests per second of all processes together; unlimited if None."""
    direct: bool = True
    calls: str = IO_URING
    seed: int = 1


def quick_start(path: Path, options: Options, device_size: int | None = None) -> Plan:
    """The jobs for a directory, or for a device of a size, which is only read.

    Raises ValueError if there is no room for the files.
    """
    block = max(options.sequential_block, options.random_block)
    files: list[FileLayout] = []
    if device_size is not None:
        bytes_of_file = min(options.file or device_size, device_size)
    else:
        bytes_of_file, limited = _size(path, options, block)
        seconds = LAYOUT_S / options.processes if limited else None
        least = min(max(LEAST, _whole(block)), bytes_of_file)
        files = [
            FileLayout(number, bytes_of_file, least=least, seconds=seconds)
            for number in range(options.processes)
        ]
    if bytes_of_file < block:
        raise ValueError(
            f"--file-size {size(bytes_of_file)}: no block of {short_size(block)} fits: expected a"
            " larger file or a smaller block"
        )
    ways = [("read", 1.0)] if device_size is not None else [("read", 1.0), ("write", 0.0)]
    stages = [
        [
            Job(
                name=f"{'random' if random else 'sequential'} {way}, depth {depth}",
                file=0,
                shared=device_size is not None,
                bytes=bytes_of_file,
                block=options.random_block if random else options.sequential_block,
                read_share=share,
                access=Access(random=random),
                queue_depth=depth,
                processes=options.processes,
                calls=options.calls,
                direct=options.direct,
                stable=share == 0.0 and not options.direct,
                seconds=options.seconds,
                repeated=True,
                pace=_pace(options),
                seed=options.seed,
            )
        ]
        for depth in options.queue_depths
        for random in (False, True)
        for way, share in ways
    ]
    access = "read" if device_size is not None else "read and written"
    description = f"{access} in order and at random, queue depth by queue depth"
    return Plan("quick start", description, stages, files)


def _size(path: Path, options: Options, block: int) -> tuple[int, bool]:
    """Bytes of each file, and whether they may become fewer. Raises ValueError without room."""
    room = os.statvfs(path)
    free = room.f_bavail * room.f_frsize
    if options.file is not None:
        needed = options.file * options.processes
        if room.f_blocks and needed > free:
            raise ValueError(
                f"--file-size: the files take {size(needed)}, and {size(free)} are free in {path}:"
                " expected smaller files"
            )
        return options.file, False
    most = FILE // options.processes
    if room.f_blocks:
        most = min(most, free // FREE // options.processes)
    bytes_ = most // UNIT * UNIT
    least = max(UNIT, _whole(block))
    if bytes_ >= least:
        return bytes_, True
    # A small file system, or many processes: the least that makes sense, if it fits.
    if room.f_blocks and least * options.processes > free:
        raise ValueError(
            f"{path}: {size(free)} are free, and the files take"
            f" {size(least * options.processes)}: expected more room, or fewer processes"
        )
    return least, True


def _pace(options: Options) -> Pace:
    if options.rate is None:
        return Pace()
    each = options.rate / options.processes
    return Pace(requests=(each, each))


def _whole(block: int) -> int:
    """Round bytes to whole units that hold a block."""
    return -(-block // UNIT) * UNIT
