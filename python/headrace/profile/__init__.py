"""Deprecated name of `headrace.trace`."""

import warnings

from headrace.trace import (
    Batch,
    Imported,
    Information,
    Reader,
    frame,
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

warnings.warn(
    "headrace.profile is deprecated: import headrace.trace instead",
    DeprecationWarning,
    stacklevel=2,
)
