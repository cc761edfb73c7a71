"""Which processor a measurement is made on.

A device interrupts one processor, and a process that waits on another has to be woken there. On a
virtual machine of two, whose disk interrupts the second, direct writes of 4 KiB took 49 us on that
and 64 on the first, reads 48 and 73, appends with an fsync 140 and 200. Where the scheduler puts a
process is chance: one case met the one, another the other, and either was off by a fifth. Each
processor in turn makes that the same for all.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress


def cpu_for_run(turn: int, turns: int, processors: Sequence[int]) -> int:
    """That of one of so many measurements: each in turn, or as many, evenly apart, as there are
    measurements.

    >>> [cpu_for_run(turn, 5, (0, 1)) for turn in range(5)]
    [0, 1, 0, 1, 0]
    >>> [cpu_for_run(turn, 3, range(64)) for turn in range(3)]
    [0, 21, 42]
    """
    count = len(processors)
    return processors[turn % count if turns >= count else turn * count // turns]


@contextmanager
def pin_to_cpu(chosen: int) -> Iterator[None]:
    """This thread, and whatever it starts, is on one processor; where it was, if that may not be
    used any more."""
    before = os.sched_getaffinity(0)
    with suppress(OSError):
        os.sched_setaffinity(0, {chosen})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
