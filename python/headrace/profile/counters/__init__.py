"""Counters of the kernel, one file for each source.

A source opens its files, reads cumulative counters, and derives rates from two samples.
"""

from headrace.profile.counters import (
    cgroup,
    disks,
    infiniband,
    interfaces,
    kernel_threads,
    limits,
    lustre,
    memory,
    nfs,
    pressure,
    processors,
    tcp,
    thread_states,
    tree,
)
from headrace.profile.counters.source import Columns, Raw, Read, Source, Watched

__all__ = ["ALL", "OF_MACHINE", "Columns", "Raw", "Read", "Source", "Watched"]

OF_MACHINE: tuple[Source, ...] = (
    processors.SOURCE,
    memory.SOURCE,
    pressure.SOURCE,
    disks.SOURCE,
    interfaces.SOURCE,
    tcp.SOURCE,
    infiniband.SOURCE,
    nfs.SOURCE,
    lustre.SOURCE,
)
"""Counters of the whole machine."""
ALL = (
    *OF_MACHINE,
    tree.SOURCE,
    thread_states.SOURCE,
    limits.SOURCE,
    kernel_threads.SOURCE,
    cgroup.SOURCE,
)
