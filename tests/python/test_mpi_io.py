"""`headrace bench ior -a MPIIO`: MPI.File under the real mpirun."""

import base64
import json
import os
import signal
import struct
import subprocess
import sys
import tomllib
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import command
from headrace import _core
from headrace.command_lines import read_command
from headrace.measure.mpi_io import APART, PLACES, _times
from mpi import HEADRACE, started, under_way

QUIET = ("--no-store", "--no-progress")
K = 1024
WRAPPED = """
import os, runpy, sys
from mpi4py import MPI
rank = MPI.COMM_WORLD.rank
{0}
sys.argv[0] = "headrace"
runpy.run_module("headrace", run_name="__main__", alter_sys=True)
"""
"""The command after a change of its process or files."""
FULL = """
import resource
if rank == 2:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
"""
DAMAGED = """
from headrace.measure.mpi_io import _Rank
phase = _Rank._phase

def damaging(self, access, number, turn, name, data):
    if name == "read" and rank == 0:
        with open(self.directory / "hr-f0", "r+b") as file:
            file.seek(200_000)
            byte = file.read(1)[0]
            file.seek(200_000)
            file.write(bytes([byte ^ 1]))
    return phase(self, access, number, turn, name, data)

_Rank._phase = damaging
"""


def run(ranks: int, *words: str, wrapper: str | None = None) -> subprocess.CompletedProcess[str]:
    python = (sys.executable, "-c", WRAPPED.format(wrapper))
    line = started((ranks, (*(HEADRACE if wrapper is None else python), "bench", "ior", *words)))
    return subprocess.run([*line, *QUIET], capture_output=True, text=True, timeout=300)


def measured(ranks: int, *words: str) -> dict[str, Any]:
    done = run(ranks, *words, "--json")
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def amounts(document: dict[str, Any]) -> dict[str, tuple[int, int]]:
    return {name: (each["count"], each["bytes"]) for name, each in document["operations"].items()}


def written(seed: int, transfer: int, number: int, file: int) -> bytes:
    """The data of a transfer, by its number in its file."""
    random = np.random.default_rng(seed).integers(0, 256, transfer + PLACES * APART, np.uint8)
    place = (number + file * 7919) % PLACES * APART
    return random[place : place + transfer].tobytes()


@pytest.mark.parametrize("collective", [False, True])
def test_four_ranks_fill_one_file(collective: bool, tmp_path: Path) -> None:
    words = ("-a", "MPIIO", *(["-c"] * collective), "-b", "256k", "-t", "64k", "-s", "2")
    document = measured(4, str(tmp_path), *words, "-w", "-r", "-R", "-e", "--keep")
    # Each of 4 ranks has 2 segments of 4 transfers, and opens the file to write and to read.
    expected = {"close": (8, 0), "open": (8, 0), "sync": (4, 0)}
    both = {"read": (32, 2048 * K), "write": (32, 2048 * K)}
    assert amounts(document) == expected | both
    assert document["calls"] == "mpi-io-collective" if collective else "mpi-io"
    assert (document["kind"], document["stop"]) == ("measured", {"reason": "workload"})
    assert (document["processes"], document["files"]["bytes"]) == (4, 2048 * K)
    assert document["hosts"][0]["ranks"] == [0, 1, 2, 3]
    (file,) = tmp_path.glob("*/hr-f*")
    content = file.read_bytes()
    parts = [content[at : at + 64 * K] for at in range(0, len(content), 64 * K)]
    assert parts == [written(1, 64 * K, number, 0) for number in range(32)]
    assert len(set(parts)) == 32
    for name, latency in document["latency"].items():
        figures = [latency[key] for key in ("p50", "p95", "p99", "max")]
        assert figures == sorted(figures) and latency["mean"] <= latency["max"], name
    spans = {(each["phase"], each["operation"]): each for each in document["phases"]}
    counted = {key: each["count"] for key, each in spans.items()}
    phases = {(0, "open"): 4, (0, "write"): 32, (0, "close"): 4, (1, "sync"): 4}
    assert counted == phases | {(2, "open"): 4, (2, "read"): 32, (2, "close"): 4}
    write = spans[0, "write"]
    rate = 2048 * K / (write["to_s"] - write["from_s"])
    assert document["throughput"]["write"] == pytest.approx(rate)
    assert spans[0, "write"]["to_s"] <= spans[2, "read"]["from_s"]


def test_ranks_read_the_files_of_others(tmp_path: Path) -> None:
    words = ("-a", "MPIIO", "-F", "-z", "-b", "256k", "-t", "64k", "-Y", "-W", "-R", "-i", "2")
    shift = ("--set", "workload.0.rank_shift=1", "--keep")
    document = measured(3, str(tmp_path), *words, "-w", *shift)
    repeated = {"read": (48, 3072 * K), "write": (24, 1536 * K), "sync": (24, 0)}
    assert amounts(document) == repeated | {"open": (18, 0), "close": (18, 0)}
    assert len(document["repetitions"]) == 2
    for repetition, directory in enumerate(sorted(tmp_path.iterdir())):
        seed = _core.replication_seed(1, repetition)
        for file in range(3):
            content = (directory / f"hr-f{file}").read_bytes()
            assert content == b"".join(written(seed, 64 * K, number, file) for number in range(4))


def test_one_process_needs_no_mpirun(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    words = (str(tmp_path), "-a", "MPIIO", "-c", "-b", "128k", "-t", "64k", "-r", "-R")
    line = (*HEADRACE, "bench", "ior", *words, "--json", *QUIET)
    done = subprocess.run(line, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert amounts(document)["read"] == (2, 128 * K)
    assert "write" not in document["operations"]
    assert list(tmp_path.iterdir()) == []


def test_wrong_data_and_a_full_disk_end_all_ranks(tmp_path: Path) -> None:
    words = (str(tmp_path), "-a", "MPIIO", "-b", "256k", "-t", "64k", "-w", "-R", "-s", "100")
    done = run(3, *words, "--json", wrapper=DAMAGED)
    assert "wrong data at 196608" in done.stderr, done.stderr
    assert json.loads(done.stdout)["stop"]["reason"] == "failed"
    assert done.returncode == 1
    assert list(tmp_path.iterdir()) == []
    for more in ((), ("-c",), ("-F",)):
        done = run(3, *words, *more, "--json", wrapper=FULL)
        assert "rank 2 on" in done.stderr and "File too large" in done.stderr, done.stderr
        document = json.loads(done.stdout)
        assert document["stop"]["reason"] == "failed"
        assert document["operations"]["write"]["count"] < 1200
        assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("more", ["-c", "-F"])
def test_an_interruption_ends_all_ranks(more: str, tmp_path: Path) -> None:
    directory, output = tmp_path / "there", tmp_path / "result.json"
    directory.mkdir()
    words = ("-a", "MPIIO", "-b", "4k", "-t", "4k", "-s", "200000", "-w", "-Y", more)
    options = (*QUIET, "-o", "x", "--output", str(output))
    line = (*HEADRACE, "bench", "ior", str(directory), *words, *options)
    mpirun, _ = under_way(started((2, line)), str(output), lambda: any(directory.glob("*/hr-f*")))
    mpirun.send_signal(signal.SIGINT)
    _, said = mpirun.communicate(timeout=120)
    document = json.loads(output.read_text())
    assert document["stop"]["reason"] == "interrupted", said
    assert document["operations"].get("write", {"count": 0})["count"] < 400_000
    assert list(directory.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-U", "hints"), "ior -a MPIIO: no hints (-U) or views (-V) are set"),
        (("--mpiio.useFileView",), "ior -a MPIIO: no hints (-U) or views (-V) are set"),
        (("-c", "-z"), "ior -z: processes that call together (-c) have no random order"),
        (("-B",), "workload.0.io.direct = true: MPI-IO does not follow it"),
        (("-D", "3"), 'workload.0.stonewall = "3 s": MPI-IO does not follow it'),
        (("-z", "-z"), 'workload.0.order = "uniform": MPI-IO does not follow it'),
        (("-N", "2"), "MPI-IO has one process on each rank: expected 1 in all, not 2"),
        (("--set", "run.warm_up='1 s'"), "MPI-IO does not follow it"),
    ],
)
def test_unsupported_options_are_refused(
    words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    done = command("bench", "ior", str(tmp_path), "-a", "MPIIO", "-w", *words, *QUIET)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_mpi4py_is_named_where_it_is_missing(tmp_path: Path) -> None:
    package = tmp_path / "without" / "mpi4py"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('raise ImportError("none", name="mpi4py")')
    paths = [str(package.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    line = (*HEADRACE, "bench", "ior", str(tmp_path), "-a", "MPIIO", "-w", *QUIET)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(line, capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 2
    assert 'MPI-IO needs mpi4py: install it with pip install "headrace[mpi]"' in done.stderr


def test_tests_of_a_script_have_one_interface(tmp_path: Path) -> None:
    script = tmp_path / "script.ior"
    script.write_text("IOR START\napi=MPIIO\nRUN\ncollective=1\nRUN\nIOR STOP\n")
    with pytest.raises(ValueError, match="tests with equal interfaces"):
        read_command("ior", ["-f", str(script)])
    script.write_text("IOR START\napi=MPIIO\ncollective=1\nRUN\nfilePerProc=1\nRUN\nIOR STOP\n")
    given = read_command("ior", ["-f", str(script)])
    assert given.calls == "mpi-io-collective"
    workloads = tomllib.loads(given.simulated())["workload"]
    assert [each.get("collective") for each in workloads] == [{"kind": "two-phase"}, None]
    assert read_command("ior", ["-c", "-w"]).calls == "posix"


@pytest.mark.parametrize("count", [1, 7, 10_000])
def test_histograms_have_the_quantiles(count: int) -> None:
    took = np.sort(np.random.default_rng(3).lognormal(11, 3, count).astype(np.int64))
    times: dict[str, Any] = _times(took)
    whole = bytes(times["histogram"])
    packed = zlib.compress(whole)
    text = base64.b64encode(struct.pack(">ii", 0x1C849314, len(packed)) + packed).decode()
    quantiles = [0.1, 0.5, 0.9, 0.99]
    number, _, longest, values = _core.merged_histograms([(text, None)], quantiles)
    assert number == count
    assert longest == pytest.approx(took[-1] * 1e-9, rel=2e-3)
    exact = [took[max(int(np.ceil(at * count)) - 1, 0)] * 1e-9 for at in quantiles]
    assert values == pytest.approx(exact, rel=2e-3, abs=2e-9)
    assert times["exact"] == {"sum": took.sum(), "least": took[0], "most": took[-1]}
