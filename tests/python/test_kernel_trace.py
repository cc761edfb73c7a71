"""The kernel of this machine, traced. Needs root and tracefs: elsewhere these tests skip."""

import mmap
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

from headrace import kernel_trace
from headrace import tracefs as tracing
from headrace.kernel_trace import KernelTraceError, Recording
from headrace.kernel_trace.instance import Instance
from headrace.tracefs import tracefs

BLOCK = 4096


@pytest.fixture
def tracing_allowed() -> Path:
    """Where the kernel's tracing is."""
    try:
        return tracefs()
    except KernelTraceError as error:
        pytest.skip(str(error))


@pytest.fixture
def journalled(tmp_path: Path, tracing_allowed: Path) -> Iterator[Path]:
    """A small ext4 of its own, with a journal, on a loop device."""
    image, place = tmp_path / "image", tmp_path / "mounted"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(64 << 20)
    for command in (
        ["mkfs.ext4", "-q", "-F", "-J", "size=8", str(image)],
        ["mount", "-o", "loop", str(image), str(place)],
    ):
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            pytest.skip(f"there is no {command[0]} here")
        if done.returncode != 0:
            pytest.skip(f"{' '.join(command)}: {done.stderr.strip()}")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def recorded(directory: Path, work: Callable[[], None]) -> Recording:
    try:
        with kernel_trace.trace_session(directory) as session:
            _, recording = session.record(work)
    except KernelTraceError as error:
        pytest.skip(str(error))
    return recording


def direct(file: Path, blocks: int) -> None:
    """Reads a file block by block, past the page cache."""
    opened = os.open(file, os.O_RDONLY | os.O_DIRECT)
    buffer = mmap.mmap(-1, BLOCK)
    try:
        for number in range(blocks):
            assert os.preadv(opened, [buffer], number * BLOCK) == BLOCK
    finally:
        os.close(opened)


def test_direct_reads_are_seen_as_so_many_requests(journalled: Path) -> None:
    file = journalled / "file"
    file.write_bytes(os.urandom(1000 * BLOCK))
    os.sync()
    recording = recorded(journalled, lambda: direct(file, 1000))
    found = kernel_trace.requests(recording).filter(pl.col("direction") == "read")
    assert found.filter(pl.col("bytes") == BLOCK).height == 1000
    assert found["service_s"].min() > 0  # type: ignore[operator]
    assert found["depth"].to_list().count(1) == found.height
    # Those that lie side by side are in order; a file of 4 MB is in few pieces.
    assert found["in_order"].sum() > 900
    made = kernel_trace.system_calls(recording).filter(pl.col("call").is_in(["preadv", "preadv2"]))
    assert made.height == 1000
    in_calls = sum(kernel_trace.in_device(recording, made))
    assert in_calls == pytest.approx(found["service_s"].sum(), rel=0.05)
    assert recording.lost == 0


def test_an_fsync_is_a_commit(journalled: Path) -> None:
    def work() -> None:
        with (journalled / "new").open("wb", buffering=0) as file:
            file.write(b"x" * 10_000)
            os.fsync(file.fileno())

    recording = recorded(journalled, work)
    commits = kernel_trace.commits(recording)
    calls = kernel_trace.system_calls(recording)
    (sync,) = calls.filter(pl.col("call") == "fsync").iter_rows(named=True)
    assert sync["result"] == 0
    (write,) = calls.filter(pl.col("result") == 10_000).iter_rows(named=True)
    assert write["call"] == "write" and write["left_ns"] <= sync["entered_ns"]
    inside = (commits.starts >= sync["entered_ns"]) & (commits.ends <= sync["left_ns"])
    assert inside.any()
    written = kernel_trace.requests(recording).filter(pl.col("direction") == "write")
    during = written.filter(pl.col("issued_ns").is_between(sync["entered_ns"], sync["left_ns"]))
    assert during["bytes"].sum() >= 3 * BLOCK


def test_a_full_buffer_is_told(tracing_allowed: Path, tmp_path: Path) -> None:
    with Instance(buffer=32 << 10) as small:
        small.enable({"syscalls/sys_enter_getppid": None})
        small.follow([os.getpid()])
        small.start()
        for _ in range(20_000):
            os.getppid()
        small.stop()
        kept = sum(len(it.times) for it in small.take())
        assert 0 < kept < 20_000
        assert small.lost() == pytest.approx(20_000 - kept, abs=100)


def test_an_instance_is_removed_whatever_happens(tracing_allowed: Path) -> None:
    with pytest.raises(KeyboardInterrupt), Instance() as made:
        path = made.path
        assert path.is_dir()
        raise KeyboardInterrupt
    assert not path.exists()
    with (
        pytest.raises(KernelTraceError, match="does not allow headrace to set events"),
        Instance() as made,
    ):
        path = made.path
        made.enable({"block/block_rq_issue": "no such field == 1"})
    assert not path.exists()


def test_an_instance_of_a_killed_process_is_removed_by_the_next(tracing_allowed: Path) -> None:
    script = (
        "import time\nfrom headrace.kernel_trace.instance import Instance\n"
        "print(Instance(buffer=65536).path, flush=True)\ntime.sleep(60)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    left = Path(process.stdout.readline().strip())
    assert left.is_dir()
    with Instance(buffer=65536):
        assert left.is_dir(), "a living process's instance was removed"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert left.is_dir()
    with Instance(buffer=65536):
        assert not left.exists()


def test_without_the_right_one_line_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "PLACES", (tmp_path / "none",))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(KernelTraceError, match=r"mount it by mount -t"):
        tracefs()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(KernelTraceError, match=r"is not accessible: run as root"):
        tracefs()


def test_a_kernel_without_a_tracepoint_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "PLACES", (tmp_path,))
    (tmp_path / "instances").mkdir()
    (tmp_path / "events" / "block" / "block_rq_issue").mkdir(parents=True)
    with pytest.raises(KernelTraceError) as raised:
        kernel_trace.check(tmp_path)
    if "no block device" in str(raised.value):
        pytest.skip(str(raised.value))
    assert "the kernel has no tracepoint block/block_rq_complete" in str(raised.value)


def test_a_recording_is_saved_as_one_table(tmp_path: Path) -> None:
    one = Recording(
        {
            "a": pl.DataFrame({"time_ns": [2], "x": [1]}),
            "b": pl.DataFrame({"time_ns": [1], "y": ["z"]}),
        }
    )
    kernel_trace.save({"first": one, "second": Recording({})}, tmp_path / "trace.parquet")
    assert pl.read_parquet(tmp_path / "trace.parquet").drop("processor", "thread").to_dicts() == [
        {"case": "first", "event": "b", "time_ns": 1, "x": None, "y": "z"},
        {"case": "first", "event": "a", "time_ns": 2, "x": 1, "y": None},
    ]
