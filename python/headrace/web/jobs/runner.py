"""The process of a job: runs its command, and leaves its exit status in the job's directory.

    python -P runner.py < DIRECTORY

It belongs to no server. It imports what commands import while it waits for the name of the
directory, and forks the command. It holds a lock on the directory as long as it runs, so that a
command is never started twice.
"""

import atexit
import fcntl
import gc
import importlib
import json
import os
import platform
import resource
import select
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

LOCK = "runner.lock"
TEMPORARY = "temporary"
"""Directory of a job's temporary files, which are removed at its end."""
SIGNALS = ((signal.SIGINT, 60.0), (signal.SIGTERM, 20.0), (signal.SIGKILL, 60.0))
"""Signals that end a command, and the seconds to wait after each. A benchmark that is interrupted
removes its files before it ends."""
CANCELLED, TIME = "cancelled", "time"
"""Reasons for which a command was ended."""
CONFINED = "headrace.confined"
"""Module whose `main` is called in the forked process. Other commands are executed."""
IMPORTS = (
    *(CONFINED, "headrace.cli.app", "headrace.cli.run_scenario", "headrace.simulate.runs"),
    *("headrace.simulate.stored_results", "headrace.store.catalogue", "typer._adapters", "numpy"),
)
"""Modules to import before there is a job. None may start a thread, as polars does: a process with
threads can neither be forked safely nor be confined."""
VARIABLES = {"OPENBLAS_NUM_THREADS": "1"}
"""Environment variables of runners: with them, numpy starts no thread."""
LOOK_S = 0.05
"""Seconds between two looks at the time limit and at a request to cancel."""


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
    begun, to_begin = os.pipe()
    try:
        command = os.fork()
    except OSError as error:
        _write(
            directory / "end.json",
            {"status": 127, "ended": time.time(), "reason": "", "error": str(error)},
        )
        return 0
    if command == 0:
        _run_command(order, directory)
    os.close(to_begin)
    # It ends when the command has closed its files, and is ready for signals.
    os.read(begun, 1)
    names = {"runner": _names(os.getpid()), "command": _names(command)}
    _write(directory / "process.json", {"boot": boot(), **names})
    end = os.pidfd_open(command)
    due, reason, ending = time.monotonic() + order["seconds"], "", Ending(command)
    while True:
        ended, status = os.waitpid(command, os.WNOHANG)
        if ended:
            break
        if not reason and cancelled:
            reason = CANCELLED
        if not reason and time.monotonic() > due:
            reason = TIME
        if reason:
            ending.go_on()
        # Until then, or at once if the command ends.
        select.select([end], [], [], LOOK_S)
    # What the command left running goes with it.
    signal_group(command, signal.SIGKILL)
    shutil.rmtree(directory / TEMPORARY, ignore_errors=True)
    _write(
        directory / "end.json",
        {"status": os.waitstatus_to_exitcode(status), "ended": time.time(), "reason": reason},
    )
    return 0


def _run_command(order: dict[str, Any], directory: Path) -> NoReturn:
    """Run the command in this process, which was forked for it, and end the process."""
    # Until the command says what it does at an interruption: Python itself leaves a traceback.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.setsid()
    _redirect(directory)
    os.chdir(directory)
    os.environ["HEADRACE_PROGRESS_FILE"] = str(directory / "progress.jsonl")
    memory = order["memory"]
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # With the lock, which is the runner's.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    command = order["command"]
    if CONFINED not in command[:4]:
        os.execvp(command[0], command)
    sys.argv = command[command.index(CONFINED) :]
    try:
        importlib.import_module(CONFINED).main()
    except SystemExit as ended:
        # The system frees the memory faster than Python does.
        atexit._run_exitfuncs()
        with suppress(OSError):
            sys.stderr.flush()
        os._exit(ended.code if isinstance(ended.code, int) else 1)
    os._exit(0)


def _redirect(directory: Path) -> None:
    """Open the standard streams of the command."""
    new = os.O_WRONLY | os.O_CREAT
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(directory / "document.json", new | os.O_TRUNC, 0o666), 1)
    os.dup2(os.open(directory / "log.txt", new | os.O_APPEND, 0o666), 2)


def _names(pid: int) -> dict[str, Any]:
    return {"pid": pid, "start": process_start(pid)}


def _write(path: Path, content: dict[str, Any]) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(content))
    partial.rename(path)


def _wait_for_job() -> int:
    """Import, and run the command of the directory that standard input names. End without one."""
    for module in IMPORTS:
        importlib.import_module(module)
    # Python starts `uname` at the first call, and saves its output.
    platform.platform()
    # The command shares the memory of what is imported.
    gc.collect()
    gc.freeze()
    name = os.fsdecode(sys.stdin.buffer.read())
    return main(Path(name)) if name else 0


if __name__ == "__main__":
    # Without the end of an interpreter with all that is imported, for which the queue would wait.
    os._exit(_wait_for_job())
