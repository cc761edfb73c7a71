"""Capture by strace, which needs no privileges (strace(1), https://strace.io)."""

import errno
import functools
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from headrace._core import TRACE_CALLS

FILES = (
    *("open", "creat", "openat", "openat2", "open_by_handle_at", "close", "close_range"),
    *("dup", "dup2", "dup3", "fcntl", "fcntl64", "pipe", "pipe2"),
)
TRANSFERS = (
    *("read", "readv", "pread64", "preadv", "preadv2"),
    *("write", "writev", "pwrite64", "pwritev", "pwritev2"),
    *("sendfile", "sendfile64", "copy_file_range", "splice", "lseek", "_llseek"),
    *("io_submit", "io_getevents", "io_pgetevents", "io_uring_enter", "mmap", "mmap2"),
)
OTHERS = (
    *("fdatasync", "sync", "syncfs", "sync_file_range", "sync_file_range2", "msync"),
    *("fallocate", "ftruncate", "ftruncate64", "truncate", "truncate64", "flock"),
    *("rename", "renameat", "renameat2", "chdir", "fchdir"),
)
PROCESSES = ("fork", "vfork", "clone", "clone3", "execve", "execveat", "unshare")
MESSAGES = (
    *("recvfrom", "recvmsg", "sendto", "sendmsg", "socketpair", "wait4", "waitid", "futex"),
    *("poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2"),
    *("nanosleep", "clock_nanosleep", "pause", "rt_sigsuspend", "rt_sigtimedwait"),
)
"""Calls in which processes wait for each other, or for a time."""

CALLS = (*FILES, *TRANSFERS, *OTHERS, *TRACE_CALLS, *PROCESSES)
"""Calls that the reader of strace's format turns into records, or needs for the names, positions
and processes of records. Others are not among them: each traced call costs."""

NANOSECONDS = (5, 6)
"""strace reports nanoseconds since this version."""
SECCOMP = (5, 3)
"""Untraced calls do not stop since this version (--seccomp-bpf)."""


NOT_EXECUTED = re.compile(rb"(?:\d+ +)?[\d.]+ execve\(.*\) = -1 (E\w+) ")
"""First line of a trace whose program could not be executed."""


class Strace:
    """Records by strace, for any user."""

    name = "strace"
    suffix = ".strace"
    takes_more = False
    stops = True

    def __init__(self, *, messages: bool = False) -> None:
        """With `messages`, what passes between processes is recorded too, for a prediction."""
        # -yy names both ends of a socket.
        self._names = "-yy" if messages else "-y"
        self._calls = CALLS + MESSAGES if messages else CALLS

    def available(self) -> str | None:
        if shutil.which("strace") is None:
            return "strace is not installed: install the package strace"
        if version() is None:
            return "strace --version fails: install the package strace anew"
        return refusal()

    def wrap(self, command: list[str], path: Path) -> list[str]:
        # The seccomp filter is inherited and cannot be attached later.
        fast = ["--seccomp-bpf"] if (version() or (0, 0)) >= SECCOMP else []
        return ["strace", "-f", *fast, *self._flags(path), "--", *command]

    def attach(self, pids: Sequence[int], path: Path) -> list[str]:
        processes = [word for pid in pids for word in ("-p", str(pid))]
        return ["strace", "-f", "-q", *self._flags(path), *processes]

    def start_error(self, path: Path) -> OSError | None:
        # strace looks for the program itself, so its first call executes it.
        try:
            with path.open("rb") as file:
                match = NOT_EXECUTED.match(file.readline())
        except OSError:
            return None
        if match is None:
            return None
        number = getattr(errno, match[1].decode(), errno.EIO)
        return OSError(number, os.strerror(number))

    def counts(self, path: Path) -> dict[str, int]:
        return {}

    def left_out(self) -> list[str]:
        return [
            "accesses to mapped memory: maps are counted, their page faults are not",
            "requests of io_uring, which are in memory shared with the kernel",
            "file operations of the kernel for others, such as NFS servers and swapping",
        ]

    def _flags(self, path: Path) -> list[str]:
        fine = (version() or (0, 0)) >= NANOSECONDS
        times = (
            ["--absolute-timestamps=format:unix,precision:ns", "--syscall-times=ns"]
            if fine
            else ["-ttt", "-T"]
        )
        # A question mark makes strace accept calls that it does not know.
        chosen = ["-e", "trace=" + ",".join(f"?{call}" for call in self._calls)]
        # Data is not printed (-s 0).
        output = ["-s", "0", *chosen, "-e", "signal=none", "-o", str(path)]
        return [*times, self._names, *output]


@functools.cache
def refusal() -> str | None:
    """Return why no program can be traced here, as in some containers and below another tracer."""
    done = subprocess.run(
        ["strace", "-e", "trace=none", "-o", os.devnull, "--", "strace", "--version"],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode == 0:
        return None
    reason = (done.stderr.splitlines() or [f"status {done.returncode}"])[-1]
    return (
        f"programs cannot be traced here ({reason}): a tracer above, a container or"
        " /proc/sys/kernel/yama/ptrace_scope may forbid it"
    )


@functools.cache
def version() -> tuple[int, int] | None:
    """Return strace's version; None if it does not run."""
    try:
        done = subprocess.run(
            ["strace", "--version"], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r"version (\d+)\.(\d+)", done.stdout)
    return (int(match[1]), int(match[2])) if match else None
