"""Testbeds for tests: what this machine lacks for them, and what it looks like."""

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

from headrace.lab import cgroups
from headrace.lab.state import LABS
from headrace.lab.steps.loop_device import FIRST, locked_control, name_of_loop_device

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
    """Skips the test, and says why, where no testbed can be made."""
    if os.geteuid() != 0:
        pytest.skip("a testbed takes root")
    for program in ("ip", "tc", "losetup", "unshare", "nsenter", *programs):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    if not Path("/dev/loop-control").exists():
        pytest.skip("there are no loop devices here")
    if subprocess.run(["unshare", "--net", "--mount", "true"]).returncode != 0:
        pytest.skip("no namespaces can be made here")


OWN = f"-{os.getpid()}"
"""How the names of this process's testbeds end: others may stand on the machine meanwhile."""


def machine() -> dict[str, Any]:
    """What this process's testbeds could leave behind on the machine.

    Of what carries no name, what belongs to nobody: a loop device without a file, limits of a
    device that is gone, a process whose testbed is gone. No other testbed has such things
    while loop devices cannot be added or removed.
    """
    blkio = cgroups.hierarchy("blkio")
    memory = cgroups.hierarchy("memory")
    with locked_control():
        devices = [int(it.name[4:]) for it in Path("/sys/block").glob("loop*")]
        return {
            "loop devices": sorted(it for it in devices if it >= FIRST and _is_own(it)),
            "mounts": _lines("/proc/self/mounts", lambda line: f"{OWN}/" in line),
            "groups": sorted(map(str, memory.top.glob(f"headrace*{OWN}"))) if memory else [],
            "limits": sorted(
                line
                for path in (blkio.top.glob("blkio.throttle.*_device") if blkio else [])
                for line in _lines(path, lambda line: _minor(line) not in devices)
                if _minor(line) >= FIRST
            ),
            "processes": _orphans(),
            "folders": sorted(str(it) for it in LABS.glob(f"*{OWN}")),
        }


def _is_own(device: int) -> bool:
    name = name_of_loop_device(device)
    return name is None or name.split(b"/")[0].decode(errors="replace").endswith(OWN)


def _minor(line: str) -> int:
    return int(line.split()[0].split(":")[1])


def _lines(path: str | Path, wanted: Callable[[str], bool]) -> list[str]:
    return [line for line in Path(path).read_text().splitlines() if line and wanted(line)]


def _orphans() -> list[str]:
    """Processes whose testbed is gone, and those of this process's testbeds."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "environ").read_bytes().split(b"\0")
                command = (folder / "cmdline").read_text()
            except OSError:
                continue
            tokens = [it.decode() for it in words if it.startswith(b"HEADRACE_LAB=")]
            if any(_lab_of(it.partition("=")[2]).endswith(OWN) for it in tokens):
                found.append(command)
    return found


def _lab_of(token: str) -> str:
    """The name of the testbed of a token; as one's own if it is gone."""
    for journal in LABS.glob("*/journal"):
        with contextlib.suppress(OSError):
            if f'"{token}"' in journal.read_text().partition("\n")[0]:
                return journal.parent.name
    return OWN


@contextlib.contextmanager
def as_before() -> Iterator[dict[str, Any]]:
    """What this process's testbeds have left on the machine, which must be the same at the
    end. Tests of other processes wait here: what is measured in two testbeds at once is
    neither's."""
    with (Path(tempfile.gettempdir()) / "headrace-test-lab.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = machine()
        yield found
        assert machine() == found
