"""Benchmarks by many ranks, with a real MPI."""

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import headrace.measure as measure
from command import without_need
from mpi import HEADRACE, started, under_way

IN_PHASES = """
[clients]
count = 5
processes = 2
[[workload]]
block = "1 MiB"
transfer = "64 KiB"
phases = ["write", "sync", "read", "write", "read"]
io.verify = true
[[workload]]
block = "256 KiB"
transfer = "64 KiB"
access = "shared"
phases = ["read"]
io.existing = true
io.verify = true
"""
MIX = """
[clients]
count = 4
[[workload]]
kind = "operation-mix"
weights = { read = 5, write = 5, stat = 5, create = 1, unlink = 3 }
amount = 200
files = 20
file_sizes = { "64 KiB" = 1 }
"""
FOREVER = """
[clients]
count = 4
[[workload]]
block = "1 MiB"
transfer = "4 KiB"
phases = ["write", "read"]
repeat = "forever"
[run.stop]
time = "1 h"
"""


def bench(*arguments: object) -> tuple[str, ...]:
    return (*HEADRACE, "bench", *map(str, arguments))


def ended(*parts: tuple[int, tuple[str, ...]]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(started(*parts), capture_output=True, text=True, timeout=120)


def document(*parts: tuple[int, tuple[str, ...]]) -> dict[str, Any]:
    """What the first rank prints, which must be one document."""
    done = ended(*parts)
    assert (done.returncode, without_need(done.stderr)) == (0, "")
    read: dict[str, Any] = json.loads(done.stdout)
    return read


@pytest.mark.parametrize("text", [IN_PHASES, MIX])
def test_many_ranks_do_together_what_one_does(text: str, tmp_path: Path, below: Path) -> None:
    file = tmp_path / "workload.toml"
    file.write_text(text)
    one = measure.measure(measure.load(file), below).document
    many = document((3, bench("run", file, below, "--json", "--no-store")))
    assert many["processes"] == one["processes"]
    for name, counted in one["operations"].items():
        there = many["operations"][name]
        assert (there["count"], there["bytes"]) == (counted["count"], counted["bytes"])
        assert many["latency"][name]["count"] == counted["count"]
    for name, counted in one["operation_groups"].items():
        there = many["operation_groups"][name]
        assert (there["count"], there["bytes"]) == (counted["count"], counted["bytes"])
        assert there["latency"]["count"] == counted["count"]
    assert many["files"] == one["files"]
    (host,) = many["hosts"]
    assert (host["ranks"], host["processes"]) == ([0, 1, 2], one["processes"])
    assert host["warnings"] == many["warnings"]
    assert list(below.iterdir()) == []


def test_no_rank_begins_a_phase_before_all_have_ended_the_last(tmp_path: Path, below: Path) -> None:
    file = tmp_path / "workload.toml"
    file.write_text(IN_PHASES)
    # The last rank has twice the work of the first.
    done = document((3, bench("run", file, below, "--json", "--no-store")))
    phases = [it for it in done["phases"] if it["workload"] == 0]
    assert [it["phase"] for it in phases] == [0, 1, 2, 3, 4]
    apart = done["start"]["skew_s"] + done["start"]["uncertainty_s"]
    for before, after in itertools.pairwise(phases):
        assert before["to_s"] <= after["from_s"] + apart


def test_each_host_is_told_of_with_its_own_warnings(tmp_path: Path, below: Path) -> None:
    file = tmp_path / "workload.toml"
    file.write_text(IN_PHASES)
    run = bench("run", file, below, "--json", "--no-store")
    try:
        subprocess.run(["unshare", "--uts", "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no other host can be played: unshare --uts is not allowed")
    other = ("unshare", "--uts", "sh", "-c", 'hostname other; exec "$@"', "sh", *run)
    done = document((1, run), (2, other))
    assert [(it["ranks"], it["processes"]) for it in done["hosts"]] == [([0], 4), ([1, 2], 16)]
    assert done["hosts"][1]["name"] == "other"
    told = {it["message"] for it in done["warnings"] if it["condition"] == "oversubscribed"}
    processors = os.cpu_count() or 1
    of_other = [it for it in told if it.startswith("other: 16 processes")]
    assert len(of_other) == (1 if processors < 16 else 0)


def test_a_rank_that_fails_ends_all(tmp_path: Path, below: Path) -> None:
    file = tmp_path / "workload.toml"
    file.write_text(FOREVER.replace("1 MiB", "64 MiB").replace("4 KiB", "1 MiB"))
    run = bench("run", file, below, "--json", "--no-store")
    # 32 MiB, in blocks of 512 bytes: enough for what MPI needs.
    limited = ("sh", "-c", 'ulimit -f 65536; exec "$@"', "sh", *run)
    done = ended((1, run), (1, limited))
    assert done.returncode == 1
    assert len(without_need(done.stderr).splitlines()) == 1
    assert "rank 1 on " in done.stderr and "File too large" in done.stderr
    read = json.loads(done.stdout)
    assert read["stop"]["reason"] == "failed" and read["operations"]["write"]["count"] > 0
    assert list(below.iterdir()) == []


def test_a_directory_that_not_all_ranks_see_is_refused(tmp_path: Path, below: Path) -> None:
    file = tmp_path / "workload.toml"
    file.write_text(IN_PHASES)
    another = tmp_path / "another"
    another.mkdir()
    done = ended((1, bench("run", file, below)), (1, bench("run", file, another)))
    assert (done.returncode, done.stdout) == (2, "")
    assert len(without_need(done.stderr).splitlines()) == 1
    assert "rank 1 on " in done.stderr and "that all hosts share" in done.stderr
    # So is one whose rank has left before.
    done = ended((1, bench("run", file, below)), (1, bench("run", "missing.toml", below)))
    assert (done.returncode, done.stdout) == (2, "")
    assert "rank 1 on " in done.stderr and "missing.toml" in done.stderr
    assert [*below.iterdir(), *another.iterdir()] == []


def test_what_many_ranks_cannot_do_is_one_error(tmp_path: Path, below: Path) -> None:
    file = tmp_path / "workload.toml"
    file.write_text(IN_PHASES.replace("count = 5", "count = 1"))
    done = ended((2, bench("run", file, below)))
    assert (done.returncode, done.stdout) == (2, "")
    assert "expected at least 2" in done.stderr
    assert len(without_need(done.stderr).splitlines()) == 1
    assert list(below.iterdir()) == []
    # Ten processes, of all ranks together; one on each rank.
    file.write_text(IN_PHASES)
    for what, takes in (
        (("run", file, below, "--set", "workload.0.block=1 PiB"), "needs 11.3 PB"),
        (("blocks", below, "--file-size", "1024TiB", "--block-sizes", "1m"), "needs 2.25 PB"),
    ):
        done = ended((2, bench(*what)))
        assert (done.returncode, done.stdout) == (2, "")
        assert takes in done.stderr, done.stderr
        assert "quotas are not checked" in done.stderr and len(done.stderr.splitlines()) == 1
        assert list(below.iterdir()) == []
    done = ended((2, bench("clean", below)))
    assert done.returncode == 2 and "without mpirun" in done.stderr


def running(file: Path, below: Path) -> tuple["subprocess.Popen[str]", list[int]]:
    """A benchmark of three ranks that goes on until it is ended, and its ranks."""
    saved = file.with_suffix(".json")
    line = started((3, bench("run", file, below, "--no-store", "-o", saved)))
    files = "headrace-bench-*/hr-w0/hr-d0/hr-f*"
    mpirun, ranks = under_way(line, str(saved), lambda: len(list(below.glob(files))) == 4)
    assert len(ranks) == 3
    return mpirun, ranks


def test_ctrl_c_leaves_one_marked_result_and_no_files(tmp_path: Path, below: Path) -> None:
    file = tmp_path / "forever.toml"
    file.write_text(FOREVER)
    mpirun, _ = running(file, below)
    mpirun.send_signal(signal.SIGINT)
    _, err = mpirun.communicate(timeout=60)
    assert without_need(err).splitlines() == ["interrupted"]
    saved = json.loads(file.with_suffix(".json").read_text())
    assert saved["stop"]["reason"] == "interrupted"
    assert saved["operations"]["write"]["count"] > 0
    assert list(below.iterdir()) == []


def test_ctrl_c_as_ranks_start_ends_all(below: Path) -> None:
    options = ("--rates", 50, "--time", 60, "--calls", "null", "--no-store", "--no-progress")
    line = started((2, bench("mix", below, *options)))
    for delay in (0.2, 0.5, 1.0, 1.5, 2.0, 3.0):
        mpirun = subprocess.Popen(
            line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(delay)
        # As a terminal does: to all that mpirun has started.
        for process in [mpirun.pid, *_ranks(str(below))]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGINT)
        assert mpirun.wait(timeout=60) != 0, delay
        deadline = time.monotonic() + 60
        while _ranks(str(below)):
            assert time.monotonic() < deadline, f"ranks go on after Ctrl-C at {delay} s"
            time.sleep(0.05)


def _ranks(word: str) -> list[int]:
    """The processes that have a word in their command lines, but mpirun's own."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_text().split("\0")
            if words[0] == sys.executable and word in words:
                found.append(int(entry.name))
    return found


def test_one_rank_that_is_interrupted_ends_all(tmp_path: Path, below: Path) -> None:
    file = tmp_path / "forever.toml"
    file.write_text(FOREVER)
    mpirun, ranks = running(file, below)
    os.kill(ranks[-1], signal.SIGINT)
    mpirun.communicate(timeout=60)
    saved = json.loads(file.with_suffix(".json").read_text())
    assert saved["stop"]["reason"] == "interrupted"
    assert list(below.iterdir()) == []


def test_a_rank_that_is_killed_ends_the_job_and_what_is_left_can_be_cleaned(
    tmp_path: Path, below: Path
) -> None:
    file = tmp_path / "forever.toml"
    file.write_text(FOREVER)
    mpirun, ranks = running(file, below)
    os.kill(ranks[1], signal.SIGKILL)
    mpirun.communicate(timeout=60)
    assert mpirun.returncode != 0
    for _ in range(200):
        removed, left = measure.clean(below)
        if not left:
            break
        # mpirun ends the other ranks, which takes a moment.
        time.sleep(0.05)
    assert removed and not left and list(below.iterdir()) == []


@pytest.mark.parametrize("command", [("run", "FILE"), ("explain", "FILE"), ("results", "list")])
def test_what_is_not_divided_is_refused_once(command: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "workload.toml"
    file.write_text(IN_PHASES)
    words = [str(file) if word == "FILE" else word for word in command]
    done = ended((3, (*HEADRACE, *words)))
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert f"headrace {command[0]} runs on one rank only" in done.stderr


def test_a_ladder_goes_on_with_as_many_ranks(tmp_path: Path, below: Path) -> None:
    saved = tmp_path / "ladder.json"
    options = ("--time", 0.3, "--warm-up", 0.1, "--calls", "null", "--no-store", "--json")
    first = document((2, bench("mix", below, "--rates", "50", *options, "-o", saved)))
    more = bench("mix", below, "--rates", "50,100", *options, "--resume", saved)
    refused = ended((3, more))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "it is of 2 ranks, and these are 3" in refused.stderr
    both = document((2, more))
    assert both["steps"][0] == first["steps"][0] and len(both["steps"]) == 2
    assert both["ranks"] == json.loads(saved.read_text())["ranks"] == 2


def test_ladders_and_studies_go_the_same_way_on_all_ranks(tmp_path: Path, below: Path) -> None:
    options = ("--start", 50, "--refinements", 0, "--time", 0.2, "--warm-up", 0.05)
    null = ("--calls", "null", "--response-limit", 0, "--json")
    done = document((2, bench("mix", below, *options, *null)))
    # Nothing is answered within no time: halved until there is no lower load to try.
    assert (done["kind"], done["of"]) == ("load-sweep", "loads") and len(done["steps"]) > 2
    assert done["cut_off"] and not done["kept_up"]
    study = bench("meta", below, "--processes", "1,2", "--files", 5, "--repetitions", 1)
    done = document((2, (*study, "--json", "--no-store")))
    assert done["ranks"] == 2
    made = [row for row in done["summary"] if row["test"] == "create"]
    assert [row["processes"] for row in made] == [1, 2]
    assert list(below.iterdir()) == []


def test_ranks_that_mpi_does_not_know_are_refused(tmp_path: Path, below: Path) -> None:
    file = tmp_path / "workload.toml"
    file.write_text(IN_PHASES)
    missing = tmp_path / "modules"
    (missing / "mpi4py").mkdir(parents=True)
    text = 'raise ModuleNotFoundError("No module named mpi4py", name="mpi4py")'
    (missing / "mpi4py" / "__init__.py").write_text(text)

    def refused(launcher: str = "OMPI_COMM_WORLD_SIZE", **variables: str) -> str:
        line = bench("run", file, below)
        variables = os.environ | {launcher: "2"} | variables
        done = subprocess.run(line, capture_output=True, text=True, timeout=60, env=variables)
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1
        return done.stderr

    assert 'pip install "headrace[mpi]"' in refused(PYTHONPATH=str(missing))
    started()
    assert "2 ranks were started, and mpi4py sees 1: expected an mpirun of" in refused()
    # What srun --mpi=none, the default of Slurm, sets: each would take itself for the only one.
    assert "mpi4py sees 1: expected srun --mpi=pmi2" in refused("SLURM_STEP_NUM_TASKS")


def test_without_mpirun_nobody_asks_for_mpi(tmp_path: Path, below: Path) -> None:
    file = tmp_path / "workload.toml"
    file.write_text(MIX)
    text = (
        "import sys, headrace.measure as m\n"
        f"document = m.measure(m.load({str(file)!r}), {str(below)!r}).document\n"
        "assert 'hosts' not in document and 'mpi4py' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", text], check=True, timeout=60)
