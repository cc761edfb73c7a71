"""Programs that are recorded for real, by strace and through tracefs."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from headrace.profile.capture import METHODS, Method, choose, start_time, strace
from headrace.profile.capture.tracefs_text import CALLS, FIELD
from headrace.trace import frame, open_trace, trace_info

WORKING = [it for it in METHODS.values() if it.suffix and it.available() is None]


@pytest.fixture(params=WORKING, ids=lambda it: it.name)
def method(request: pytest.FixtureRequest) -> Method:
    found: Method = request.param
    return found


def _recorded(method: Method, command: list[str], folder: Path) -> pl.DataFrame:
    path = folder / f"trace{method.suffix}"
    subprocess.run(method.wrap(command, path), check=True, capture_output=True, timeout=60)
    return frame(open_trace(path))


def _of(records: pl.DataFrame, operation: str) -> pl.DataFrame:
    return records.filter(
        (pl.col("operation") == operation) & ~pl.col("flags").str.contains("failed")
    )


def test_dd_makes_the_requests_that_it_was_told_to(method: Method, tmp_path: Path) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(bytes(20_000))
    command = ["dd", f"if={source}", f"of={target}", "bs=1000", "conv=fsync"]
    records = _recorded(method, command, tmp_path)
    writes = _of(records, "write").filter(pl.col("size") == 1000)
    assert writes["offset"].to_list() == list(range(0, 20_000, 1000))
    reads = _of(records, "read").filter(pl.col("size") == 1000)
    assert reads["offset"].to_list() == list(range(0, 20_000, 1000))
    assert _of(records, "sync").height == 1
    assert (writes["duration_ns"] > 0).all()
    if method.name == "strace":
        assert set(writes["file"]) == {str(target)}
        assert set(reads["file"]) == {str(source)}


def test_each_process_of_a_shell_is_recorded(method: Method, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(bytes(5000))
    script = f"cd {tmp_path} && cat in > one && (cp in two; tail -c 100 in > three) & wait"
    records = _recorded(method, ["sh", "-c", script], tmp_path)
    assert records["process"].n_unique() >= 3
    # cp may copy within the kernel, or with a call that needs no bytes of its own.
    moved = _of(records, "write")["size"].sum()
    assert moved >= 5000 + 100
    assert [(tmp_path / name).stat().st_size for name in ("one", "two", "three")] == [
        5000,
        5000,
        100,
    ]


@pytest.mark.skipif(shutil.which("tar") is None, reason="tar is not installed")
def test_tar_reads_every_byte_of_its_files(method: Method, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number}").write_bytes(bytes(100 * number))
    command = ["tar", "-cf", str(tmp_path / "all.tar"), "-C", str(tmp_path), "files"]
    records = _recorded(method, command, tmp_path)
    archive = (tmp_path / "all.tar").stat().st_size
    assert _of(records, "write")["size"].sum() == archive
    if method.name == "strace":
        inside = _of(records, "read").filter(pl.col("file").str.starts_with(str(folder)))
        assert inside["size"].sum() == sum(100 * number for number in range(20))
    assert _of(records, "readdir").height >= 2


def test_a_database_syncs(method: Method, tmp_path: Path) -> None:
    database = tmp_path / "data.db"
    program = (
        "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute('create table t(a)');"
        "[(d.execute('insert into t values (?)', (n,)), d.commit()) for n in range(5)]"
    )
    records = _recorded(method, [sys.executable, "-c", program, str(database)], tmp_path)
    with sqlite3.connect(database) as connection:
        assert connection.execute("select count(*) from t").fetchone() == (5,)
    # Six transactions sync the journal and the database.
    assert _of(records, "sync").height >= 12
    if method.name == "strace":
        written = _of(records, "write").filter(pl.col("file") == str(database))
        assert max(written["offset"].to_list()) + 4096 == database.stat().st_size


@pytest.mark.parametrize("status", [0, 3, 127])
def test_the_exit_status_is_passed_on(method: Method, tmp_path: Path, status: int) -> None:
    command = method.wrap(["sh", "-c", f"exit {status}"], tmp_path / "trace")
    assert subprocess.run(command, timeout=60, check=False).returncode == status


def test_a_signal_is_passed_on(method: Method, tmp_path: Path) -> None:
    command = method.wrap(["sh", "-c", "kill -TERM $$"], tmp_path / "trace")
    assert subprocess.run(command, timeout=60, check=False).returncode == -signal.SIGTERM


def test_a_process_that_runs_is_recorded_from_then_on(method: Method, tmp_path: Path) -> None:
    program = (
        "import os, sys\n"
        "f = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "for n in range(10): os.pwrite(f, bytes(70), 1000 * n)\n"
        "print('done', flush=True); sys.stdin.readline()\n"
    )
    target, path = tmp_path / "out", tmp_path / f"trace{method.suffix}"
    watched = subprocess.Popen(
        [sys.executable, "-c", program, str(target)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert watched.stdin is not None
    assert watched.stdout is not None
    watched.stdout.readline()
    recorder = subprocess.Popen(method.attach([watched.pid], path), stderr=subprocess.PIPE)
    _until_recorded(method, watched.pid)
    print(file=watched.stdin, flush=True)
    watched.stdout.readline()
    recorder.send_signal(signal.SIGINT)
    recorder.communicate(timeout=60)
    watched.communicate("\n", timeout=60)
    assert watched.returncode == 0
    writes = _of(frame(open_trace(path)), "write").filter(pl.col("size") == 70)
    assert writes["offset"].to_list() == list(range(0, 10_000, 1000))
    assert set(writes["file"]) == {str(target)}


def _until_recorded(method: Method, pid: int) -> None:
    """Wait until the recorder has attached itself."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if method.name == "strace":
            status = Path(f"/proc/{pid}/status").read_text()
            if "TracerPid:\t0" not in status:
                return
        else:
            instances = Path("/sys/kernel/tracing/instances").glob("headrace-*")
            if any(
                str(pid) in (it / "set_event_pid").read_text().split()
                and (it / "tracing_on").read_text().strip() == "1"
                for it in instances
            ):
                time.sleep(0.1)  # the second instance
                return
        time.sleep(0.02)
    raise AssertionError("the recorder did not begin")


def test_a_program_that_is_not_there_is_an_error(method: Method, tmp_path: Path) -> None:
    command = method.wrap(["/none/such"], tmp_path / "trace")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0
    assert "No such file or directory" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_thread_shares_descriptors(method: Method, tmp_path: Path) -> None:
    program = (
        "import os, sys, threading\n"
        "f = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)\n"
        "os.write(f, bytes(10))\n"
        "t = threading.Thread(target=lambda: os.write(f, bytes(30)))\n"
        "t.start(); t.join(); os.write(f, bytes(7))\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "shared")]
    records = _of(_recorded(method, command, tmp_path), "write")
    mine = records.filter(pl.col("size").is_in([10, 30, 7]))
    assert mine.select("offset", "size").rows() == [(0, 10), (10, 30), (40, 7)]
    assert mine["process"].n_unique() == 2


@pytest.mark.skipif("tracefs" not in [it.name for it in WORKING], reason="needs tracefs and root")
def test_a_file_that_stays_open_has_its_name(tmp_path: Path) -> None:
    target = tmp_path / "held"
    program = (
        "import os, sys, time; f = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY);"
        "time.sleep(1); os.write(f, bytes(77))"
    )
    method = METHODS["tracefs"]
    path = tmp_path / "trace.strace"
    subprocess.run(method.wrap([sys.executable, "-c", program, str(target)], path), check=True)
    records = frame(open_trace(path))
    assert _of(records, "write").filter(pl.col("size") == 77)["file"].to_list() == [str(target)]
    assert _of(records, "create")["file"].to_list() == [str(target)]
    counts = method.counts(path)
    assert counts["events_lost"] == 0
    assert counts["files_opened"] > counts["names_not_found"]
    assert not list(tmp_path.glob(".headrace-capture-*"))
    left = Path("/sys/kernel/tracing/instances").glob(f"headrace-*-{os.getpid()}-*")
    assert not list(left)


@pytest.mark.skipif("tracefs" not in [it.name for it in WORKING], reason="needs tracefs and root")
def test_the_fields_of_all_calls_are_the_kernels() -> None:
    events = Path("/sys/kernel/tracing/events/syscalls")
    for call, text in CALLS.items():
        layout = events / f"sys_enter_{call}" / "format"
        if layout.exists():
            fields = {it.split(";")[0].split()[-1] for it in layout.read_text().split("field:")[1:]}
            assert {it[1] for it in FIELD.finditer(text)} <= fields, call


def test_both_methods_see_the_same_transfers(tmp_path: Path) -> None:
    if len(WORKING) < 2:
        pytest.skip("needs strace, and tracefs as root")
    (tmp_path / "in").write_bytes(bytes(123_456))
    command = ["dd", f"if={tmp_path}/in", f"of={tmp_path}/out", "bs=777"]
    seen = []
    for method in WORKING:
        records = _recorded(method, command, tmp_path)
        moved = records.filter(pl.col("operation").is_in(["read", "write"]))
        seen.append(moved.filter(pl.col("size") == 777).select("operation", "offset", "size"))
    assert seen[0].equals(seen[1])


def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/none")
    with pytest.raises(ValueError, match="strace is not installed: install the package strace"):
        choose("strace")
    assert choose("auto").name == "none"
    with pytest.raises(ValueError, match="expected one of auto, strace, tracefs, none"):
        choose("ptrace")


def test_a_place_where_nothing_can_be_traced_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tool = tmp_path / "strace"
    tool.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = --version ]; then echo "strace -- version 6.1"; exit; fi\n'
        "echo 'strace: ptrace(PTRACE_TRACEME): Operation not permitted' >&2; exit 1\n"
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    strace.version.cache_clear()
    strace.refusal.cache_clear()
    try:
        with pytest.raises(ValueError, match="cannot be traced here .*Operation not permitted"):
            choose("strace")
        assert choose("auto").name == "none"
    finally:
        strace.version.cache_clear()
        strace.refusal.cache_clear()


def test_the_start_of_a_trace_is_a_time_since_the_epoch(method: Method, tmp_path: Path) -> None:
    before = time.time()
    _recorded(method, ["true"], tmp_path)
    start = start_time(tmp_path / f"trace{method.suffix}")
    # The clock may have been set in between.
    assert start is not None
    assert abs(start - before) < 3600
    other = tmp_path / "other"
    other.write_text("12:00:00 close(3) = 0\n")
    assert start_time(other) is None
    other.write_bytes(b"\xff\x00" * 100)
    assert start_time(other) is None


def test_no_capture_leaves_the_command(tmp_path: Path) -> None:
    assert choose("none").wrap(["a", "b"], tmp_path) == ["a", "b"]
    assert all(it.left_out() for it in METHODS.values())


def test_a_trace_of_strace_says_what_it_skips(tmp_path: Path) -> None:
    if METHODS["strace"].available() is not None:
        pytest.skip("strace is not installed")
    path = tmp_path / "trace.strace"
    subprocess.run(METHODS["strace"].wrap(["true"], path), check=True)
    reasons = {it.reason for it in trace_info(path).skipped}
    assert "not_understood" not in reasons
