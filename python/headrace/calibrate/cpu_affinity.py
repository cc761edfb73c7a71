"""Choose the CPU for each measurement.

A device interrupts one CPU, and a process on another CPU has to be woken there. On a virtual
machine with two CPUs, direct writes of 4 KiB took 49 us on the interrupted CPU and 64 us on the
other. Reads took 48 and 73 us, appends with fsync 140 and 200 us. The scheduler's choice is random,
so each measurement is pinned to each CPU in turn.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress


def cpu_for_run(turn: int, turns: int, processors: Sequence[int]) -> int:
    """Return the CPU of one of several measurements.

    CPUs are used in turn. If there are fewer measurements than CPUs, they are spread evenly.

    >>> [cpu_for_run(turn, 5, (0, 1)) for turn in range(5)]
    [0, 1, 0, 1, 0]
    >>> [cpu_for_run(turn, 3, range(64)) for turn in range(3)]
    [0, 21, 42]
    """
    count = len(processors)
    return processors[turn % count if turns >= count else turn * count // turns]


@contextmanager
def pin_to_cpu(chosen: int) -> Iterator[None]:
    """Pin this thread and its children to a CPU for the duration of a `with` block. The affinity
    stays unchanged if the CPU is no longer available."""
    before = os.sched_getaffinity(0)
    with suppress(OSError):
        os.sched_setaffinity(0, {chosen})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
