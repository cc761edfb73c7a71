"""The process of a job: runs its command, and leaves its exit status in the job's directory.

    python -m headrace.web.jobs.runner DIRECTORY

It belongs to no server, and imports little.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

GRACE_S = 20.0
"""Time for a command to end after SIGINT, and again after SIGTERM."""


def process_start(pid: int) -> str | None:
    """Return the start time of a process in clock ticks; None if it is gone or a zombie.

    Number and start time together name a process, also after its number is used again.
    """
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if words[0] in "ZX" else words[19]


def main(directory: Path) -> int:
    """Run the command of a job's directory."""
    order = json.loads((directory / "order.json").read_text())
    cancelled = False

    def cancel(_number: int, _frame: object) -> None:
        nonlocal cancelled
        cancelled = True

    signal.signal(signal.SIGTERM, cancel)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with (directory / "document.json").open("wb") as out, (directory / "log.txt").open("ab") as log:
        process = subprocess.Popen(
            order["command"],
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=log,
            env=os.environ | {"HEADRACE_PROGRESS_FILE": str(directory / "progress.jsonl")},
            start_new_session=True,
            preexec_fn=lambda: _limit(order["memory"]),
        )
    _write(directory / "process.json", _names(os.getpid()) | {"command": _names(process.pid)})
    due, reason = time.monotonic() + order["seconds"], ""
    signals = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]
    next_signal = 0.0
    while process.poll() is None:
        if not reason and cancelled:
            reason = "cancelled"
        if not reason and time.monotonic() > due:
            reason = f"stopped after the limit of {order['seconds']:,.0f} s"
        if reason and signals and time.monotonic() >= next_signal:
            _signal_group(process.pid, signals.pop(0))
            next_signal = time.monotonic() + GRACE_S
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
    # What the command left running goes with it.
    _signal_group(process.pid, signal.SIGKILL)
    _write(
        directory / "end.json",
        {"status": process.returncode, "ended": time.time(), "reason": reason},
    )
    return 0


def _limit(memory: int) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _names(pid: int) -> dict[str, Any]:
    return {"pid": pid, "start": process_start(pid)}


def _signal_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        return


def _write(path: Path, content: dict[str, Any]) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(json.dumps(content))
    partial.rename(path)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
