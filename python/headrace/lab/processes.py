"""The processes of a laboratory: all that have its token in their environment."""

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from headrace.lab.state import Lab

TOKEN = "HEADRACE_LAB"
HOST = "HEADRACE_LAB_HOST"
HOLDER = "HEADRACE_LAB_HOLDER"
"""The process that keeps a host's namespaces."""

PATIENCE_S = 4.0
"""Between asking a process to end and ending it."""
PAUSE_S = 0.02


def marks(lab: Lab, host: str) -> dict[str, str]:
    """What a host's processes have in their environment."""
    return {TOKEN: lab.token, HOST: host}


def processes(lab: Lab, host: str | None = None) -> list[int]:
    """Those of a laboratory, or of one host of it."""
    wanted = {f"{TOKEN}={lab.token}"}
    if host is not None:
        wanted.add(f"{HOST}={host}")
    return [number for number, words in _environments() if wanted <= words]


def holder(lab: Lab, host: str) -> int | None:
    """The process that keeps a host's namespaces; None if there is none."""
    wanted = {f"{TOKEN}={lab.token}", f"{HOST}={host}", f"{HOLDER}=1"}
    found = [number for number, words in _environments() if wanted <= words]
    return found[0] if found else None


def command(number: int) -> str:
    """What a process was started as."""
    try:
        words = (Path("/proc") / str(number) / "cmdline").read_bytes()
    except OSError:
        return ""
    return words.replace(b"\0", b" ").decode(errors="replace").strip()


def end(lab: Lab) -> None:
    """Ends all processes of a laboratory: asks them, then those that keep the namespaces, then
    ends what is left."""
    _ask(set(processes(lab)) - set(_holders(lab)))
    _gone(lambda: set(processes(lab)) - set(_holders(lab)), PATIENCE_S)
    for number in processes(lab):
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    _gone(lambda: set(processes(lab)), PATIENCE_S)


def _ask(numbers: set[int]) -> None:
    for number in numbers:
        with contextlib.suppress(ProcessLookupError):
            os.kill(number, signal.SIGTERM)


def _gone(left: Callable[[], set[int]], seconds: float) -> None:
    """Waits until none are left."""
    deadline = time.monotonic() + seconds
    while left() and time.monotonic() < deadline:
        time.sleep(PAUSE_S)


def _holders(lab: Lab) -> list[int]:
    wanted = {f"{TOKEN}={lab.token}", f"{HOLDER}=1"}
    return [number for number, words in _environments() if wanted <= words]


def _environments() -> Iterator[tuple[int, set[str]]]:
    """Of all processes but this one; those that have ended have none."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                words = (folder / "environ").read_bytes()
            except OSError:
                continue
            if words:
                yield int(folder.name), {it.decode(errors="replace") for it in words.split(b"\0")}
