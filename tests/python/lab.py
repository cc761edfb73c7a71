"""Laboratories for tests: what this machine lacks for them, and what it looks like."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headrace.lab import groups

EXT3 = """
system = "ext3"

[machine.memory]
size = "256 MiB"

[machine.device]
kind = "throttled"
rate = "1 GB/s"
read_rate = "40 MB/s"
write_rate = "20 MB/s"

[machine.read_ahead]
window = "64 KiB"

[lab]
image = "1 GiB"
mount_options = "noatime"

[[workload]]
block = "16 MiB"
transfer = "256 KiB"
phases = ["write", "read"]
io = { direct = true }
"""


def lab(*arguments: object, **more: Any) -> "subprocess.CompletedProcess[str]":
    """The real command."""
    command = [sys.executable, "-m", "headrace", "lab", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **more)


def done(*arguments: object) -> str:
    """The same; it must end well."""
    ended = lab(*arguments)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def skip_unless_possible(*programs: str) -> None:
    """Skips the test, and says why, where no laboratory can be made."""
    if os.geteuid() != 0:
        pytest.skip("a laboratory takes root")
    for program in ("ip", "tc", "losetup", "unshare", "nsenter", *programs):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    if not Path("/dev/loop-control").exists():
        pytest.skip("there are no loop devices here")
    if subprocess.run(["unshare", "--net", "--mount", "true"]).returncode != 0:
        pytest.skip("no namespaces can be made here")


def machine() -> dict[str, Any]:
    """What a laboratory could leave behind on this machine, without what others do meanwhile."""
    blkio = groups.hierarchy("blkio")
    memory = groups.hierarchy("memory")
    numbers = [int(it.name[4:]) for it in Path("/sys/block").glob("loop*")]
    return {
        "loop devices": sorted(it for it in numbers if it >= 100),
        "mounts": _lines("/proc/self/mounts", lambda line: "headrace/labs" in line),
        "links": sorted(it.name for it in Path("/sys/class/net").iterdir()),
        "groups": sorted(map(str, memory.top.glob("headrace*"))) if memory else [],
        "limits": sorted(
            line
            for path in (blkio.top.glob("blkio.throttle.*_device") if blkio else [])
            for line in _lines(path, lambda line: int(line.split()[0].split(":")[1]) >= 100)
        ),
        "processes": _processes(),
        "folders": sorted(map(str, Path("/var/lib/headrace").glob("**"))),
    }


def _lines(path: str | Path, wanted: Callable[[str], bool]) -> list[str]:
    return [line for line in Path(path).read_text().splitlines() if line and wanted(line)]


def _processes() -> list[str]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if b"\0HEADRACE_LAB=" in b"\0" + (folder / "environ").read_bytes():
                    found.append((folder / "cmdline").read_text())
            except OSError:
                continue
    return found


@contextlib.contextmanager
def as_before() -> Iterator[dict[str, Any]]:
    """What the machine looks like, and must look like at the end. Tests that other processes
    run at the same time wait for each other here."""
    with (Path(tempfile.gettempdir()) / "headrace-test-lab.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = machine()
        yield found
        assert machine() == found
