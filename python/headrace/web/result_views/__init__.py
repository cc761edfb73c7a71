"""Views of results: a file for each kind of document, and a line in the table of kinds."""

from collections.abc import Callable, Mapping
from typing import Any

from headrace.web.result_views import (
    baseline,
    jobs,
    load_sweep,
    measurement,
    network,
    profile,
    study,
    trace_info,
    tuning,
)

Document = Mapping[str, Any]

VIEWS: dict[str, Callable[[Document], None]] = {
    "measured": measurement.show,
    "jobs": jobs.show,
    "load-sweep": load_sweep.show,
    "study": study.show,
    "tuning": tuning.show,
    "network": network.show,
    "baseline": baseline.show,
    "profile": profile.show,
    "trace-info": trace_info.show,
}
"""Function that shows a document, by its kind."""
