"""Capture through the kernel's tracepoints of system calls, as root (Linux,
Documentation/trace/ftrace.rst)."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from headrace.tracefs import KernelTraceError, tracefs

RECORDER = "headrace.profile.capture.tracefs_recorder"
COUNTS = ".counts.json"
"""Suffix of the file beside the trace that counts events lost and names not found."""


class Tracefs:
    """Records through tracefs, for root. Calls do not stop the program."""

    name = "tracefs"
    suffix = ".strace"
    takes_more = True
    stops = False

    def available(self) -> str | None:
        try:
            events = tracefs() / "events"
        except KernelTraceError as error:
            return str(error)
        if not (events / "syscalls" / "sys_enter_read").is_dir():
            return "the kernel has no tracepoints of system calls (CONFIG_FTRACE_SYSCALLS)"
        return None

    def wrap(self, command: list[str], path: Path) -> list[str]:
        return [sys.executable, "-m", RECORDER, "-o", str(path), "--", *command]

    def attach(self, pids: Sequence[int], path: Path) -> list[str]:
        numbers = ",".join(map(str, pids))
        return [sys.executable, "-m", RECORDER, "-o", str(path), "-p", numbers]

    def start_error(self, path: Path) -> OSError | None:
        return None

    def left_out(self) -> list[str]:
        return [
            "calls that name a file, such as stat, unlink and rename: the kernel's events have"
            " addresses of names only, so the trace's reader counts these calls",
            "names of files that are closed within about a millisecond: they are recorded as"
            " /unresolved/THREAD-NUMBER",
            "the flags of openat2, the ranges of fcntl locks, the requests of libaio and io_uring",
            "accesses to mapped memory: maps are counted, their page faults are not",
            "processes that outlive the program",
            "names of files that were open before, where several running processes are recorded"
            " and use one descriptor for different files",
        ]

    def counts(self, path: Path) -> dict[str, int]:
        file = path.with_name(path.name + COUNTS)
        if not file.exists():
            return {}
        numbers: dict[str, int] = json.loads(file.read_text(encoding="utf-8"))
        return numbers
