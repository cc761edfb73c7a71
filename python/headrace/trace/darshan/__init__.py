"""Logs of Darshan, which profiles the I/O of MPI programs, as traces and as workloads.

PyDarshan reads the logs; it is an optional dependency, `headrace[darshan]`.
"""

from typing import TYPE_CHECKING

from headrace.late_imports import late_names

__all__ = [
    "STREAMS",
    "DarshanLog",
    "DarshanReader",
    "DarshanWorkload",
    "RecordCounters",
    "Segments",
    "darshan_workload",
    "data_records",
    "extent_bytes",
    "is_darshan",
    "read_log",
]

if TYPE_CHECKING:
    from headrace.trace.darshan.log import STREAMS, DarshanLog, Segments, is_darshan, read_log
    from headrace.trace.darshan.reader import DarshanReader
    from headrace.trace.darshan.synthesis import RecordCounters, data_records, extent_bytes
    from headrace.trace.darshan.workload import DarshanWorkload, darshan_workload
else:
    # The process that reads a log needs none of them.
    __getattr__ = late_names(
        __name__,
        {
            "log": ("STREAMS", "DarshanLog", "Segments", "is_darshan", "read_log"),
            "reader": ("DarshanReader",),
            "synthesis": ("RecordCounters", "data_records", "extent_bytes"),
            "workload": ("DarshanWorkload", "darshan_workload"),
        },
    )
