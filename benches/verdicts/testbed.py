"""The testbed of the programs: a host with a throttled disk."""

import contextlib
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


def compile_programs(sources: Path, folder: Path) -> None:
    """Compile all programs of a directory into another one."""
    for source in sources.glob("*.c"):
        subprocess.run(
            ["cc", "-O2", "-Wall", "-pthread", "-o", folder / source.stem, source], check=True
        )
