"""The testbed of the programs: a host with a throttled disk."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from headrace import lab

HERE = Path(__file__).parent
SCENARIO = HERE / "testbed.toml"
NAME, HOST = "verdicts", "client-0"


@contextlib.contextmanager
def testbed(name: str = NAME, *sets: str) -> Iterator[lab.Lab]:
    """Build the testbed and remove it at the end.

    `sets` override values of the scenario, such as `machine.device.read_rate="80 MB/s"`.
    """
    headrace = [sys.executable, "-m", "headrace", "lab"]
    options = [str(SCENARIO), "--name", name]
    overrides = [word for it in sets for word in ("--set", it)]
    subprocess.run([*headrace, "down", *options], check=True, stdout=subprocess.DEVNULL)
    try:
        subprocess.run(
            [*headrace, "up", *options, *overrides], check=True, stdout=subprocess.DEVNULL
        )
        yield lab.existing(name)
    finally:
        subprocess.run([*headrace, "down", *options], check=True, stdout=subprocess.DEVNULL)


@contextlib.contextmanager
def niceness(value: int) -> Iterator[None]:
    """Change the niceness of this process, and of its session where the scheduler groups
    processes by sessions (sched(7), the autogroup feature)."""
    session = Path("/proc/self/autogroup")
    if value == 0:
        yield
        return
    before = session.read_text().split()[-1] if session.exists() else None
    os.setpriority(os.PRIO_PROCESS, 0, value)
    if before is not None:
        session.write_text(str(value))
    try:
        yield
    finally:
        if before is not None:
            session.write_text(before)


def compile_programs(sources: Path, folder: Path) -> None:
    """Compile all programs of a directory into another one."""
    for source in sources.glob("*.c"):
        subprocess.run(
            ["cc", "-O2", "-Wall", "-pthread", "-o", folder / source.stem, source], check=True
        )
