"""Ctrl-C and SIGTERM end the long computations of real commands."""

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from web_scenarios import UNENDING

COUNTERS = "\n".join(
    [
        'name = "counters"',
        *(f"[places.p{i}]\ninitial = 200\n[places.q{i}]\n[places.r{i}]" for i in range(8)),
        "[transitions]",
        *(
            f'go{a}{b}{i} = {{ take = "{a}{i}", put = "{b}{i}" }}'
            for i in range(8)
            for a, b in ("pq", "qr", "rp")
        ),
    ]
)
"""A net with more markings than any memory holds."""

ENDLESS = """
name = "endless"
[stations.a]
service = "1 ns"
initial = 1
[transitions.again]
take = "a"
put = "a"
"""

OBSERVED = f"""{ENDLESS}
[monitors.tokens]
kind = "marking"
value = "a"
"""

COMMANDS = {
    "state space": ["net", "check", "counters.toml", "--max-markings", "4294967295"],
    "net": ["net", "run", "endless.toml", "--until", "200 d"],
    "net with monitors": ["net", "run", "observed.toml", "--until", "200 d"],
    "scenario": ["run", "unending.toml"],
}
FILES = {
    "counters.toml": COUNTERS,
    "endless.toml": ENDLESS,
    "observed.toml": OBSERVED,
    "unending.toml": UNENDING,
}
SIGNALS = [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "ended by SIGTERM")]


def is_computing(process: int) -> bool:
    """Return true if a thread of the process does long work of the extension."""
    names = []
    for thread in Path(f"/proc/{process}/task").glob("*/comm"):
        try:
            names.append(thread.read_text().strip())
        except OSError:
            continue
    return bool({"headrace-work", "headrace-run"} & set(names))


def is_soon(condition: "object", seconds: float = 120.0) -> bool:
    assert callable(condition)
    patience = time.monotonic() + seconds
    while not condition() and time.monotonic() < patience:
        time.sleep(0.01)
    return bool(condition())


def started(*arguments: str, cwd: Path, stdin: int | None = None) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "headrace", *arguments],
        stdin=subprocess.DEVNULL if stdin is None else stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
    )


def is_under_way(process: "subprocess.Popen[str]") -> bool:
    return is_computing(process.pid) or process.poll() is not None


def computing(*arguments: str, cwd: Path) -> "subprocess.Popen[str]":
    """Start a command that computes for hours, and return its process once it does.

    A loaded virtual machine may give a process no processor for minutes: another is started then.
    """
    for _ in range(5):
        process = started(*arguments, cwd=cwd)
        # Reading the document is such work, too, but short.
        is_soon(partial(is_under_way, process), 40)
        if process.poll() is not None:
            pytest.fail(f"ended with {process.returncode}: {process.communicate()}")
        if is_computing(process.pid):
            return process
        process.kill()
        process.communicate()
    pytest.fail("no process came to compute")


def ends(process: "subprocess.Popen[str]", number: int, status: int, message: str) -> None:
    assert process.poll() is None
    process.send_signal(number)
    # Each would end by itself after hours or never.
    _, errors = process.communicate(timeout=120)
    assert process.returncode == status, errors
    assert errors.splitlines()[-1].startswith(message)
    assert "Traceback" not in errors


@pytest.mark.parametrize(("number", "status", "message"), SIGNALS)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_signal_ends_a_computation(
    name: str, number: int, status: int, message: str, tmp_path: Path
) -> None:
    for file, text in FILES.items():
        (tmp_path / file).write_text(text)
    more = ["--state-space"] if name == "state space" else []
    process = computing(*COMMANDS[name], *more, cwd=tmp_path)
    try:
        ends(process, number, status, message)
    finally:
        process.kill()


@pytest.mark.parametrize(("number", "status", "message"), SIGNALS)
def test_a_signal_ends_the_reading_of_a_trace_without_records(
    number: int, status: int, message: str, tmp_path: Path
) -> None:
    """All of a trace is one batch if hardly a line is a record."""
    read_end, write_end = os.pipe()
    record = b'1 1795297771.219264 read(3</etc/hosts>, "", 4096) = 0 <0.000007>\n'
    written = threading.Event()

    def write() -> None:
        try:
            os.write(write_end, record)
            while True:
                os.write(write_end, b"no record\n" * 6000)
                written.set()
        except BrokenPipeError:
            os.close(write_end)

    process = started("trace", "info", "-", "--format", "strace", cwd=tmp_path, stdin=read_end)
    os.close(read_end)
    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        assert is_soon(lambda: written.is_set() and is_computing(process.pid))
        ends(process, number, status, message)
    finally:
        process.kill()
        writer.join(60)
