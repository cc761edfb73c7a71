"""View of `trace findings`."""

from collections.abc import Mapping
from typing import Any

from headrace.fields import convert
from headrace.profile.trace_findings import Finding
from headrace.report.trace_finding_tables import finding_list
from headrace.web.rendered import show_rendered


def show(document: Mapping[str, Any]) -> None:
    """Show each costly kind of requests with its evidence and what to do."""
    found = convert(document["findings"], list[Finding])
    show_rendered(finding_list(str(document["trace"]).rpartition("/")[2], found))
