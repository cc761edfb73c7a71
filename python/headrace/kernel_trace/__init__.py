"""What the kernel itself tells of file systems and devices, by its tracing (Linux,
Documentation/trace/ftrace.rst). Needs root, and tracefs."""

from headrace.kernel_trace.activity import activity, commits, folios, write_back
from headrace.kernel_trace.calls import system_calls, timed
from headrace.kernel_trace.errors import KernelTraceError
from headrace.kernel_trace.intervals import Intervals
from headrace.kernel_trace.recording import Recording, save
from headrace.kernel_trace.requests import requests
from headrace.kernel_trace.service import service
from headrace.kernel_trace.tracing import Tracing, check, tracing
from headrace.kernel_trace.waiting import breakdown, in_device

__all__ = [
    "Intervals",
    "KernelTraceError",
    "Recording",
    "Tracing",
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
    "tracing",
    "write_back",
]
