"""Traces of file operations: read, write, summarise and edit them."""

from headrace.trace.anonymise import anonymise_trace
from headrace.trace.batches import BATCH, Batch, Reader
from headrace.trace.cut import CutReader, Selection, cut_trace
from headrace.trace.frames import frame
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

__all__ = [
    "BATCH",
    "Batch",
    "CutReader",
    "Imported",
    "Information",
    "Reader",
    "Selection",
    "anonymise_trace",
    "cut_trace",
    "factor",
    "frame",
    "import_trace",
    "open_trace",
    "scale_trace",
    "synthesize",
    "trace_info",
    "write_trace",
]
