"""Logs of Darshan, which profiles the I/O of MPI programs, as traces and as workloads.

PyDarshan reads the logs; it is an optional dependency, `headrace[darshan]`.
"""

from headrace.trace.darshan.log import DarshanLog, Segments, is_darshan, read_log
from headrace.trace.darshan.reader import DarshanReader

__all__ = [
    "DarshanLog",
    "DarshanReader",
    "Segments",
    "is_darshan",
    "read_log",
]
