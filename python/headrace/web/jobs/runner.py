"""The process of a job: runs its command, and leaves its exit status in the job's directory.

    python -P runner.py DIRECTORY

It belongs to no server, and imports the standard library only. It holds a lock on the directory as
long as it runs, so that a command is never started twice.
"""

import fcntl
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

LOCK = "runner.lock"
TEMPORARY = "temporary"
"""Directory of a job's temporary files, which are removed at its end."""
SIGNALS = ((signal.SIGINT, 60.0), (signal.SIGTERM, 20.0), (signal.SIGKILL, 60.0))
"""Signals that end a command, and the seconds to wait after each. A benchmark that is interrupted
removes its files before it ends."""
CANCELLED, TIME = "cancelled", "time"
"""Reasons for which a command was ended."""


def process_start(pid: int) -> str | None:
    """Return the start time of a process in clock ticks; None if it is gone or a zombie.

    Number and start time together name a process, also after its number is used again.
    """
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if words[0] in "ZX" else words[19]


def boot() -> str:
    """Return the identifier of this start of the machine."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def lock(directory: Path) -> int | None:
    """Take the lock of a job's directory and return its descriptor; None if another has it."""
    file = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return None
    return file


class Ending:
    """Ends the processes of a command by one signal after another."""

    def __init__(self, group: int) -> None:
        self._group = group
        self._left = list(SIGNALS)
        self._next = 0.0

    def go_on(self) -> None:
        """Send the next signal if it is due."""
        if self._left and time.monotonic() >= self._next:
            number, wait = self._left.pop(0)
            signal_group(self._group, number)
            self._next = time.monotonic() + wait


def signal_group(group: int, number: int) -> None:
    """Send a signal to a group of processes, if there are any."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return


def main(directory: Path) -> int:
    """Run the command of a job's directory, unless it has been run."""
    held = lock(directory)
    if held is None or (directory / "process.json").exists():
        return 0
    order = json.loads((directory / "order.json").read_text())
    cancelled = False

    def cancel(_number: int, _frame: object) -> None:
        nonlocal cancelled
        cancelled = True

    signal.signal(signal.SIGTERM, cancel)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _write(directory / "process.json", {"boot": boot(), "runner": _names(os.getpid())})
    try:
        process = _started(order, directory)
    except OSError as error:
        _write(
            directory / "end.json",
            {"status": 127, "ended": time.time(), "reason": "", "error": str(error)},
        )
        return 0
    names = {"runner": _names(os.getpid()), "command": _names(process.pid)}
    _write(directory / "process.json", {"boot": boot(), **names})
    due, reason, ending = time.monotonic() + order["seconds"], "", Ending(process.pid)
    while process.poll() is None:
        if not reason and cancelled:
            reason = CANCELLED
        if not reason and time.monotonic() > due:
            reason = TIME
        if reason:
            ending.go_on()
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
    # What the command left running goes with it.
    signal_group(process.pid, signal.SIGKILL)
    shutil.rmtree(directory / TEMPORARY, ignore_errors=True)
    _write(
        directory / "end.json",
        {"status": process.returncode, "ended": time.time(), "reason": reason},
    )
    return 0


def _started(order: dict[str, Any], directory: Path) -> "subprocess.Popen[bytes]":
    with (directory / "document.json").open("wb") as out, (directory / "log.txt").open("ab") as log:
        return subprocess.Popen(
            order["command"],
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=log,
            env=os.environ | {"HEADRACE_PROGRESS_FILE": str(directory / "progress.jsonl")},
            start_new_session=True,
            preexec_fn=lambda: _limit(order["memory"]),
        )


def _limit(memory: int) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Until the command says what it does at an interruption: Python itself leaves a traceback.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _names(pid: int) -> dict[str, Any]:
    return {"pid": pid, "start": process_start(pid)}


def _write(path: Path, content: dict[str, Any]) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(content))
    partial.rename(path)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
