"""`headrace profile --capture` of processes that run already: real ones, by strace and tracefs."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from command import command
from headrace.profile.analysis import analyse
from headrace.profile.capture import METHODS
from headrace.profile.capture.attachment import Attachment, CannotAttach, merge_parts, part_path
from headrace.profile.capture.method import Method
from headrace.trace import frame, open_trace, trace_info
from mpi import HEADRACE

WORKING = [it for it in METHODS.values() if it.suffix and it.available() is None]
needs_strace = pytest.mark.skipif(
    METHODS["strace"].available() is not None, reason="strace does not work here"
)
FAST = ("--interval", "0.1", "--no-store", "--no-report", "--no-advice", "--json")
WRITER = """
import os, sys, threading, time
file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
os.write(file, bytes(500))
def write():
    while True:
        os.write(file, bytes(70)); time.sleep(0.01)
threading.Thread(target=write, daemon=True).start()
child = os.fork()
while child == 0:
    os.pwrite(file, bytes(90), 10**6); time.sleep(0.01)
print(child, flush=True)
sys.stdin.readline()
os.kill(child, 9)
"""


@pytest.fixture(params=WORKING, ids=lambda it: it.name)
def method(request: pytest.FixtureRequest) -> Method:
    found: Method = request.param
    return found


def _calls(made: Path, file: Path) -> int:
    """Lines of the recorders that name a file."""
    return sum(it.read_bytes().count(bytes(file)) for it in made.glob("trace-*.strace"))


class Writer:
    """A program with a thread and a child that write to a file."""

    def __init__(self, folder: Path, *, program: str = sys.executable) -> None:
        self.file = folder / "written"
        self.process = subprocess.Popen(
            [program, "-c", WRITER, str(self.file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.number = self.process.pid
        self.child = int(self.process.stdout.readline())

    def is_free(self) -> bool:
        """Whether it runs, and no tracer has it."""
        return all(
            "TracerPid:\t0" in (text := Path(f"/proc/{it}/status").read_text())
            and "State:\tt" not in text
            for it in (self.number, self.child)
        )

    def grows(self) -> bool:
        before = self.process.poll(), self.file.stat().st_mtime_ns
        wait_for(lambda: self.file.stat().st_mtime_ns != before[1])
        return before[0] is None

    def end(self) -> int:
        self.process.communicate("\n", timeout=30)
        return self.process.returncode


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    made = Writer(tmp_path)
    try:
        yield made
    finally:
        made.process.kill()
        if Path(f"/proc/{made.child}").exists():
            os.kill(made.child, signal.SIGKILL)
        made.process.wait()


def wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(1500):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it does not happen")


def begun(made: Path, *arguments: object) -> "subprocess.Popen[str]":
    """A profile that goes on, with a capture."""
    line = [*HEADRACE, "profile", "-o", made, *FAST, *arguments]
    return subprocess.Popen(
        list(map(str, line)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def captured(made: Path, most: int = 5) -> bool:
    """Whether a recorder has written some lines, or records since some samples."""
    parts = list(made.glob("trace-*.strace"))
    samples = made / "samples.jsonl"
    return bool(parts) and len(samples.read_bytes().splitlines()) >= most


def sizes(trace: Path) -> dict[str, set[int]]:
    """The sizes of the writes of each process."""
    records = frame(open_trace(trace))
    writes = records.filter(pl.col("operation") == "write")
    found = writes.group_by("process").agg("size").rows()
    return {process.split("/")[-1]: set(of_process) for process, of_process in found}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_capture_and_leaves_the_process(
    method: Method, number: int, writer: Writer, tmp_path: Path
) -> None:
    made = tmp_path / "made"
    watching = begun(made, "--pid", writer.number, "--capture", method.name)
    wait_for(lambda: captured(made))
    watching.send_signal(number)
    out, err = watching.communicate(timeout=60)
    assert watching.returncode == 0, err
    assert writer.is_free() and writer.grows() and writer.end() == 0
    document: dict[str, Any] = json.loads(out)
    assert document["trace"] == "trace.strace"
    assert not list(made.glob("trace-*"))
    # The thread, and the child that ran before.
    assert sorted(map(sorted, sizes(made / "trace.strace").values())) == [[70], [90]]


@needs_strace
def test_positions_and_names_are_those_before_the_capture(writer: Writer, tmp_path: Path) -> None:
    made = tmp_path / "made"
    done = command(
        "profile", "-o", made, *FAST, "--pid", writer.number, "--capture", "strace",
        "--time", "0.5",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    records = frame(open_trace(made / "trace.strace"))
    writes = records.filter((pl.col("operation") == "write") & (pl.col("size") == 70))
    assert set(writes["file"]) == {str(writer.file)}
    offsets = writes["offset"].to_list()
    assert offsets[0] >= 500
    assert offsets == list(range(offsets[0], offsets[0] + 70 * len(offsets), 70))
    skipped = [it.name for it in trace_info(made / "trace.strace").skipped]
    assert "process that no clone shows: a thread that shares descriptors" not in skipped
    assert writer.is_free()


@needs_strace
def test_the_end_of_the_process_ends_the_capture(writer: Writer, tmp_path: Path) -> None:
    made = tmp_path / "made"
    watching = begun(made, "--pid", writer.number, "--capture", "strace")
    wait_for(lambda: captured(made))
    assert writer.end() == 0
    _, err = watching.communicate(timeout=60)
    assert watching.returncode == 0, err
    assert {70} in sizes(made / "trace.strace").values()


@needs_strace
def test_a_killed_profiler_lets_the_process_go_and_leaves_its_trace(
    writer: Writer, tmp_path: Path
) -> None:
    made = tmp_path / "made"
    watching = begun(made, "--pid", writer.number, "--capture", "strace")
    wait_for(lambda: captured(made))
    watching.kill()
    watching.communicate()
    wait_for(writer.is_free)
    assert writer.grows()
    profile = analyse(made, advice=False)
    assert profile.trace == "trace.strace"
    assert {70} in sizes(made / "trace.strace").values()
    assert not list(made.glob("trace-*"))


@needs_strace
def test_processes_of_a_name_that_come_one_after_the_other(tmp_path: Path) -> None:
    named = tmp_path / "writes-by-name"
    named.symlink_to(sys.executable)
    made = tmp_path / "made"
    watching = begun(made, "--pid-name", named.name, "--capture", "strace")
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    # The first sample sees none.
    samples = made / "samples.jsonl"
    wait_for(lambda: samples.exists() and len(samples.read_bytes().splitlines()) >= 3)
    one = Writer(tmp_path / "one", program=str(named))
    wait_for(lambda: part_path(made / "trace.strace", 1).exists())
    two = Writer(tmp_path / "two", program=str(named))
    wait_for(lambda: part_path(made / "trace.strace", 2).exists())
    # Calls before the positions are known are left out; a second has some 200 of each.
    wait_for(lambda: all(_calls(made, it.file) >= 40 for it in (one, two)))
    assert one.end() == 0 and two.end() == 0
    _, err = watching.communicate(timeout=60)
    assert watching.returncode == 0, err
    assert "waiting for a process with the name writes-by-name" in err
    records = frame(open_trace(made / "trace.strace"))
    assert {str(one.file), str(two.file)} <= set(records["file"].drop_nulls())
    assert records["time_ns"].is_sorted()


def test_a_name_that_never_comes(tmp_path: Path) -> None:
    made = tmp_path / "made"
    line = ["profile", "-o", made, *FAST, "--pid-name", "no-such-name", "--time", "0.3"]
    done = command(*line)
    assert done.returncode == 1 and not done.stdout
    assert done.stderr.splitlines()[1] == "waiting for a process with the name no-such-name"
    assert "no process with this name came within 0." in done.stderr.splitlines()[-1]


@needs_strace
def test_a_process_that_another_tracer_has(writer: Writer, tmp_path: Path) -> None:
    made = tmp_path / "made"
    tracer = subprocess.Popen(
        ["strace", "-f", "-q", "-o", os.devnull, "-p", str(writer.number)],
        stderr=subprocess.DEVNULL,
    )
    os.kill(writer.child, signal.SIGKILL)
    try:
        status = Path(f"/proc/{writer.number}/status")
        wait_for(lambda: "TracerPid:\t0" not in status.read_text())
        line = ["profile", "-o", made, *FAST, "--pid", writer.number, "--time", "0.3"]
        done = command(*line, "--capture", "strace")
        assert done.returncode == 2
        assert done.stderr.splitlines() == [
            f"process {writer.number} cannot be recorded: strace ({tracer.pid}) traces it already:"
            " end that tracer first"
        ]
        assert not made.exists()
        # What is not asked for by name is left out.
        done = command(*line, "--capture", "auto")
        assert done.returncode == 0
        assert done.stderr.startswith("warning: process ")
        assert json.loads(done.stdout)["verdict"] is not None
    finally:
        tracer.send_signal(signal.SIGINT)
        tracer.wait()


@needs_strace
def test_a_process_that_has_ended(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    attachment = Attachment(METHODS["strace"], tmp_path / "trace.strace")
    attachment.follow([ended.pid])
    attachment.finish()
    assert not list(tmp_path.iterdir())


@needs_strace
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to see a thread of the kernel refused")
def test_a_thread_of_the_kernel(tmp_path: Path) -> None:
    if not Path("/proc/2/stat").exists() or Path("/proc/2/cmdline").read_bytes():
        pytest.skip("no thread of the kernel is visible")
    attachment = Attachment(METHODS["strace"], tmp_path / "trace.strace")
    with pytest.raises(CannotAttach, match="process 2 cannot be recorded: it is a thread of the"):
        attachment.follow([2])


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
@needs_strace
def test_another_users_process(writer: Writer, tmp_path: Path) -> None:
    from headrace.profile.capture.attachment import refusal

    assert refusal(writer.number) is None
    reader, out = os.pipe()
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        os.write(out, (refusal(writer.number) or "").encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 1000) == b"it belongs to another user: run as root"
    os.close(reader)
    os.close(out)


def test_captures_that_contradict_are_refused(tmp_path: Path) -> None:
    if not WORKING:
        pytest.skip("nothing can be captured here")
    line = ["profile", "-o", tmp_path / "made", *FAST, "--time", "1"]
    done = command(*line, "--capture", WORKING[0].name)
    assert done.returncode == 2
    assert "expected a command, --pid, --pid-name or --cgroup" in done.stderr


def test_parts_are_merged_by_time(tmp_path: Path) -> None:
    trace = tmp_path / "trace.strace"
    lines = [f"{10 + it % 2} 170000000{it}.5 close(3) = 0 <0.1>\n" for it in range(6)]
    part_path(trace, 1).write_text("".join(lines[::2]) + "10 1700000009.5 clo")
    part_path(trace, 2).write_text("".join(lines[1::2]))
    (tmp_path / "trace-1.strace.counts.json").write_text('{"events_lost": 3}\n')
    merge_parts(trace)
    assert trace.read_text() == "".join(lines)
    assert METHODS["tracefs"].counts(trace) == {"events_lost": 3}
    merge_parts(trace)
    assert sorted(it.name for it in tmp_path.iterdir()) == [
        "trace.strace",
        "trace.strace.counts.json",
    ]


def test_calls_before_the_position_is_known_are_left_out(tmp_path: Path) -> None:
    trace = tmp_path / "trace.strace"
    thread = "clone(child_stack=NULL, flags=CLONE_VM|CLONE_FILES|CLONE_THREAD)"
    state = [
        f"700 1700000000.000000000 {thread} = 71234 <0.000000000>\n",
        "700 1700000005.000000000 lseek(3</a>, 40, SEEK_SET) = 40 <0.000000000>\n",
    ]
    # strace pads process numbers to five digits.
    calls = [
        '700   1700000003.000000000 write(3</a>, ""..., 4) = 4 <0.000100000>\n',
        '71234 1700000004.000000000 write(3</a>, ""..., 4) = 4 <0.000100000>\n',
        '700   1700000004.500000000 write(4</b>, ""..., 4) = 4 <0.000100000>\n',
        '71234 1700000006.000000000 write(3</a>, ""..., 4) = 4 <0.000100000>\n',
    ]
    part_path(trace, 0).write_text("".join(state))
    part_path(trace, 1).write_text("".join(calls))
    merge_parts(trace)
    assert trace.read_text() == "".join([state[0], calls[2], state[1], calls[3]])
