"""Traces of file operations: read, write, summarise and edit them."""

from typing import TYPE_CHECKING

from headrace.late_imports import late_names

__all__ = [
    "BATCH",
    "STREAMS",
    "Batch",
    "CutReader",
    "DarshanLog",
    "DarshanReader",
    "DarshanWorkload",
    "Imported",
    "Information",
    "Reader",
    "RecordCounters",
    "Selection",
    "anonymise_trace",
    "cut_trace",
    "darshan_workload",
    "data_records",
    "extent_bytes",
    "factor",
    "frame",
    "import_trace",
    "open_trace",
    "read_log",
    "record_batches",
    "scale_trace",
    "synthesize",
    "trace_info",
    "write_trace",
]

if TYPE_CHECKING:
    from headrace.trace.anonymise import anonymise_trace
    from headrace.trace.batches import BATCH, Batch, Reader
    from headrace.trace.cut import CutReader, Selection, cut_trace
    from headrace.trace.darshan import (
        STREAMS,
        DarshanLog,
        DarshanReader,
        DarshanWorkload,
        RecordCounters,
        darshan_workload,
        data_records,
        extent_bytes,
        read_log,
    )
    from headrace.trace.frames import frame, record_batches
    from headrace.trace.scale import factor, scale_trace
    from headrace.trace.trace import (
        Imported,
        Information,
        import_trace,
        open_trace,
        synthesize,
        trace_info,
        write_trace,
    )
else:
    __getattr__ = late_names(
        __name__,
        {
            "anonymise": ("anonymise_trace",),
            "batches": ("BATCH", "Batch", "Reader"),
            "cut": ("CutReader", "Selection", "cut_trace"),
            "darshan": (
                "STREAMS",
                "DarshanLog",
                "DarshanReader",
                "DarshanWorkload",
                "RecordCounters",
                "darshan_workload",
                "data_records",
                "extent_bytes",
                "read_log",
            ),
            "frames": ("frame", "record_batches"),
            "scale": ("factor", "scale_trace"),
            "trace": (
                "Imported",
                "Information",
                "import_trace",
                "open_trace",
                "synthesize",
                "trace_info",
                "write_trace",
            ),
        },
    )
