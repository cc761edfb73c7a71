"""Profile applications: traces of their file operations."""

from headrace.profile.batches import Batch, Reader
from headrace.profile.frames import frame
from headrace.profile.trace import (
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
