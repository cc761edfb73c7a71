"""Traces in all formats."""

from headrace.profile.trace_findings import findings
from headrace.trace import trace_info

READERS = (trace_info, findings)
