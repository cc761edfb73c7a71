"""Profile applications: traces of their file operations."""

from headrace.trace.batches import Batch, Reader
from headrace.trace.frames import frame
from headrace.trace.trace import (
    Imported,
    Information,
    import_trace,
    open_trace,
    synthesize,
    trace_info,
)

__all__ = [
    "Batch",
    "Imported",
    "Information",
    "Reader",
    "frame",
    "import_trace",
    "open_trace",
    "synthesize",
    "trace_info",
]
