"""Record what the kernel does for this process and for a file system."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from os import PathLike
from typing import TypeVar

from headrace.kernel_trace.columns import table
from headrace.kernel_trace.device import Device, device_of
from headrace.kernel_trace.instance import Instance
from headrace.kernel_trace.recording import Recording
from headrace.tracefs import check_tracepoints

Done = TypeVar("Done")

CALLS = (
    *("read", "pread64", "preadv", "preadv2"),
    *("write", "pwrite64", "pwritev", "pwritev2"),
    *("fsync", "fdatasync", "sync_file_range"),
    *("openat", "close", "newfstatat", "newstat", "newlstat", "statx", "getdents64"),
    *("mkdirat", "mkdir", "unlinkat", "unlink", "rmdir", "renameat", "renameat2", "rename"),
    *("ftruncate", "fallocate", "symlinkat", "linkat", "readlinkat"),
)
"""System calls on files."""


def _of_device(device: Device) -> dict[str, str | None]:
    """Return the events of the device: requests, journal, write-back and context switches."""
    requests = f"dev == {device.disk}"
    journal = f"dev == {device.file_system}"
    name = f'name == "{device.name}"'
    return {
        **{f"block/{event}": requests for event in REQUESTS},
        **{f"jbd2/{event}": journal for event in JOURNAL},
        "writeback/writeback_start": name,
        "writeback/writeback_written": name,
        # Not in the process's instance, which would omit events of the idle task.
        "sched/sched_switch": f"prev_comm ~ {WORKERS} || next_comm ~ {WORKERS}",
        "sched/sched_waking": f"comm ~ {WORKERS}",
    }


WORKERS = '"process *"'
"""Name pattern of the load engine's worker threads."""
REQUESTS = (
    "block_bio_queue",
    "block_bio_backmerge",
    "block_bio_frontmerge",
    "block_split",
    "block_rq_insert",
    "block_rq_issue",
    "block_rq_requeue",
    "block_rq_complete",
)
JOURNAL = ("jbd2_start_commit", "jbd2_end_commit", "jbd2_run_stats", "jbd2_checkpoint_stats")


def _of_process(device: Device) -> dict[str, str | None]:
    """Return the events of this process: calls, throttling, and pages brought into memory."""
    calls = [f"syscalls/sys_{end}_{call}" for call in CALLS for end in ("enter", "exit")]
    return {
        **dict.fromkeys((*calls, "task/task_rename")),
        "writeback/balance_dirty_pages": f'bdi == "{device.name}"',
        "filemap/mm_filemap_add_to_page_cache": f"s_dev == {device.file_system}",
    }


@dataclass(frozen=True)
class TraceSession:
    """Ready to record. `trace_session` makes it."""

    device: Device
    instances: tuple[Instance, ...]
    process: Instance

    def record(self, work: Callable[[], Done]) -> tuple[Done, Recording]:
        """Run work, and return its result with the recording.

        Raises KernelTraceError, and what the work raises.
        """
        before = [instance.lost() for instance in self.instances]
        self.process.follow(map(int, os.listdir("/proc/self/task")))
        for instance in self.instances:
            instance.start()
        try:
            done = work()
        finally:
            for instance in self.instances:
                instance.stop()
        tables = {}
        for instance in self.instances:
            processors = instance.take()
            for event in instance.formats.values():
                tables[event.name] = table(event, processors)
        after = [instance.lost() for instance in self.instances]
        return done, Recording(tables, sum(after) - sum(before))


def check(directory: str | PathLike[str]) -> None:
    """Raise as `tracing` would, before anything is measured."""
    device_of(directory)
    check_tracepoints()


@contextmanager
def trace_session(directory: str | PathLike[str]) -> Iterator[TraceSession]:
    """Prepare to record what this process and the device below a directory do.

    Raises KernelTraceError if the kernel cannot be traced, lacks a required tracepoint, or has no
    block device there. Raises OSError if there is no such directory.
    """
    check(directory)
    device = device_of(directory)
    with ExitStack() as stack:
        of_device, of_process = stack.enter_context(Instance()), stack.enter_context(Instance())
        of_device.enable(_of_device(device))
        of_process.enable(_of_process(device))
        yield TraceSession(device, (of_device, of_process), of_process)
