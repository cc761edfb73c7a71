"""Trace file systems and devices with the kernel's ftrace (Linux, Documentation/trace/ftrace.rst).
Needs root, and tracefs."""

from headrace.kernel_trace.activity import activity, commits, folios, write_back
from headrace.kernel_trace.calls import system_calls, timed
from headrace.kernel_trace.columns import table
from headrace.kernel_trace.formats import Format
from headrace.kernel_trace.instance import Instance
from headrace.kernel_trace.intervals import Intervals
from headrace.kernel_trace.recording import Recording, save
from headrace.kernel_trace.requests import requests, service
from headrace.kernel_trace.ring_buffer import PageHeader, Records, records
from headrace.kernel_trace.session import TraceSession, check, trace_session
from headrace.kernel_trace.time_breakdown import breakdown, in_device
from headrace.tracefs import KernelTraceError, tracefs

__all__ = [
    "Format",
    "Instance",
    "Intervals",
    "KernelTraceError",
    "PageHeader",
    "Recording",
    "Records",
    "TraceSession",
    "activity",
    "breakdown",
    "check",
    "commits",
    "folios",
    "in_device",
    "records",
    "requests",
    "save",
    "service",
    "system_calls",
    "table",
    "timed",
    "trace_session",
    "tracefs",
    "write_back",
]
