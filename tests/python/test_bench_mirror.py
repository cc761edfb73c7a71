"""The mirror of a directory, whose requests are counted, and tuning with it."""

import contextlib
import errno
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command import without_need
from conftest import Command
from headrace import RunError, _core, measure
from headrace.measure import tuning
from headrace.measure.tuning import mirror as mirrors
from headrace.measure.tuning.mirror_connection import Connection
from headrace.measure.tuning.profile import count_requests

EVERYTHING = """
[clients]
processes = 4
[[workload]]
kind = "operation-mix"
weights = {{ {weights} }}
amount = 2000
files = 20
file_sizes = {{ "1 KiB" = 1, "64 KiB" = 1 }}
read_sizes = {{ "3 KiB" = 1, "20 KiB" = 1 }}
write_sizes = {{ "1 KiB" = 1, "9 KiB" = 1 }}
append_share = 0.5
io = {{ verify = true }}
"""


def found(below: Path, pattern: str) -> list[Path]:
    """What is there, but for a moment at which a folder goes that was just there."""
    with contextlib.suppress(FileNotFoundError):
        return list(below.glob(pattern))
    return []


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[tuning.Watched]:
    """A mirror of an empty directory."""
    try:
        with tuning.profiler("fuse")(tmp_path) as mirrored:
            yield mirrored
    except OSError as error:
        pytest.skip(f"nothing can be mounted through FUSE here: {error}")


def is_mounted(at: Path) -> bool:
    return f" {at} " in Path("/proc/self/mountinfo").read_text(encoding="utf-8")


def test_every_operation_works_in_a_mirror_and_reads_what_was_written(
    watched: tuning.Watched, tmp_path: Path
) -> None:
    names = [name for name, _, _ in _core.operations()]
    weights = ", ".join(f'"{name}" = 1' for name in names)
    measured = measure.measure(measure.load(EVERYTHING.format(weights=weights)), watched.below)
    assert not measured.partial, measured.document.get("error")
    assert set(measured.document["operations"]) == set(names)
    # All is removed in the directory, too.
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("operation", "causes"),
    [
        ("direct-read", {"read": 100}),
        ("direct-write", {"write": 100}),
        ("sync", {"commit": 100}),
        ("stat", {"lookup": 100, "getattr": 100}),
        ("fstat", {"getattr": 100}),
        ("access", {"lookup": 100, "access": 100}),
        ("setattr", {"lookup": 100, "setattr": 100}),
        ("create", {"lookup": 100, "create": 100}),
        ("mkdir", {"lookup": 100, "mkdir": 100}),
        ("readdir", {"readdirplus": 100}),
        ("symlink", {"lookup": 100, "symlink": 100}),
        ("statfs", {"lookup": 100, "fsstat": 100}),
        ("fstatfs", {"fsstat": 100}),
        # Each is made before it is removed.
        ("unlink", {"lookup": 200, "create": 100, "remove": 100}),
        ("rmdir", {"lookup": 100, "mkdir": 100, "rmdir": 100}),
    ],
)
def test_an_operation_causes_what_it_says_and_nothing_else(
    watched: tuning.Watched, operation: str, causes: dict[str, int]
) -> None:
    caused = count_requests(watched, {operation: 1.0}, 100, tuning.Amount(files=4)).counts
    # Opening each of the files, and making the one beside it, comes once.
    assert {name: count for name, count in caused.items() if count >= 50} == {
        name: pytest.approx(count, abs=10) for name, count in causes.items()
    }
    assert all(count <= 8 for name, count in caused.items() if name not in causes)


def test_every_procedure_of_the_table_is_of_nfs() -> None:
    from headrace.measure.tuning.profilers import NFSV3

    assert set(mirrors.PROCEDURES.values()) <= set(NFSV3.split())
    assert len(set(mirrors.PROCEDURES.values())) == len(mirrors.PROCEDURES)
    for target in tuning.TARGETS.values():
        assert set(target) <= set(mirrors.PROCEDURES.values())


def test_options_are_named_and_wrong_ones_refused() -> None:
    given = mirrors.options("attribute_timeout=3,readdirplus=no")
    assert (given.attribute_timeout, given.readdirplus) == (3.0, False)
    assert mirrors.options("") == mirrors.Options()
    for wrong in ("attribute_timeout", "entry_timeout=-1", "readdirplus=maybe", "ttl=1"):
        with pytest.raises(ValueError, match="expected"):
            tuning.profiler(f"fuse:{wrong}")


def test_a_mirror_that_was_killed_is_taken_down(tmp_path: Path, watched: tuning.Watched) -> None:
    gone = pytest.raises(RunError, match="was ended by SIGKILL")
    with gone, tuning.profiler("fuse")(tmp_path) as second:
        assert isinstance(second.profiler, mirrors.Mirror)
        os.kill(second.profiler.process, signal.SIGKILL)
        while not mirrors.is_dead(second.below):
            time.sleep(0.01)
        assert second.below in mirrors.stale_mounts()
        with pytest.raises(RunError, match="was ended by SIGKILL"):
            count_requests(second, {"stat": 1.0}, 10, tuning.Amount())
        second.profiler()
    assert not is_mounted(second.below)
    assert not second.below.exists()
    # The other is still there.
    assert watched.profiler()["getattr"] >= 0


def test_only_mirrors_are_taken_down(
    tmp_path: Path, watched: tuning.Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a name in a directory that all may write leads to is no mount of a mirror's."""
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / f"{mirrors.PREFIX}planted").symlink_to(watched.below)

    def dead(*_: object, **__: object) -> None:
        raise OSError(errno.ENOTCONN, "not connected")

    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(shared))
    monkeypatch.setattr(Path, "stat", dead)

    assert mirrors.stale_mounts() == []
    assert not mirrors.is_dead(shared / f"{mirrors.PREFIX}planted")
    assert mirrors.is_dead(watched.below)


TUNED_FOR_LONG = ("--profiler", "fuse", "--amount", "1000000", "--no-store")
IMPATIENT = """
import sys
from headrace.cli.app import run
from headrace.measure.tuning import mirror_connection
mirror_connection.PATIENCE_S = 1.0
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (signal.SIGKILL, "was ended by SIGKILL"),
        (signal.SIGSTOP, "did not answer for 1 s and was killed"),
        (signal.SIGINT, "has ended"),
        (signal.SIGHUP, "has ended"),
    ],
)
def test_a_benchmark_does_not_wait_for_a_mirror_that_is_gone(
    tmp_path: Path, watched: tuning.Watched, number: signal.Signals, told: str
) -> None:
    below, mounts = tmp_path / "measured", tmp_path / "mounts"
    below.mkdir()
    mounts.mkdir()
    command = [sys.executable, "-c", IMPATIENT, "bench", "tune", str(below), *TUNED_FOR_LONG]
    here = os.environ | {"TMPDIR": str(mounts)}
    benchmark = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=here)
    deadline = time.monotonic() + 60
    while not found(below, "headrace-*/hr-*/hr-d*/hr-f*"):
        assert benchmark.poll() is None
        assert time.monotonic() < deadline, "it does not begin"
        time.sleep(0.02)
    os.kill(child_of(benchmark.pid), number)
    _, errors = benchmark.communicate(timeout=60)
    assert benchmark.returncode == 1, errors
    assert told in errors and len(without_need(errors).splitlines()) == 1
    assert not [at for at in mirror_mounts() if at.startswith(str(mounts))]
    assert [*mounts.iterdir(), *below.iterdir()] == []


def child_of(process: int) -> int:
    """The mirror that a benchmark has started."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    (mirror,) = children
    return int(mirror)


def test_a_mirror_that_nobody_hears_says_nothing(tmp_path: Path) -> None:
    """Whoever started it was gone before it could say why it cannot mount."""
    command = [sys.executable, "-m", "headrace.measure.tuning.mirror_process"]
    options = json.dumps(vars(mirrors.Options()))
    heard, unheard = os.pipe()
    os.close(heard)
    arguments = [str(tmp_path / "none"), str(tmp_path / "at"), options]
    ended = subprocess.run(
        [*command, *arguments], stdout=unheard, stderr=subprocess.PIPE, text=True, timeout=60
    )
    os.close(unheard)
    assert (ended.returncode, ended.stderr) == (1, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_mirror_goes_with_its_benchmark(
    tmp_path: Path, watched: tuning.Watched, number: signal.Signals
) -> None:
    before = set(mirror_mounts())
    command = [sys.executable, "-m", "headrace", "bench", "tune", str(tmp_path)]
    command += TUNED_FOR_LONG
    benchmark = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (mine := set(mirror_mounts()) - before) or not found(tmp_path, "headrace-*/hr-*"):
        assert benchmark.poll() is None
        assert time.monotonic() < deadline, "it does not begin"
        time.sleep(0.02)
    benchmark.send_signal(number)
    _, errors = benchmark.communicate(timeout=60)
    assert benchmark.returncode != 0
    assert "Traceback" not in errors
    deadline = time.monotonic() + 60
    while mine & set(mirror_mounts()) or any(Path(at).exists() for at in mine):
        assert time.monotonic() < deadline, "it is still mounted"
        time.sleep(0.02)
    if number != signal.SIGKILL:
        assert list(tmp_path.iterdir()) == []
    else:
        removed, left = measure.clean(tmp_path)
        assert (len(removed), left) == (1, [])


def mirror_mounts() -> list[str]:
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return [line.split()[4] for line in lines if " headrace-mirror " in line]


def test_what_cannot_be_mirrored_is_one_clear_error(headrace: Command, tmp_path: Path) -> None:
    ended = headrace("bench", "tune", str(tmp_path / "none"), "--profiler", "fuse")
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    ended = headrace("bench", "tune", str(tmp_path), "--profiler", "fuse:ttl=1")
    assert ended.returncode == 2
    assert "attribute_timeout" in ended.stderr


def test_errors_name_the_directory_that_was_given(tmp_path: Path, watched: object) -> None:
    text = re.escape(f"{tmp_path}: the benchmark needs")
    with pytest.raises(ValueError, match=f"^{text}"), tuning.profiler("fuse")(tmp_path) as mirrored:
        count_requests(mirrored, {"stat": 1.0}, 10, tuning.Amount(files=200_000_000))
    with pytest.raises(OSError) as raised, tuning.profiler("fuse")(tmp_path) as mirrored:
        (mirrored.below / "missing").rmdir()
    assert raised.value.filename == str(tmp_path / "missing")


def test_a_protocols_mix_is_reached(headrace: Command, tmp_path: Path, watched: object) -> None:
    target = tmp_path / "mix.toml"
    target.write_text("lookup = 5\ngetattr = 3\naccess = 2\nread = 4\nfsstat = 1\n")
    best = tmp_path / "best.toml"
    ended = headrace(
        *("bench", "tune", str(tmp_path), "--profiler", "fuse", "--target", str(target)),
        *("--operations", "stat,fstat,access,direct-read,open,fstatfs", "--amount", "200"),
        *("--mixed", "8000", "--rounds", "2", "--mix", str(best), "--json", "--no-store"),
        *("--plot", str(tmp_path / "plots")),
    )
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    exact = document["mixes"]["least-squares"]
    assert exact["predicted_distance"] < 0.002
    # Five standard deviations of a third of 8,000.
    assert exact["largest_difference"] < 0.027
    assert len(exact["rounds"]) == 2
    # The mix is written as it was carried out.
    again = measure.measure(measure.load(best), tmp_path)
    assert sum(it["count"] for it in again.document["operations"].values()) == 8000
    assert "files = 10" in best.read_text()
    picture = (tmp_path / "plots" / "tune.svg").read_text(encoding="utf-8")
    assert "fsstat" in picture and "wanted" in picture


@pytest.mark.parametrize("moment", ["directory", "process"])
def test_a_signal_as_a_mirror_begins_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    made = []
    make, begin = tempfile.mkdtemp, Connection.__init__

    def directory(**given: str) -> str:
        made.append(Path(make(**given)))
        if moment == "directory":
            signal.raise_signal(signal.SIGINT)
        return str(made[0])

    def process(connection: Connection, arguments: list[str], name: str) -> None:
        begin(connection, arguments, name)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(tempfile, "mkdtemp", directory)
    monkeypatch.setattr(Connection, "__init__", process)
    with pytest.raises(KeyboardInterrupt), mirrors.mirror(tmp_path, mirrors.Options()):
        pytest.fail("it was interrupted before")
    assert len(made) == 1 and not made[0].exists() and not is_mounted(made[0])


@pytest.mark.parametrize("moment", ["made", "measured"])
def test_a_signal_while_a_mix_is_counted_leaves_nothing_and_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    make, measured = _core.BenchmarkDirectory, _core.measure

    def directory(below: Path) -> object:
        made = make(below)
        signal.raise_signal(signal.SIGINT)
        return made

    def late(*given: Any, **more: Any) -> Any:
        done = measured(*given, **more)
        # As the engine does with what comes when all is done.
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return done

    if moment == "made":
        monkeypatch.setattr(_core, "BenchmarkDirectory", directory)
    else:
        monkeypatch.setattr(_core, "measure", late)
    with tuning.profiler("command:echo {}")(tmp_path) as counted, pytest.raises(KeyboardInterrupt):
        count_requests(counted, {"stat": 1.0}, 10, tuning.Amount(files=2))
    assert list(tmp_path.iterdir()) == []


def test_interruptions_at_many_moments_leave_nothing(tmp_path: Path, watched: object) -> None:
    below, mounts = tmp_path / "below", tmp_path / "mounts"
    below.mkdir()
    mounts.mkdir()
    command = [sys.executable, "-m", "headrace", "bench", "tune", str(below), *TUNED_FOR_LONG]
    here = os.environ | {"TMPDIR": str(mounts)}
    for delay in (0.0, 0.01, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6):
        benchmark = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=here
        )
        deadline = time.monotonic() + 60
        while not found(mounts, "headrace-mirror-*"):
            assert benchmark.poll() is None and time.monotonic() < deadline, "it does not begin"
            time.sleep(0.001)
        time.sleep(delay)
        benchmark.send_signal(signal.SIGINT)
        _, errors = benchmark.communicate(timeout=120)
        assert benchmark.returncode == 130, (delay, errors)
        assert "Traceback" not in errors, (delay, errors)
        left = [*mounts.iterdir(), *below.iterdir()]
        assert left == [], (delay, left)
