"""Profile applications: sample the system, capture file operations, name the limit of each phase.

The names of `headrace.trace` are still found here and deprecated.
"""

import warnings
from typing import Any

__all__: list[str] = []

DEPRECATED = (
    "Batch",
    "Imported",
    "Information",
    "Reader",
    "frame",
    "import_trace",
    "open_trace",
    "synthesize",
    "trace_info",
)


def __getattr__(name: str) -> Any:
    # Not imported above: a recording imports no tables, to cost little.
    if name not in DEPRECATED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from headrace import trace

    warnings.warn(
        f"headrace.profile.{name} is deprecated: use headrace.trace.{name}",
        DeprecationWarning,
        stacklevel=2,
    )
    return getattr(trace, name)
