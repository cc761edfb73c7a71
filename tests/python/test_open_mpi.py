"""Benchmarks by ranks that Open MPI starts, where it is installed: the wheel of it on PyPI would
take the place of MPICH's mpirun, which the other tests need."""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from command import without_need
from headrace import measure
from mpi import HEADRACE, under_way

SCENARIO = Path(__file__).parents[2] / "scenarios" / "shared-file.toml"
LADDER = ("--time", "0.3", "--warm-up", "0.1", "--calls", "null", "--no-store", "--json")


@pytest.fixture(autouse=True)
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    """Open MPI wants to be told twice that root means it."""
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")


def started(count: int, *words: object) -> list[str]:
    """A command line that starts `count` ranks."""
    found = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    if found is None:
        pytest.skip("no Open MPI: apt install openmpi-bin")
    version = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
    if "Open MPI" not in version and "OpenRTE" not in version:
        pytest.skip("mpirun is not that of Open MPI")
    return [found, "--oversubscribe", "-n", str(count), *HEADRACE, *map(str, words)]


def ended(line: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(line, capture_output=True, text=True, timeout=120)


def document(line: list[str]) -> dict[str, Any]:
    done = ended(line)
    assert (done.returncode, without_need(done.stderr)) == (0, "")
    read: dict[str, Any] = json.loads(done.stdout)
    return read


def test_ranks_of_open_mpi_share_operations(tmp_path: Path) -> None:
    run = ("bench", "run", SCENARIO, tmp_path, "--json", "--no-store")
    done = document(started(3, *run, "--set", "workload.0.amount=100"))
    assert [it["ranks"] for it in done["hosts"]] == [[0, 1, 2]]
    assert done["sharing"]["rounds"] > 10 and done["sharing"]["broken_off"] == 0
    assert list(tmp_path.iterdir()) == []


def test_a_ladder_of_open_mpi_goes_on_with_as_many_ranks(tmp_path: Path) -> None:
    below, saved = tmp_path / "measured", tmp_path / "ladder.json"
    below.mkdir()
    first = document(started(2, "bench", "mix", below, "--rates", "50", *LADDER, "-o", saved))
    assert first["ranks"] == 2
    more = ("bench", "mix", below, "--rates", "50,100", *LADDER, "--resume", saved)
    refused = ended(started(3, *more))
    assert refused.returncode == 2
    assert "it is of 2 ranks, and these are 3" in refused.stderr
    both = document(started(2, *more))
    assert both["steps"][0] == first["steps"][0] and len(both["steps"]) == 2


def test_open_mpi_sweeps_over_client_hosts(tmp_path: Path) -> None:
    other = ("unshare", "--uts", "sh", "-c", 'hostname other; exec "$@"', "sh")
    if subprocess.run([*other, "true"], capture_output=True).returncode != 0:
        pytest.skip("no other host can be played: unshare --uts is not allowed")
    sweep = ("bench", "mix", tmp_path, "--rates", "50,100", "--client-hosts", "1,2", *LADDER)
    line = started(1, *sweep)
    words = line[line.index(HEADRACE[0]) :]
    done = document([*line, ":", "-n", "2", *other, *words, ":", "-n", "1", *words])
    assert [step["client_hosts"] for step in done["steps"]] == [1, 1, 2, 2]
    assert [it["ranks"] for it in done["steps"][-1]["hosts"]] == [[0, 3], [1, 2]]
    assert list(tmp_path.iterdir()) == []


def test_nobody_waits_for_a_rank_that_open_mpi_has_lost(tmp_path: Path) -> None:
    below = tmp_path / "measured"
    below.mkdir()
    sets = ("--set", "workload.0.amount=forever", "--set", 'run.stop.time="1 h"')
    word = str(tmp_path / "saved.json")
    line = started(4, "bench", "run", SCENARIO, below, "--no-store", *sets, "-o", word)
    files = "headrace-bench-*/hr-w0/hr-d0/hr-f*"
    mpirun, ranks = under_way(line, word, lambda: len(list(below.glob(files))) == 20)
    time.sleep(0.5)
    os.kill(ranks[1], signal.SIGKILL)
    mpirun.communicate(timeout=60)
    assert mpirun.returncode != 0
    while measure.clean(below)[1]:
        time.sleep(0.05)
    assert list(below.iterdir()) == []
