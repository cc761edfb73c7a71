"""The kernel's tracing file system (Linux, Documentation/trace/ftrace.rst).

This module imports no tables, so that a check costs little.
"""

import os
from pathlib import Path

PLACES = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
NOT_ALLOWED = "tracefs at {} is not accessible: run as root"
NEEDED = (
    *("block/block_rq_issue", "block/block_rq_complete", "sched/sched_switch"),
    *("syscalls/sys_enter_pread64", "syscalls/sys_exit_pread64", "task/task_rename"),
)
"""Events that every analysis needs; others add detail where the kernel has them."""


class KernelTraceError(ValueError):
    """The kernel cannot be traced, or a trace cannot be read. The message says why."""


def tracefs() -> Path:
    """Return the directory of the kernel's tracing file system.

    Raises KernelTraceError if it is not there, or is not allowed.
    """
    for place in PLACES:
        try:
            if not (place / "instances").is_dir():
                continue
        except PermissionError:
            raise KernelTraceError(NOT_ALLOWED.format(place)) from None
        if not os.access(place / "instances", os.W_OK):
            raise KernelTraceError(NOT_ALLOWED.format(place))
        return place
    if os.geteuid() != 0:
        raise KernelTraceError(NOT_ALLOWED.format(PLACES[0]))
    raise KernelTraceError(
        f"tracefs is not mounted at {PLACES[0]}: mount it by mount -t tracefs nodev {PLACES[0]}"
    )


def check_tracepoints() -> None:
    """Check that tracefs is accessible and the kernel has the needed tracepoints.

    Raises KernelTraceError if not.
    """
    events = tracefs() / "events"
    for event in NEEDED:
        if not (events / event).is_dir():
            raise KernelTraceError(
                f"the kernel has no tracepoint {event}: expected one that was built with"
                " CONFIG_BLK_DEV_IO_TRACE and CONFIG_FTRACE_SYSCALLS"
            )
