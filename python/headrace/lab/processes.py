"""Find and terminate the processes of a testbed.

They have its token in their environment. Some programs overwrite their environment: mfsmount shows
its mount point there. Such processes are found by network namespace or control group.
"""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from headrace.lab import cgroups
from headrace.lab.state import Lab

TOKEN = "HEADRACE_LAB"
HOST = "HEADRACE_LAB_HOST"
HOLDER = "HEADRACE_LAB_HOLDER"
"""Marks the process that holds a host's namespaces."""

PROC = Path("/proc")
PATIENCE_S = 4.0
"""Seconds between SIGTERM and SIGKILL."""
PAUSE_S = 0.02


def marks(lab: Lab, host: str) -> dict[str, str]:
    """Return the environment variables of a host's processes."""
    return {TOKEN: lab.token, HOST: host}


def processes(lab: Lab, host: str | None = None) -> list[int]:
    """Return the processes of a testbed, or of one of its hosts."""
    marked = set(_marked(lab, host))
    networks = {_network(number) for number in marked} - {_network(1), _network(os.getpid()), None}
    within = _in_groups(lab, host)
    return sorted(
        number
        for number in _numbers()
        if number in marked or number in within or _network(number) in networks
    )


def holder(lab: Lab, host: str) -> int | None:
    """Return the process that holds a host's namespaces; None if there is none."""
    return next(_marked(lab, host, holders=True), None)


def holder_within(lab: Lab, host: str, seconds: float) -> int | None:
    """Wait up to `seconds` for the holder process. Its environment is unreadable during exec."""
    deadline = time.monotonic() + seconds
    while (number := holder(lab, host)) is None and time.monotonic() <= deadline:
        time.sleep(0.005)
    return number


def command(number: int) -> str:
    """Return the command line of a process."""
    try:
        words = (PROC / str(number) / "cmdline").read_bytes()
    except OSError:
        return ""
    return words.replace(b"\0", b" ").decode(errors="replace").strip()


def program(number: int) -> str:
    """Return the program name of a process; empty if it has exited."""
    words = command(number).split()
    return Path(words[0]).name if words else ""


def end(lab: Lab) -> None:
    """Terminate all processes of a testbed: first those that do not hold namespaces, then the
    holders, by which others are found."""
    _end(signal.SIGTERM, lambda: _served(lab))
    _end(signal.SIGKILL, lambda: _served(lab))
    _end(signal.SIGKILL, lambda: set(processes(lab)))


def _served(lab: Lab) -> set[int]:
    return set(processes(lab)) - set(_marked(lab, holders=True))


def _end(how: signal.Signals, members: Callable[[], set[int]]) -> None:
    """Signal processes and wait until they have exited."""
    for number in members():
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, how)
    deadline = time.monotonic() + PATIENCE_S
    while members() and time.monotonic() < deadline:
        time.sleep(PAUSE_S)


def _marked(lab: Lab, host: str | None = None, *, holders: bool = False) -> Iterator[int]:
    """Yield the processes with the token in their environment; zombies have no environment."""
    token = {f"{TOKEN}={lab.token}".encode()}
    if host is not None:
        token.add(f"{HOST}={host}".encode())
    if holders:
        token.add(f"{HOLDER}=1".encode())
    for number in _numbers():
        with contextlib.suppress(OSError):
            words = (PROC / str(number) / "environ").read_bytes()
            if token <= set(words.split(b"\0")):
                yield number


def _in_groups(lab: Lab, host: str | None) -> set[int]:
    """Return the processes in the control group of a host, or of all hosts."""
    group = cgroups.of_host(lab.name, host or "*")
    if group is None:
        return set()
    numbers: set[int] = set()
    for path in group.parent.glob(f"{group.name}/cgroup.procs"):
        with contextlib.suppress(OSError):
            numbers.update(map(int, path.read_text(encoding="ascii").split()))
    return numbers


def _network(number: int) -> str | None:
    """Return the identifier of a process's network namespace."""
    try:
        return os.readlink(PROC / str(number) / "ns" / "net")
    except OSError:
        return None


def _numbers() -> list[int]:
    """Return all processes except this one."""
    numbers = [int(folder.name) for folder in PROC.iterdir() if folder.name.isdigit()]
    return [number for number in numbers if number != os.getpid()]
