"""States of a program's threads, sampled often: the waits of the time in which none runs.

Each look reads /proc/PID/task/TID/stat of all threads and, of one that waits, its system call in
/proc/PID/task/TID/syscall (proc(5)). The look counts once, by the most active thread: one that
runs, waits for storage, is stopped by a tracer, or sleeps. The exact processor time is that of
`tree`; looks divide the rest.

Not seen: the call of another user's threads, which needs the right to trace them.
"""

import os
import platform
import stat
import time
from collections import Counter, defaultdict

from headrace.profile.counters.source import Columns, Raw, Read, Source, Watched, with_prefix

NAME = "states"
LOOK_S = 0.05
"""Mean time between two looks. The times vary, so that no periodic program hides."""
COST = 0.01
"""Largest share of a processor that the looks use: with many threads they are rarer."""
MOST_THREADS = 256
"""Threads of which a look reads the states."""

CALLS = {
    "read": ("read", "pread64", "readv", "preadv", "preadv2", "sendfile", "copy_file_range"),
    "write": ("write", "pwrite64", "writev", "pwritev", "pwritev2"),
    "sync": ("fsync", "fdatasync", "sync", "syncfs", "msync", "sync_file_range"),
    "metadata": (
        *("open", "openat", "close", "stat", "lstat", "newfstatat", "statx", "getdents64"),
        *("unlink", "unlinkat", "rename", "renameat", "renameat2", "mkdir", "mkdirat", "rmdir"),
        *("linkat", "symlinkat", "truncate", "ftruncate", "fallocate"),
    ),
    "lock": ("futex", "flock", "semtimedop", "fcntl"),
    "timer": ("nanosleep", "clock_nanosleep"),
    "child": ("wait4", "waitid"),
    "process": ("vfork", "fork", "clone", "clone3", "execve"),
    "events": ("poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait"),
    "network": ("recvfrom", "recvmsg", "sendto", "sendmsg", "connect", "accept", "accept4"),
    "requests": ("io_getevents", "io_pgetevents", "io_uring_enter"),
    "signal": ("pause", "rt_sigsuspend", "rt_sigtimedwait"),
}
"""Calls by the kind of wait."""
NUMBERS = {
    "x86_64": (
        "read=0 write=1 open=2 close=3 stat=4 lstat=6 poll=7 pread64=17 pwrite64=18 readv=19"
        " writev=20 select=23 msync=26 pause=34 nanosleep=35 sendfile=40 connect=42 accept=43"
        " sendto=44 recvfrom=45 sendmsg=46 recvmsg=47 clone=56 fork=57 vfork=58 execve=59 wait4=61"
        " fcntl=72 flock=73 fsync=74 fdatasync=75 truncate=76 ftruncate=77 rename=82 mkdir=83"
        " rmdir=84 unlink=87 rt_sigtimedwait=128 rt_sigsuspend=130 sync=162 futex=202"
        " io_getevents=208 getdents64=217 semtimedop=220 clock_nanosleep=230 epoll_wait=232"
        " waitid=247 openat=257 mkdirat=258 newfstatat=262 unlinkat=263 renameat=264 linkat=265"
        " symlinkat=266 pselect6=270 ppoll=271 sync_file_range=277 epoll_pwait=281 fallocate=285"
        " accept4=288 preadv=295 pwritev=296 syncfs=306 renameat2=316 copy_file_range=326"
        " preadv2=327 pwritev2=328 statx=332 io_pgetevents=333 io_uring_enter=426 clone3=435"
    ),
    "aarch64": (
        "io_getevents=4 epoll_pwait=22 fcntl=25 flock=32 mkdirat=34 unlinkat=35 symlinkat=36"
        " linkat=37 renameat=38 truncate=45 ftruncate=46 fallocate=47 openat=56 close=57"
        " getdents64=61 read=63 write=64 readv=65 writev=66 pread64=67 pwrite64=68 preadv=69"
        " pwritev=70 sendfile=71 pselect6=72 ppoll=73 newfstatat=79 sync=81 fsync=82 fdatasync=83"
        " sync_file_range=84 waitid=95 futex=98 nanosleep=101 clock_nanosleep=115"
        " rt_sigsuspend=133 rt_sigtimedwait=137 semtimedop=192 accept=202 connect=203 sendto=206"
        " recvfrom=207 sendmsg=211 recvmsg=212 clone=220 execve=221 msync=227 accept4=242"
        " wait4=260 syncfs=267 renameat2=276 copy_file_range=285 preadv2=286 pwritev2=287"
        " statx=291 io_pgetevents=292 io_uring_enter=426 clone3=435"
    ),
}
"""Numbers of the calls (Linux, arch/x86/entry/syscalls/syscall_64.tbl and
include/uapi/asm-generic/unistd.h)."""
OF_FILES = ("read", "write")
ON_STORAGE = ("read", "write", "sync", "metadata", "fault")
"""Kinds of waits for storage. A `fault` is an access to mapped memory."""
ASLEEP = ("lock", "timer", "child", "process", "events", "network", "requests", "signal")
STREAMS = ("pipe", "socket", "input")
"""Reads and writes of files that are none."""
KINDS = ("running", "traced", "disk", *ON_STORAGE, *ASLEEP, *STREAMS, "asleep")
"""All kinds. `disk` and `asleep` are waits of an unknown kind, in state D and S."""


def call_kinds(machine: str) -> dict[int, str]:
    """Return the kind of wait of each call by its number; empty for an unknown processor."""
    named = dict(word.split("=") for word in NUMBERS.get(machine, "").split())
    return {
        int(named[name]): kind for kind, names in CALLS.items() for name in names if name in named
    }


NEW = "new"
"""Looks that see a process which the look before did not."""
NEW_PROCESSES = f"{NAME}.{NEW}"
"""Their column."""


class ThreadStates:
    """Counts looks at the threads of some processes, by kind."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._proc = str(watched.proc)
        self._kinds = call_kinds(platform.machine())
        self._counts: dict[str, float] = defaultdict(float)
        self._processes: set[int] = set()
        self.shortest_s = LOOK_S
        """Time to the next look at least."""

    def look(self) -> None:
        """Count the present state of the program; none if it has no thread."""
        begin = time.thread_time()
        states = self._states()
        for kind, weight in most_active(states).items():
            self._counts[kind] += weight
        self.shortest_s = max(LOOK_S, (time.thread_time() - begin) / COST)

    def read(self) -> Raw:
        """Return the looks so far by kind."""
        return {kind: round(count, 3) for kind, count in self._counts.items()}

    def _states(self) -> list[tuple[str, str]]:
        """Return state and kind of wait of each thread."""
        assert self._watched.roots is not None
        waiting, done = list(self._watched.roots()), set[int]()
        states: list[tuple[str, str]] = []
        while waiting and len(states) < MOST_THREADS:
            process = waiting.pop()
            if process in done:
                continue
            done.add(process)
            base = f"{self._proc}/{process}/task"
            try:
                threads = os.listdir(base)
            except OSError:
                continue
            for thread in threads:
                path = f"{base}/{thread}"
                waiting += map(int, _text(f"{path}/children").split())
                state = _text(f"{path}/stat").rpartition(b")")[2][1:2].decode()
                if process != self._watched.tracer and state not in ("", "Z", "X"):
                    kind = self._kind(path) if state in ("S", "D") else ""
                    states.append((state, kind))
        self._counts[NEW] += bool(states and done - self._processes)
        self._processes = done
        return states

    def _kind(self, path: str) -> str:
        """Return the kind of call in which a thread waits; "" if it is unknown."""
        words = _text(f"{path}/syscall").split()
        if not words or not words[0].isdigit():
            # -1: it waits outside a call (proc(5)).
            return "fault" if words[:1] in ([b"running"], [b"-1"]) else ""
        kind = self._kinds.get(int(words[0]), "")
        if kind in OF_FILES and len(words) > 1:
            return _of_descriptor(kind, f"{path}/fd/{int(words[1], 16)}")
        return kind


def most_active(states: list[tuple[str, str]]) -> dict[str, float]:
    """Return the kinds of a look with their weights, which add up to 1.

    Parameters
    ----------
    states
        State and kind of wait of each thread. Threads that wait for others of the program are left
        out where one waits for something else.
    """
    letters = {state for state, _ in states}
    if "R" in letters:
        return {"running": 1.0}
    kinds = [kind for state, kind in states if state == "D" or kind in ON_STORAGE[:-1]]
    if kinds:
        kinds = [kind if kind in (*ON_STORAGE, *ASLEEP) else "disk" for kind in kinds]
        storage = [kind for kind in kinds if kind in ON_STORAGE] or kinds
        return _weights(storage)
    if "t" in letters:
        return {"traced": 1.0}
    asleep = [kind or "asleep" for state, kind in states if state in ("S", "I", "T")]
    asleep = ["asleep" if kind == "fault" else kind for kind in asleep]
    return _weights([kind for kind in asleep if kind != "child"] or asleep)


def _weights(kinds: list[str]) -> dict[str, float]:
    return {kind: count / len(kinds) for kind, count in Counter(kinds).items()}


def _of_descriptor(kind: str, path: str) -> str:
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return kind
    if stat.S_ISFIFO(mode):
        return "pipe"
    if stat.S_ISSOCK(mode):
        return "socket"
    return "input" if stat.S_ISCHR(mode) else kind


def _text(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read(4096)
    except OSError:
        return b""


def _open(watched: Watched) -> Read | None:
    own = f"{watched.proc}/self/task/{os.getpid()}/children"
    if watched.roots is None or not os.path.exists(own):
        return None
    states = ThreadStates(watched)
    watched.looks.append(states)
    return states.read


def rates(before: Raw, after: Raw, seconds: float) -> Columns:
    """Return the looks of an interval by kind."""
    return with_prefix(NAME, {kind: after[kind] - before.get(kind, 0.0) for kind in after})


SOURCE = Source(NAME, _open, rates)
