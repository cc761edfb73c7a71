"""Traces through the real command: simulated, and carried out in a directory."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command import command
from headrace.trace import frame, import_trace, open_trace, trace_info
from headrace.trace.batches import skipped_kinds

TRACES = Path(__file__).parents[1] / "data" / "traces"
SCENARIOS = Path(__file__).parents[2] / "scenarios"
NAMES = [
    "log.csv",
    "tar.strace",
    "untar.strace",
    "copy.strace",
    "git.strace",
    "sqlite.strace",
    "build.strace",
]
LOCAL = """kind = "local"
system = "ext4"
[clients]
count = 1
[machine.device]
kind = "simple"
read_rate = "100 MB/s"
write_rate = "100 MB/s"
time_per_request = "8 ms"
"""


def _scenario(folder: Path, trace: str) -> Path:
    scenario = folder / "replay.toml"
    scenario.write_text(f'{LOCAL}[[workload]]\nkind = "trace"\nfile = "{TRACES / trace}"\n')
    return scenario


def _run(*arguments: object) -> dict[str, Any]:
    done = command(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def _counts(document: dict[str, Any], *by: str) -> tuple[int, int]:
    """Operations done, and what was left out by these."""
    done = sum(it["count"] for it in document["operations"].values())
    left = [it["count"] for it in document.get("left_out", ()) if it["by"] in by]
    return done, sum(left)


@pytest.mark.parametrize("trace", NAMES)
def test_every_record_is_carried_out_or_counted(trace: str, tmp_path: Path) -> None:
    scenario = _scenario(tmp_path, trace)
    information = trace_info(TRACES / trace)
    recorded = {it["operation"]: it["count"] for it in information.summary["operations"]}
    bench = tmp_path / "bench"
    bench.mkdir()
    measured = _run("bench", "run", scenario, bench)
    # A simulation also follows what passes between processes.
    for document, messages in ((_run("run", scenario), True), (measured, False)):
        done, left = _counts(document, "replay", "engine")
        assert done + left == information.summary["records"]
        reader = open_trace(TRACES / trace, messages=messages)
        frame(reader)
        left_out = [it for it in skipped_kinds(reader.skipped()) if it.reason != "assumed"]
        assert _counts(document, "trace reader")[1] == sum(it.count for it in left_out)
        for name in ("sync", "close"):
            counted = document["operations"].get(name, {"count": 0})["count"]
            left_out = document.get("left_out", ())
            counted += sum(
                it["count"] for it in left_out if (it["by"], it["what"]) == ("replay", name)
            )
            assert counted == recorded.get(name, 0), name
    assert not [it for it in measured.get("left_out", ()) if it["by"] == "engine"]
    assert list(bench.iterdir()) == []


def test_the_shipped_trace_is_replayed(tmp_path: Path) -> None:
    document = _run("bench", "run", SCENARIOS / "replayed-trace.toml", tmp_path)
    assert document["stop"]["reason"] == "workload"
    assert document["operations"]["read"]["bytes"] == 864_898
    assert document["operations"]["write"]["bytes"] == 10_748


def test_what_is_left_out_is_in_the_table_and_the_last_line(tmp_path: Path) -> None:
    scenario = _scenario(tmp_path, "build.strace")
    for arguments in (("run", scenario), ("bench", "run", scenario, tmp_path)):
        done = command(*arguments)
        assert done.returncode == 0, done.stderr
        assert "Left out" in done.stdout
        last = done.stdout.split("Not supported, or only in part:")[-1]
        assert "call that is no file operation" in last


def test_repetitions_add_up_what_they_leave_out(tmp_path: Path) -> None:
    scenario = _scenario(tmp_path, "copy.strace")
    once = _run("bench", "run", scenario, tmp_path)
    twice = _run("bench", "run", scenario, tmp_path, "--repetitions", "2")
    for one, two in zip(once["left_out"], twice["left_out"], strict=True):
        assert two["count"] == 2 * one["count"]


UNTIMED = """\
5 openat(AT_FDCWD, "/a", O_RDWR|O_CREAT, 0644) = 3</a>
5 write(3</a>, "x"..., 4096) = 4096
5 pread64(3</a>, "x"..., 4096, 0) = 4096
5 close(3</a>) = 0
"""


@pytest.mark.parametrize("name", ["t.strace", "t.csv", "t.parquet"])
def test_a_timed_replay_needs_recorded_times(name: str, tmp_path: Path) -> None:
    """What is imported still says that no times were recorded."""
    source, trace = tmp_path / "t.strace", tmp_path / name
    source.write_text(UNTIMED)
    if trace != source:
        import_trace(source, trace)
    timed = ("--set", 'workload.0.replay="timed"')
    for ended in (
        command("run", _scenario(tmp_path, str(trace)), *timed),
        command("bench", "run", _scenario(tmp_path, str(trace)), tmp_path, *timed),
    ):
        assert ended.returncode == 2
        assert ended.stderr.startswith(f"{trace}: ") and ended.stderr.count("\n") == 1
        assert "the trace has no recorded times" in ended.stderr
    assert _counts(_run("run", _scenario(tmp_path, str(trace))))[0] == 4
    assert not list(tmp_path.glob("headrace-bench*"))


@pytest.mark.parametrize("name", ["zero.csv", "zero.parquet"])
def test_recorded_times_may_all_be_zero(name: str, tmp_path: Path) -> None:
    source, trace = tmp_path / "source.csv", tmp_path / name
    source.write_text(
        "time,process,operation,file,offset,size,duration\n"
        "0.0,1,create,/a,0,0,0\n0.0,1,write,/a,0,4096,0\n0,2,create,/b,0,0,0\n"
    )
    import_trace(source, trace)
    scenario, timed = _scenario(tmp_path, str(trace)), ("--set", 'workload.0.replay="timed"')
    assert _counts(_run("run", scenario, *timed))[0] == 3
    assert _counts(_run("bench", "run", scenario, tmp_path, *timed))[0] == 3


def test_a_parquet_trace_is_carried_out_as_its_text(tmp_path: Path) -> None:
    trace = tmp_path / "build.parquet"
    import_trace(TRACES / "build.strace", trace)
    text = _run("bench", "run", _scenario(tmp_path, "build.strace"), tmp_path)
    saved = tmp_path / "saved.json"
    scenario = _scenario(tmp_path, str(trace))
    document = _run("bench", "run", scenario, tmp_path, "--repetitions", 2, "-o", saved)
    assert document["stop"]["reason"] == "workload"
    assert f'file = "{trace}"' in document["scenario"]["toml"]
    one = _run("bench", "run", saved, tmp_path)
    for key in ("count", "bytes"):
        by = [{name: it[key] for name, it in of["operations"].items()} for of in (text, one)]
        assert by[0] == by[1]
    trace.write_bytes(b"PAR1 and nothing else")
    ended = command("bench", "run", scenario, tmp_path)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"{trace}: ") and ended.stderr.count("\n") == 1


MSR = "128166372003061629,usr,0,Write,0,8192,1000\n128166372003161629,usr,0,Read,4096,4096,1000\n"
OPENED = (
    "time,process,operation,file,offset,size,duration,flags,other\n"
    "0.0,1,create,/f,0,0,0.0,write|synchronous,\n"
    "0.1,1,write,/f,0,1000,0.0,,\n"
    "0.2,1,write,/f,1000,1000,0.0,,\n"
    "0.3,1,sync,/f,0,0,0.0,,\n"
    "0.4,1,close,/f,0,0,0.0,,\n"
)


def _opens_of_bench_run(folder: Path, scenario: Path) -> tuple[list[str], int]:
    """Open flags of the replayed files, and the number of fsyncs, from strace."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("needs strace")
    calls, target = folder / "calls", folder / "target"
    target.mkdir()
    watch: list[str | Path] = [
        strace,
        "-f",
        "-qq",
        "-o",
        calls,
        "-e",
        "trace=openat,openat2,open,fsync",
    ]
    run: list[str | Path] = [sys.executable, "-m", "headrace", "bench", "run", scenario, target]
    done = subprocess.run(
        [*watch, *run, "--no-store"],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )
    if "ptrace" in done.stderr and done.returncode:
        pytest.skip("needs ptrace")
    assert done.returncode == 0, done.stderr
    text = calls.read_text(errors="replace")
    opens = re.findall(
        r'open(?:at2?)?\(.*"[^"]*w0[^"]*/hr-[fn]0[^"]*", ?(?:\{flags=)?([A-Z_|]+)', text
    )
    return opens, len(re.findall(r"fsync\(\d+\) += 0", text))


def test_a_real_replay_opens_files_as_they_were_opened(tmp_path: Path) -> None:
    trace, scenario = tmp_path / "t.csv", tmp_path / "s.toml"
    trace.write_text(OPENED)
    scenario.write_text(f'{LOCAL}[[workload]]\nkind = "trace"\nfile = "{trace}"\n')
    opens, syncs = _opens_of_bench_run(tmp_path, scenario)
    assert any("O_SYNC" in it.split("|") for it in opens), opens
    assert syncs >= 1


def test_a_block_trace_is_direct_in_both_replays(tmp_path: Path) -> None:
    trace, scenario = tmp_path / "t.csv", tmp_path / "s.toml"
    trace.write_text(MSR)
    scenario.write_text(f'{LOCAL}[[workload]]\nkind = "trace"\nfile = "{trace}"\n')
    document = _run("run", scenario, "--no-store")
    assert document["replays"] == [
        {"workload": 0, "requests": 2, "direct": 2, "writes": 1, "synchronous": 0}
    ]
    # Each waits for a request to the device.
    assert document["latency"]["read"]["mean"] > 0.008
    text = command("run", scenario, "--no-store").stdout
    assert "2 of 2 reads and writes bypass the page cache" in " ".join(text.split())
    opens, _ = _opens_of_bench_run(tmp_path, scenario)
    assert any("O_DIRECT" in it.split("|") for it in opens), opens


def test_flags_survive_a_conversion(tmp_path: Path) -> None:
    trace, converted = tmp_path / "t.csv", tmp_path / "c.csv"
    trace.write_text(MSR)
    import_trace(trace, converted)
    assert [line.split(",")[7] for line in converted.read_text().splitlines()[1:]] == ["direct"] * 2
