"""What the kernel itself tells of file systems and devices, by its tracing (Linux,
Documentation/trace/ftrace.rst). Needs root, and tracefs."""

from headrace.kernel_trace.calls import breakdown, commits, in_device, system_calls, timed
from headrace.kernel_trace.errors import KernelTraceError
from headrace.kernel_trace.recording import Recording, save
from headrace.kernel_trace.requests import requests
from headrace.kernel_trace.tracing import Tracing, check, tracing

__all__ = [
    "KernelTraceError",
    "Recording",
    "Tracing",
    "breakdown",
    "check",
    "commits",
    "in_device",
    "requests",
    "save",
    "system_calls",
    "timed",
    "tracing",
]
