"""`headrace profile`: real programs, how they end, and the recordings that they leave."""

import io
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rich.console import Console

import headrace as hr
from command import command
from headrace.cli.profile.report import write_files
from headrace.profile import recording
from headrace.profile.analysis import analyse
from headrace.profile.capture import METHODS
from headrace.profile.document import to_json
from headrace.profile.header import Attached, Header, write_header
from headrace.profile.sampler import EARLY_S
from headrace.render.terminal import rendered
from headrace.views.profile import verdicts
from mpi import HEADRACE, started

FAST = ("--interval", "0.1", "--no-store", "--capture", "none", "--no-report")


def profile(
    directory: Path, *arguments: object, status: int = 0
) -> "subprocess.CompletedProcess[str]":
    done = command("profile", "-o", directory, *FAST, *arguments)
    assert done.returncode == status, done.stderr
    return done


def begun(directory: Path, *arguments: object) -> "subprocess.Popen[str]":
    """A profile that goes on."""
    line = [*HEADRACE, "profile", "-o", directory, *FAST, *arguments]
    process = subprocess.Popen(
        list(map(str, line)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for(lambda: count(directory) >= 3)
    return process


def count(directory: Path) -> int:
    """The number of regular samples so far."""
    found = [it.read_bytes().splitlines() for it in directory.glob("samples*.jsonl")]
    return max((sum(b'"early"' not in line for line in it) for it in found), default=0)


def wait_for(condition: Callable[[], bool]) -> None:
    for _ in range(2000):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError("it does not happen")


def header(directory: Path) -> Header:
    return recording.read_header(directory)


def total(frame: pl.DataFrame, column: str) -> float:
    """The integral of a rate over the run."""
    return float((frame[column] * (frame["to_s"] - frame["from_s"])).sum())


@pytest.mark.parametrize(
    ("text", "status", "reason"),
    [("echo hi", 126, "exec format error"), ("#!/none/such", 127, "the interpreter in its first")],
)
@pytest.mark.parametrize("capture", ["none", "strace"])
def test_a_script_that_cannot_be_executed(
    tmp_path: Path, capture: str, text: str, status: int, reason: str
) -> None:
    if capture == "strace" and METHODS["strace"].available() is not None:
        pytest.skip("no strace")
    script = tmp_path / "script"
    script.write_text(text + "\n")
    script.chmod(0o755)
    made = tmp_path / "made"
    done = command("profile", "-o", made, *FAST, "--capture", capture, "--", script)
    assert done.returncode == status and not made.exists()
    assert reason in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("capture", ["none", "strace", "tracefs"])
def test_a_signal_reaches_the_program_below_a_tracer(tmp_path: Path, capture: str) -> None:
    if METHODS[capture].available() is not None:
        pytest.skip("the method does not work here")
    made, ready = tmp_path / "made", tmp_path / "ready"
    script = f"trap 'exit 7' TERM; : > {ready}; while :; do sleep 0.1; done"
    process = begun(made, "--capture", capture, "--", "sh", "-c", script)
    wait_for(ready.exists)
    process.terminate()
    assert process.wait(60) == 7
    process.communicate()


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to mount a file system")
@pytest.mark.parametrize("capture", ["none", "strace"])
def test_a_full_file_system_does_not_end_the_program(tmp_path: Path, capture: str) -> None:
    if METHODS[capture].available() is not None:
        pytest.skip("the method does not work here")
    small, done_file = tmp_path / "small", tmp_path / "done"
    small.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=32k", "none", small], check=False
    ).returncode:
        pytest.skip("mounts are not allowed")
    try:
        script = f"head -c 64k /dev/zero > {small}/rest; sleep 1; echo > {done_file}; exit 5"
        made = small / "made"
        done = command("profile", "-o", made, *FAST, "--capture", capture, "--", "sh", "-c", script)
    finally:
        subprocess.run(["umount", small], check=True)
    assert done_file.exists() and done.returncode == 5
    assert "samples.jsonl: No space left on device" in done.stderr.splitlines()[-1]


def test_arguments_that_are_no_unicode(tmp_path: Path) -> None:
    made = tmp_path / "made"
    profile(made, "--json", "--", "true", os.fsdecode(b"a\xffb"))
    assert header(made).command == ["true", r"a\xffb"]


def test_a_program_that_writes(tmp_path: Path) -> None:
    made = tmp_path / "made"
    done = profile(
        made, "--", "dd", "if=/dev/zero", f"of={tmp_path}/file", "bs=64K", "count=320", "conv=fsync"
    )
    assert "dd: " in done.stdout and "recorded in" in done.stderr
    assert "320+0 records out" in done.stderr
    frame = recording.rates(made)
    assert set(frame.dtypes) == {pl.Float64}
    size = 320 * 65536
    assert size <= total(frame, "tree.write_call_bytes_per_s") <= 1.01 * size
    assert 320 <= total(frame, "tree.write_calls_per_s") <= 340
    assert frame["from_s"][0] < 0.1 and (frame["to_s"] > frame["from_s"]).all()
    of_header = header(made)
    assert (of_header.name, of_header.exit_status) == ("dd", 0)
    assert of_header.command[0] == "dd" and of_header.environment["host"]
    assert of_header.duration_s == pytest.approx(frame["to_s"][-1])
    of_processes = recording.processes(made)
    assert set(of_processes["name"]) >= {"dd"} and of_processes["pid"].n_unique() == 1


def test_columns_are_those_of_the_reference(tmp_path: Path) -> None:
    made = tmp_path / "made"
    profile(made, "--", "sleep", "0.3")
    names = set(recording.rates(made).columns)
    assert {"cpu.user", "cpu.0.idle", "load.running", "context_switches_per_s"} <= names
    assert {"memory.used_bytes", "paging.swap_in_bytes_per_s"} <= names
    assert {"tree.user", "tree.io_wait", "tree.busiest_thread", "tree.disk_wait"} <= names


def test_processor_time_of_the_whole_tree(tmp_path: Path) -> None:
    made = tmp_path / "made"
    spin = f"{shlex.quote(sys.executable)} -c 'import time\nwhile time.process_time() < 0.4: pass'"
    profile(made, "--", "sh", "-c", f"{spin}; {spin} & {spin} & wait")
    frame = recording.rates(made)
    used = total(frame, "tree.user") + total(frame, "tree.system")
    assert 1.15 <= used <= 2.0
    assert frame["tree.busiest_thread"].max() <= 1.3  # type: ignore[operator]
    assert frame["tree.processes"].max() >= 3  # type: ignore[operator]


@pytest.mark.parametrize(
    ("script", "status"), [("exit 3", 3), ("kill -9 $$", 137), ("kill -TERM $$", 143)]
)
def test_the_exit_status_is_passed_on(tmp_path: Path, script: str, status: int) -> None:
    made = tmp_path / "made"
    profile(made, "--", "sh", "-c", script, status=status)
    assert header(made).exit_status == status
    assert json.loads((made / "profile.json").read_text())["exit_status"] == status


@pytest.mark.parametrize(
    ("program", "status"), [("no-such-program", 127), ("/etc/passwd", 126), ("/etc", 126)]
)
def test_a_program_that_cannot_be_started(tmp_path: Path, program: str, status: int) -> None:
    done = profile(tmp_path / "made", "--", program, status=status)
    assert done.stdout == "" and done.stderr.startswith(f"{program}: cannot start: ")
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_json_has_standard_output_for_itself(tmp_path: Path) -> None:
    # Processor time is known from one tick (10 ms) on; the sleep lasts ten at least.
    program = "echo out; echo err >&2; sleep 0.1; exit 4"
    done = profile(tmp_path / "made", "--json", "--", "sh", "-c", program, status=4)
    document = json.loads(done.stdout)
    assert document["exit_status"] == 4 and document["samples"] == "samples.jsonl"
    assert document["phases"] and document["usage"][document["hosts"][0]]["cpu.user"]
    assert {"out", "err"} <= set(done.stderr.splitlines())


def test_the_last_sample_is_at_the_end_of_a_short_program(tmp_path: Path) -> None:
    done = profile(tmp_path / "made", "--json", "--", "true")
    document = json.loads(done.stdout)
    assert count(tmp_path / "made") >= 2 and document["phases"]
    assert "context_switches_per_s" in document["usage"][document["hosts"][0]]


def test_options_after_the_program_are_its_own(tmp_path: Path) -> None:
    done = profile(tmp_path / "made", "echo", "--json", "-o", "there")
    assert done.stdout.splitlines()[0] == "--json -o there"


def test_standard_input_is_the_programs(tmp_path: Path) -> None:
    line = [*HEADRACE, "profile", "-o", str(tmp_path / "made"), *FAST, "--", "cat"]
    done = subprocess.run(line, input="some input\n", capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[0] == "some input"


def test_the_default_directory_is_a_new_one(tmp_path: Path) -> None:
    for _ in range(2):
        assert command("profile", *FAST, "--", "true", cwd=tmp_path).returncode == 0
    assert sorted(it.name for it in tmp_path.iterdir()) == ["true-2.profile", "true.profile"]


def test_a_killed_profiler_leaves_a_recording(tmp_path: Path) -> None:
    made = tmp_path / "made"
    process = begun(made, "--", "sleep", "60")
    process.kill()
    process.wait()
    for entry in Path("/proc").glob("[0-9]*/stat"):
        # The program lives on; its session is the profiler's.
        try:
            words = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if words[3] == str(process.pid):
            os.kill(int(entry.parent.name), signal.SIGKILL)
    process.communicate()
    lines = (made / "samples.jsonl").read_bytes()
    frame = recording.rates(made)
    assert frame.height >= 2
    assert frame["to_s"][-1] == json.loads(lines[: lines.rindex(b"\n")].splitlines()[-1])["t"]
    assert header(made).duration_s is None
    (made / "samples.jsonl").write_bytes(lines + b'{"t":99,"host":"')
    assert recording.rates(made).equals(frame)
    found = analyse(made)
    assert found.duration_s == frame["to_s"][-1]
    assert "interrupted" in found.notes[0]
    (made / "samples.jsonl").write_bytes(b"{}\n" + lines)
    with pytest.raises(ValueError, match=r"samples.jsonl:1: expected a sample"):
        recording.rates(made)


def test_signals_go_to_the_program(tmp_path: Path) -> None:
    script = "trap 'echo ended; exit 5' TERM; while :; do sleep 0.05; done"
    process = begun(tmp_path / "made", "--", "sh", "-c", script)
    process.terminate()
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 5 and out.startswith("ended\n")
    assert header(tmp_path / "made").exit_status == 5


def test_ctrl_c_ends_the_program_and_completes_the_recording(tmp_path: Path) -> None:
    process = begun(tmp_path / "made", "--", "sleep", "60")
    # A terminal sends it to the whole group.
    os.killpg(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and "sleep: " in out
    assert header(tmp_path / "made").exit_status == 130


def test_a_running_process_is_watched_to_its_end(tmp_path: Path) -> None:
    made = tmp_path / "made"
    line = ["sh", "-c", "cat; exit 3"]
    with subprocess.Popen(line, stdin=subprocess.PIPE) as program:
        watching = begun(made, "--pid", program.pid)
        program.communicate()
        out, err = watching.communicate(timeout=60)
    assert watching.returncode == 0, err
    assert "sh: " in out
    of_header = header(made)
    assert of_header.attached == Attached(pid=program.pid) and of_header.exit_status is None
    assert recording.rates(made)["tree.processes"].max() == 2


def test_processes_are_watched_by_name(tmp_path: Path) -> None:
    made = tmp_path / "made"
    named = tmp_path / "a-long-program-name"
    named.symlink_to("/bin/sleep")
    watching = begun(made, "--pid-name", named.name)
    with subprocess.Popen([named, "60"]) as one, subprocess.Popen([named, "60"]) as other:
        before = count(made)
        wait_for(lambda: count(made) >= before + 2)
        one.kill()
        other.kill()
    out, err = watching.communicate(timeout=60)
    assert watching.returncode == 0, err
    assert recording.rates(made)["tree.processes"].max() == 2
    assert named.name in out


def test_a_span_of_time(tmp_path: Path) -> None:
    made = tmp_path / "made"
    profile(made, "--time", "0.5")
    assert header(made).duration_s == pytest.approx(0.5, abs=0.45)
    assert "tree.user" not in recording.rates(made).columns


def test_a_span_of_time_that_is_interrupted(tmp_path: Path) -> None:
    process = begun(tmp_path / "made", "--time", "60")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130 and "system: " in out
    assert header(tmp_path / "made").duration_s is not None


def test_a_control_group(tmp_path: Path) -> None:
    above = next(
        (
            it
            for it in (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
            if (it / "cgroup.controllers").exists()
        ),
        None,
    )
    group = None if above is None else above / f"headrace-test-{os.getpid()}"
    try:
        if group is None:
            pytest.skip("no control groups of version 2")
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made: {error}")
    try:
        program = subprocess.Popen(["sh", "-c", "sleep 60 & wait"])
        (group / "cgroup.procs").write_text(f"{program.pid}\n")
        made = tmp_path / "made"
        watching = begun(made, "--cgroup", group)
        for number in (group / "cgroup.procs").read_text().split():
            os.kill(int(number), signal.SIGKILL)
        program.wait()
        watching.send_signal(signal.SIGINT)
        watching.communicate(timeout=60)
        assert watching.returncode == 0
        frame = recording.rates(made)
        assert frame["tree.processes"].max() in (1, 2)
        assert "cgroup.user" in frame.columns
    finally:
        wait_for(lambda: not (group / "cgroup.procs").read_text().strip())
        group.rmdir()


def test_a_recording_is_evaluated_again(tmp_path: Path) -> None:
    made = tmp_path / "made"
    profile(made, "--name", "my program", "--", "true")
    before = (made / "profile.json").read_bytes()
    (made / "profile.json").unlink()
    done = command("profile", "--again", made, "--no-store")
    assert done.returncode == 0 and "my program: " in done.stdout
    assert (made / "profile.json").read_bytes() == before


def test_a_profile_is_in_the_store(tmp_path: Path, place: Path) -> None:
    environment = os.environ | {"HEADRACE_STORE": str(place)}
    words = ("profile", "-o", tmp_path / "made", "--interval", "0.1", "--label", "disk=new")
    done = command(*words, "--", "true", env=environment)
    assert done.returncode == 0 and "in the store: " in done.stdout
    (entry,) = hr.store.open(place).list().to_dicts()
    assert (entry["kind"], entry["name"]) == ("profile", "true")
    shown = command("results", "show", "last", env=environment)
    assert "page cache" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((), "nothing to profile: expected -- and a command"),
        (("--interval", "0.05", "--", "true"), "--interval 0.05: expected 0.1 s to 1e+09 s"),
        (("--interval", "inf", "--", "true"), "'--interval': \"inf\": expected"),
        (("--time", "0"), "--time 0: expected a time above 0 s and up to 1e+09 s"),
        (("--time", "nan"), '"nan": expected a time such as'),
        (("--time", "inf"), '"inf": expected a time such as'),
        (("--pid-name", ""), "--pid-name: expected the name of a process"),
        (("--time", "1", "--", "true"), "--time watches running processes"),
        (("--pid", "1", "--cgroup", "/sys"), "--pid and --cgroup: expected one of them"),
        (("--pid", "4194304999"), "no such process"),
        (("--cgroup", "/etc"), "no control group of version 2"),
        (("--capture", "strace", "--time", "1"), "--capture strace: expected"),
        (("--again", "/etc"), "--again runs and watches nothing"),
    ],
)
def test_wrong_options(tmp_path: Path, arguments: Sequence[str], expected: str) -> None:
    done = profile(tmp_path / "made", *arguments, status=2)
    assert expected in done.stderr and len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_directory_in_use_is_refused(tmp_path: Path) -> None:
    profile(tmp_path / "made", "--", "true")
    done = profile(tmp_path / "made", "--", "true", status=2)
    assert "expected a new or an empty directory" in done.stderr


def test_damaged_recordings(tmp_path: Path) -> None:
    for content, expected in (
        ("", "expected the header"),
        ('{"format": 9}', "expected the header"),
    ):
        (tmp_path / "recording.json").write_text(content)
        done = command("profile", "--again", tmp_path, "--no-store")
        assert done.returncode == 2 and expected in done.stderr
        assert len(done.stderr.splitlines()) == 1
    write_header(tmp_path, made_header(["a"]))
    sample = {"t": 0.0, "host": "a", "memory": {"total": "x"}, "processors": {}}
    lines = [json.dumps(sample | {"t": float(it)}) for it in range(3)]
    (tmp_path / "samples.jsonl").write_text("\n".join(lines) + "\n")
    done = command("profile", "--again", tmp_path, "--no-store")
    assert done.returncode == 2 and "the counters of processors are damaged" in done.stderr


def made_header(hosts: list[str]) -> Header:
    return Header(
        version="0",
        name="a",
        command=[],
        started="2026-11-22T13:17:28.000000Z",
        interval_s=1.0,
        hosts=hosts,
    )


def made_samples(directory: Path, hosts: list[str], values: Sequence[int]) -> None:
    write_header(directory, made_header(hosts))
    with (directory / "samples.jsonl").open("w", encoding="utf-8") as file:
        for number, value in enumerate(values):
            for scale, host in enumerate(hosts, 1):
                raw = {
                    "t": number + 0.1 * scale,
                    "host": host,
                    "kernel_threads": {"time_ns": scale * value * 10**9},
                }
                file.write(json.dumps(raw) + "\n")


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"hosts": []}, "hosts: expected at least one name"),
        ({"interval_s": 0}, "interval_s = 0: expected seconds above 0"),
        ({"duration_s": -5}, "duration_s = -5: expected seconds from 0"),
        ({"duration_s": 1e300}, "duration_s = 1e+300: expected seconds from 0"),
        ({"started": "yesterday"}, 'started = "yesterday": expected a time such as'),
        ({"capture": "../etc"}, 'capture = "../etc": expected null or one of strace'),
    ],
)
def test_headers_that_no_recording_has(
    tmp_path: Path, changed: dict[str, Any], expected: str
) -> None:
    content = {"format": 1, "version": "1", "name": "a", "command": ["a"], "interval_s": 1.0}
    content |= {"started": "2026-01-31T12:00:00Z", "hosts": ["a"]} | changed
    (tmp_path / "recording.json").write_text(json.dumps(content))
    with pytest.raises(ValueError) as error:
        recording.read_header(tmp_path)
    assert f"recording.json: {expected}" in str(error.value)


@pytest.mark.parametrize("time", ["nan", 1e300, -1e300, 0.5, "x"])
def test_times_that_no_recording_has(tmp_path: Path, time: Any) -> None:
    write_header(tmp_path, made_header(["a"]))
    lines = [{"t": 1.0, "host": "a"}, {"t": time, "host": "a"}, {"t": 2.0, "host": "a"}]
    (tmp_path / "samples.jsonl").write_text("".join(json.dumps(it) + "\n" for it in lines))
    with pytest.raises(ValueError, match=r"samples\.jsonl:2: "):
        recording.rates(tmp_path)


def test_a_recording_without_an_interval_says_so(tmp_path: Path) -> None:
    write_header(tmp_path, made_header(["a"]))
    (tmp_path / "samples.jsonl").write_text('{"t": 0.0, "host": "b"}\n' * 3)
    profile = analyse(tmp_path, baseline_directory=None)
    assert profile.verdict is None
    assert "no verdict: samples.jsonl has fewer than two samples of a" in profile.notes


def test_hosts_of_one_file(tmp_path: Path) -> None:
    made_samples(tmp_path, ["a", "b"], [0, 1, 3, 6])
    assert recording.rates(tmp_path)["cpu.kernel_threads"].to_list() == pytest.approx([1, 2, 3])
    of_b = recording.rates(tmp_path, "b")
    assert of_b["cpu.kernel_threads"].to_list() == pytest.approx([2, 4, 6])
    assert of_b["from_s"].to_list() == pytest.approx([0.2, 1.2, 2.2])
    with pytest.raises(ValueError, match='no host "c": expected one of a, b'):
        recording.rates(tmp_path, "c")


def test_the_running_mean_leaves_the_samples_unchanged(tmp_path: Path) -> None:
    made_samples(tmp_path, ["a"], [it * it for it in range(25)])
    frame = recording.rates(tmp_path)
    smooth = recording.smoothed(frame)
    values = frame["cpu.kernel_threads"].to_list()
    assert smooth["cpu.kernel_threads"][20] == pytest.approx(sum(values[11:21]) / 10)
    assert smooth["cpu.kernel_threads"][0] == values[0]
    assert smooth["to_s"].equals(frame["to_s"])
    assert frame.equals(recording.rates(tmp_path))


def test_missed_intervals_are_noted(tmp_path: Path) -> None:
    from headrace.profile.counters import Watched
    from headrace.profile.sampler import Sampler

    sampler = Sampler(tmp_path / "samples.jsonl", Watched(), "a", sources=())
    waits = 0

    def wait(until_s: float) -> bool:
        nonlocal waits
        waits += 1
        if waits == 2:
            until_s += 0.35
        time.sleep(max(until_s - sampler.elapsed_s(), 0.0))
        return waits == 4

    sampler.sample()
    sampler.run(0.1, wait, early_s=())
    sampler.close()
    lines = [json.loads(it) for it in (tmp_path / "samples.jsonl").read_text().splitlines()]
    assert len(lines) == 5
    assert lines[2]["missed"] >= 3
    # The schedule has not moved.
    due = 0.1 * (3 + lines[1].get("missed", 0) + lines[2]["missed"])
    assert lines[3]["t"] >= due


@pytest.mark.parametrize("end_s", [0.03, 0.3, 1.5])
def test_a_short_recording_uses_its_early_samples(tmp_path: Path, end_s: float) -> None:
    times = [it for it in (*EARLY_S, 1.0) if it < end_s] + [end_s]
    made_early(tmp_path, times)
    frame = recording.rates(tmp_path)
    assert 2 <= frame.height <= 11
    lengths = frame["to_s"] - frame["from_s"]
    assert lengths[:-1].min() >= end_s / 10 - 1e-9  # type: ignore[operator]
    assert frame["from_s"][0] == 0.0 and frame["to_s"][-1] == end_s
    # Left out or not, the busiest thread used one core all the time.
    assert frame["tree.busiest_thread"].to_list() == pytest.approx([1.0] * frame.height)


def test_a_long_recording_has_equal_intervals(tmp_path: Path) -> None:
    made_early(tmp_path, [*EARLY_S, 1.0, 2.0, 3.0])
    frame = recording.rates(tmp_path)
    assert frame["from_s"].to_list() == [0.0, 1.0, 2.0]
    assert frame["tree.busiest_thread"].to_list() == pytest.approx([1.0] * 3)


def made_early(directory: Path, times: Sequence[float]) -> None:
    """Samples of a thread that computes, early ones in the first second."""
    made_samples(directory, ["a"], [0])
    lines, last = [], 0.0
    states = dict.fromkeys(("user", "system", "minor_faults", "major_faults", "busiest_delay"), 0)
    for t in (0.0, *times):
        of_tree: dict[str, Any] = states | {
            "user": t,
            "busiest": t - last,
            "states": {"R": 1},
            "threads": 1,
        }
        of_tree |= {"alive": 1, "resident": 0, "begin": 0, "processes": {}}
        line = {"t": t, "host": "a", "tree": of_tree}
        lines.append(line | ({"early": True} if t in EARLY_S and t != times[-1] else {}))
        last = t
    text = "".join(json.dumps(it) + "\n" for it in lines)
    (directory / "samples.jsonl").write_text(text)


def test_a_program_shorter_than_an_interval_has_a_verdict(tmp_path: Path) -> None:
    made = tmp_path / "made"
    line = ["profile", "-o", made, "--no-store", "--no-report", "--capture", "none", "--json"]
    done = command(*line, "--", "sleep", "0.3")
    document = json.loads(done.stdout)
    assert document["verdict"] == "waiting" and document["duration_s"] < 1.0
    assert recording.rates(made).height >= 3


def test_hosts_have_verdicts_of_their_own(tmp_path: Path) -> None:
    write_header(tmp_path, made_header(["a", "b", "c"]))
    lines = []
    for t in range(12):
        for host, busy in (("a", 0.0), ("b", 1.0)):
            of_tree: dict[str, Any] = {
                "user": busy * t,
                "system": 0,
                "minor_faults": 0,
                "major_faults": 0,
            }
            of_tree |= {"busiest": busy, "states": {"R" if busy else "S": 1}, "threads": 1}
            of_tree |= {"alive": 1, "resident": 0, "begin": 0, "processes": {}}
            lines.append(json.dumps({"t": t + busy / 10, "host": host, "tree": of_tree}))
    (tmp_path / "samples.jsonl").write_text("".join(it + "\n" for it in lines))
    profile = analyse(tmp_path, advice=False)
    assert [(it.host, it.verdict) for it in profile.host_verdicts] == [
        ("a", "waiting"),
        ("b", "cpu"),
        ("c", None),
    ]
    # The host that a resource limits is the one of the document.
    assert (profile.host, profile.verdict) == ("b", "cpu")
    assert profile.phases == profile.host_verdicts[1].phases
    assert [it for it in profile.notes if "fewer than two samples of c" in it]
    console = Console(width=80, file=io.StringIO())
    console.print(rendered(verdicts(profile)))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "limited by the processor (cpu) on b" in text
    assert "a      waiting" in text and "c      unknown" in text
    (tmp_path / "profile.json").write_bytes(to_json(profile))
    write_files(tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Verdicts of the hosts" in page


def test_hosts_are_sampled_on_one_clock(tmp_path: Path) -> None:
    try:
        subprocess.run(["unshare", "--uts", "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no other host can be played: unshare --uts is not allowed")
    made = tmp_path / "made"
    line = (*HEADRACE, "profile", "-o", str(made), *FAST, "--time", "1", "--json")
    other = ("unshare", "--uts", "sh", "-c", 'hostname other; exec "$@"', "sh", *line)
    done = subprocess.run(
        started((2, line), (2, other)), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    here = os.uname().nodename
    assert document["hosts"] == [here, "other"]
    assert [it["host"] for it in document["host_verdicts"]] == [here, "other"]
    assert all(it["phases"] for it in document["host_verdicts"])
    assert sorted(it.name for it in made.iterdir()) == [
        "profile.json",
        "recording.json",
        "samples.jsonl",
    ]
    times = [json.loads(it)["t"] for it in (made / "samples.jsonl").read_text().splitlines()]
    assert times == sorted(times)
    frames = [recording.rates(made, it) for it in document["hosts"]]
    for frame in frames:
        assert frame.height >= 2
        # All begin at the time 0 of the first host's clock.
        assert abs(frame["from_s"][0]) < 0.5
        assert frame["to_s"][-1] >= 1.0
    assert header(made).clock_uncertainty_s is not None
    # Both hosts are one machine.
    assert frames[0]["memory.total_bytes"][0] == frames[1]["memory.total_bytes"][0]


def test_several_ranks_start_no_program(tmp_path: Path) -> None:
    line = (*HEADRACE, "profile", "-o", str(tmp_path / "made"), *FAST, "--", "true")
    done = subprocess.run(started((2, line)), capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "under mpirun, headrace profile watches" in done.stderr


def test_a_recording_imports_no_tables() -> None:
    """They take time and memory that the program may need."""
    code = "import sys, headrace.profile.recorder; print('polars' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n"
