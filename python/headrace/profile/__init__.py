"""Profile applications: sample the system, capture file operations, name the limit of each phase.

The names of `headrace.trace` are still found here and deprecated.
"""

import warnings
from typing import Any

from headrace import trace

__all__: list[str] = []


def __getattr__(name: str) -> Any:
    if name not in trace.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(
        f"headrace.profile.{name} is deprecated: use headrace.trace.{name}",
        DeprecationWarning,
        stacklevel=2,
    )
    return getattr(trace, name)
