"""The processes of a testbed.

They have its token in their environment. Some overwrite that (mfsmount does, to show its mount
point in lists of processes): these are known by the network or the control group of their host.
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
"""The process that keeps a host's namespaces."""

PROC = Path("/proc")
PATIENCE_S = 4.0
"""Between asking a process to end and ending it."""
PAUSE_S = 0.02


def marks(lab: Lab, host: str) -> dict[str, str]:
    """What a host's processes have in their environment."""
    return {TOKEN: lab.token, HOST: host}


def processes(lab: Lab, host: str | None = None) -> list[int]:
    """Those of a testbed, or of one host of it."""
    marked = set(_marked(lab, host))
    networks = {_network(it) for it in marked} - {_network(1), _network(os.getpid()), None}
    within = _in_groups(lab, host)
    return sorted(
        number
        for number in _numbers()
        if number in marked or number in within or _network(number) in networks
    )


def holder(lab: Lab, host: str) -> int | None:
    """The process that keeps a host's namespaces; None if there is none."""
    return next(_marked(lab, host, holders=True), None)


def holder_within(lab: Lab, host: str, seconds: float) -> int | None:
    """The same, waited for: while one program takes the place of another, as the one that makes
    the namespaces and the one that keeps them do, its environment cannot be read."""
    deadline = time.monotonic() + seconds
    while (found := holder(lab, host)) is None and time.monotonic() <= deadline:
        time.sleep(0.005)
    return found


def command(number: int) -> str:
    """What a process was started as."""
    try:
        words = (PROC / str(number) / "cmdline").read_bytes()
    except OSError:
        return ""
    return words.replace(b"\0", b" ").decode(errors="replace").strip()


def program(number: int) -> str:
    """The name of the program that a process carries out; nothing of one that has ended."""
    words = command(number).split()
    return Path(words[0]).name if words else ""


def end(lab: Lab) -> None:
    """Ends all processes of a testbed: asks all but those that keep the namespaces, ends what
    is left of them, and then those, by which others are known."""
    _end(signal.SIGTERM, lambda: _served(lab))
    _end(signal.SIGKILL, lambda: _served(lab))
    _end(signal.SIGKILL, lambda: set(processes(lab)))


def _served(lab: Lab) -> set[int]:
    return set(processes(lab)) - set(_marked(lab, holders=True))


def _end(how: signal.Signals, found: Callable[[], set[int]]) -> None:
    """Sends a signal to some processes, and waits until they have gone."""
    for number in found():
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, how)
    deadline = time.monotonic() + PATIENCE_S
    while found() and time.monotonic() < deadline:
        time.sleep(PAUSE_S)


def _marked(lab: Lab, host: str | None = None, *, holders: bool = False) -> Iterator[int]:
    """Those that have the token in their environment; those that have ended have none."""
    wanted = {f"{TOKEN}={lab.token}".encode()}
    if host is not None:
        wanted.add(f"{HOST}={host}".encode())
    if holders:
        wanted.add(f"{HOLDER}=1".encode())
    for number in _numbers():
        with contextlib.suppress(OSError):
            words = (PROC / str(number) / "environ").read_bytes()
            if wanted <= set(words.split(b"\0")):
                yield number


def _in_groups(lab: Lab, host: str | None) -> set[int]:
    """Those in the control group of a host, or of any."""
    group = cgroups.of_host(lab.name, host or "*")
    if group is None:
        return set()
    found: set[int] = set()
    for path in group.parent.glob(f"{group.name}/cgroup.procs"):
        with contextlib.suppress(OSError):
            found.update(map(int, path.read_text(encoding="ascii").split()))
    return found


def _network(number: int) -> str | None:
    """The network that a process has, by the kernel's name of it."""
    try:
        return os.readlink(PROC / str(number) / "ns" / "net")
    except OSError:
        return None


def _numbers() -> list[int]:
    """Of all processes but this one."""
    numbers = [int(folder.name) for folder in PROC.iterdir() if folder.name.isdigit()]
    return [number for number in numbers if number != os.getpid()]
