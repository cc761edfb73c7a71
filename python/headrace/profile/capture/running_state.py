"""The state of running processes at the start of a capture, as lines in strace's format.

A trace of a program that runs already lacks the calls that made its threads and opened its files.
These lines stand for them. They say which threads share descriptors, and the position of a process
in each open file.
"""

import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Sequence

THREAD = "CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD"
POSITION = re.compile(rb"^pos:\s*(\d+)", re.MULTILINE)
APPEND = re.compile(rb"^flags:\s*([0-7]+)", re.MULTILINE)


STATE_THREAD = re.compile(rb"(\d+) \S+ clone\(.*CLONE_THREAD\) = (\d+) ")
STATE_POSITION = re.compile(rb"(\d+) (\S+) lseek\((\d+)<")
CALL_ON_FILE = re.compile(rb"(\d+) +(\d+\.\d+) \w+\((\d+)<")
READINGS = 5
"""Readings of a position until two in a row agree: a call between them would count twice."""


def running_state(processes: Sequence[int], first: int, since: int) -> Iterator[str]:
    """Yield the lines of some processes.

    Args:
        processes: The processes, recorded by now.
        first: The process that counts as the parent of all.
        since: Time before the first record of them, in nanoseconds since 1970.
    """
    for process in processes:
        if process != first:
            yield _line(first, "clone(child_stack=NULL, flags=SIGCHLD)", process, since)
        for thread in _numbers(f"/proc/{process}/task"):
            if thread != process:
                yield _line(process, f"clone(child_stack=NULL, flags={THREAD})", thread, since)
    for process in processes:
        for descriptor in _numbers(f"/proc/{process}/fd"):
            place = _position(process, descriptor)
            for _ in range(READINGS):
                now, again = time.time_ns(), _position(process, descriptor)
                if again == place:
                    break
                place = again
            if place is not None:
                name, position = place
                call = f"lseek({descriptor}<{name}>, {position}, SEEK_SET)"
                yield _line(process, call, position, now)


def _line(process: int, call: str, result: int, now: int) -> str:
    return f"{process} {now // 10**9}.{now % 10**9:09} {call} = {result} <0.000000000>\n"


class PositionTimes:
    """Times from which on the positions in open files are known, by thread and descriptor."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        """Read the lines of `running_state`."""
        threads: dict[bytes, list[bytes]] = {}
        self._known: dict[tuple[bytes, bytes], float] = {}
        for line in lines:
            if thread := STATE_THREAD.match(line):
                threads.setdefault(thread[1], []).append(thread[2])
            elif position := STATE_POSITION.match(line):
                for each in (position[1], *threads.get(position[1], ())):
                    self._known[each, position[3]] = float(position[2])

    def precedes(self, line: bytes) -> bool:
        """Return whether a call on a file came before its position was known."""
        call = CALL_ON_FILE.match(line)
        return call is not None and float(call[2]) < self._known.get((call[1], call[3]), 0.0)


def _numbers(directory: str) -> list[int]:
    try:
        return sorted(int(name) for name in os.listdir(directory) if name.isdigit())
    except OSError:
        return []


def _position(process: int, descriptor: int) -> tuple[str, int] | None:
    """Return name and position of an open regular file; None for others."""
    path = f"/proc/{process}/fd/{descriptor}"
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        name = os.readlink(path)
        with open(f"/proc/{process}/fdinfo/{descriptor}", "rb") as file:
            text = file.read()
    except OSError:
        return None
    position, flags = POSITION.search(text), APPEND.search(text)
    # The reader knows where an appended write goes.
    if position is None or flags is None or int(flags[1], 8) & os.O_APPEND:
        return None
    return escaped(name), int(position[1])


def escaped(name: str) -> str:
    """Return a name as strace prints it."""
    return "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\<>' else f"\\{byte:03o}"
        for byte in os.fsencode(name)
    )
