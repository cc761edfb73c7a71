"""Counters of the kernel, one file for each source.

A source opens its files, reads cumulative counters, and derives rates from two samples.
"""

from headrace.profile.counters import (
    cgroup,
    disks,
    infiniband,
    interfaces,
    kernel_threads,
    lustre,
    memory,
    nfs,
    pressure,
    processors,
    tcp,
    tree,
)
from headrace.profile.counters.source import Columns, Raw, Read, Source, Watched

__all__ = ["ALL", "Columns", "Raw", "Read", "Source", "Watched"]

ALL: tuple[Source, ...] = (
    processors.SOURCE,
    memory.SOURCE,
    pressure.SOURCE,
    disks.SOURCE,
    interfaces.SOURCE,
    tcp.SOURCE,
    infiniband.SOURCE,
    nfs.SOURCE,
    lustre.SOURCE,
    tree.SOURCE,
    kernel_threads.SOURCE,
    cgroup.SOURCE,
)
