"""Directories that processes share, and a tree that they copy together, on real file systems."""

import json
import subprocess
from pathlib import Path
from typing import Any

from command import command
from conftest import ROOT
from mpi import HEADRACE, started

DIRECTORIES = ROOT / "scenarios" / "shared-directories.toml"
COPY = ROOT / "scenarios" / "parallel-copy.toml"
SMALL = 'workload.0.file_sizes={ "4 KiB" = 3, "100 KiB" = 1 }'


def under_mpirun(count: int, *arguments: str) -> dict[str, Any]:
    line = started((count, (*HEADRACE, "bench", "run", *arguments, "--json", "--no-store")))
    done = subprocess.run(line, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_simulated_processes_wait_for_the_directories_that_they_share() -> None:
    seconds = {}
    for made_in in ("process", "client", "clients"):
        sets = (
            "--set",
            f'workload.0.names={{ directories = 4, taken = "own", made_in = "{made_in}" }}',
        )
        weights = ("--set", "workload.0.weights={ create = 1, readdir = 0.01 }")
        done = command("run", DIRECTORIES, *sets, *weights, "--json", "--no-store")
        assert done.returncode == 0, done.stderr
        seconds[made_in] = json.loads(done.stdout)["simulated_seconds"]
    # Of one client there are four processes in a directory, and of all clients there are as many
    # in each of four, but not at every moment.
    assert seconds["process"] < seconds["client"] < seconds["clients"]


def test_ranks_make_and_remove_names_in_the_same_directories(tmp_path: Path) -> None:
    for made_in in ("client", "clients"):
        sets = ("--set", "workload.0.amount=50", "--set", f"workload.0.names.made_in={made_in}")
        document = under_mpirun(2, str(DIRECTORIES), str(tmp_path), *sets)
        operations = document["operations"]
        assert sum(it["count"] for it in operations.values()) == 4 * 50
        assert operations.keys() == {"create", "stat", "unlink", "readdir"}
    assert list(tmp_path.iterdir()) == []


def test_ranks_copy_one_tree_together(tmp_path: Path) -> None:
    sets = ("--set", SMALL, "--set", "workload.0.chunk=32 KiB", "--set", "workload.0.request=8 KiB")
    operations = under_mpirun(2, str(COPY), str(tmp_path), *sets)["operations"]
    # 160 files, of which a quarter has 100 KiB: 13 requests in four chunks.
    counts = {name: operations[name]["count"] for name in ("mkdir", "create", "stat", "read")}
    assert counts == {"mkdir": 8, "create": 160, "stat": 160, "read": 120 + 40 * 13}
    assert operations["read"]["bytes"] == operations["write"]["bytes"] == 120 * 4096 + 40 * 102400
    assert list(tmp_path.iterdir()) == []
