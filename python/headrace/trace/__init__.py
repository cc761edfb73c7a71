"""Profile applications: traces of their file operations."""

from headrace.trace.batches import Batch, Reader
from headrace.trace.darshan import (
    STREAMS,
    DarshanLog,
    DarshanReader,
    DarshanWorkload,
    RecordCounters,
    darshan_workload,
    module_records,
    read_log,
)
from headrace.trace.frames import frame, record_batches
from headrace.trace.trace import (
    Imported,
    Information,
    OnProgress,
    import_trace,
    open_trace,
    synthesize,
    trace_info,
)

__all__ = [
    "STREAMS",
    "Batch",
    "DarshanLog",
    "DarshanReader",
    "DarshanWorkload",
    "Imported",
    "Information",
    "OnProgress",
    "Reader",
    "RecordCounters",
    "darshan_workload",
    "frame",
    "import_trace",
    "module_records",
    "open_trace",
    "read_log",
    "record_batches",
    "synthesize",
    "trace_info",
]
