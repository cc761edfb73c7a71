"""Trace file systems and devices with the kernel's ftrace (Linux, Documentation/trace/ftrace.rst).
Needs root, and tracefs."""

from headrace.kernel_trace.activity import activity, commits, folios, write_back
from headrace.kernel_trace.calls import system_calls, timed
from headrace.kernel_trace.errors import KernelTraceError
from headrace.kernel_trace.intervals import Intervals
from headrace.kernel_trace.recording import Recording, save
from headrace.kernel_trace.requests import requests
from headrace.kernel_trace.service import service
from headrace.kernel_trace.session import TraceSession, check, trace_session
from headrace.kernel_trace.time_breakdown import breakdown, in_device

__all__ = [
    "Intervals",
    "KernelTraceError",
    "Recording",
    "TraceSession",
    "activity",
    "breakdown",
    "check",
    "commits",
    "folios",
    "in_device",
    "requests",
    "save",
    "service",
    "system_calls",
    "timed",
    "trace_session",
    "write_back",
]
