"""`headrace sweep`: the command, its store, and what ends it."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import headrace as hr
from conftest import SMALL, Command
from headrace.sweeps.finished_runs import FILE

VARY = ("--vary", "clients.count=2,4", "--vary", "layout.unit=64 KiB..256 KiB:log2")


def without_wall(document: dict[str, Any]) -> dict[str, Any]:
    points = [point | {"wall_seconds": 0} for point in document["points"]]
    volatile = dict.fromkeys(("wall_seconds", "run_seconds", "reused"), 0)
    return document | {"points": points} | volatile


def test_the_table_and_the_document(small: Path, headrace: Command) -> None:
    shown = headrace("sweep", small, *VARY)
    assert shown.returncode == 0 and not shown.stderr
    assert "small: 4 points, 4 runs in" in shown.stdout and "256 KiB" in shown.stdout
    printed = headrace("sweep", small, *VARY, "--json", "--no-store")
    document = json.loads(printed.stdout)
    assert [point["set"] for point in document["points"]] == [
        {"clients.count": count, "layout.unit": unit}
        for count in (2, 4)
        for unit in ("64 KiB", "256 KiB")
    ]
    assert document["failed"] == [] and document["left"] == 0
    alone = hr.run(hr.load(SMALL, {"clients.count": 4, "layout.unit": "256 KiB"})).json()
    assert document["points"][-1]["latency_p95"] == alone["latency"]["all"]["p95"]


def test_a_failed_run_gives_status_1_and_a_whole_document(small: Path, headrace: Command) -> None:
    ended = headrace("sweep", small, "--vary", "clients.count=2,-1", "--json", "--no-store")
    assert ended.returncode == 1
    document = json.loads(ended.stdout)
    assert len(document["points"]) == 1 and document["failed"][0]["set"] == {"clients.count": -1}
    shown = headrace("sweep", small, "--vary", "clients.count=2,-1", "--no-store")
    assert shown.returncode == 1 and "failed: clients.count=-1: " in shown.stdout


def test_sensitivity_is_shown_and_drawn(small: Path, headrace: Command, tmp_path: Path) -> None:
    ranges = ("--vary", "clients.count=2..8", "--vary", "layout.first=random,round-robin")
    for method, column in (("sobol", "S1 (alone)"), ("morris", "mu*")):
        ended = headrace(
            *("sweep", small, *ranges, "--sensitivity", method, "--samples", "4"),
            *("--plot", tmp_path, "--figure", "latency_p95", "-o", tmp_path / method),
        )
        assert ended.returncode == 0, ended.stderr
        assert column in ended.stdout and "p95 latency" in ended.stdout
        assert (tmp_path / "sensitivity.svg").exists() and (tmp_path / "sweep.png").exists()
        assert pl.read_parquet(tmp_path / method / "sensitivity.parquet")["figure"].n_unique() > 3


@pytest.mark.usefixtures("place")
def test_a_sweep_is_in_the_store_once(small: Path, headrace: Command, tmp_path: Path) -> None:
    kept = ("sweep", small, *VARY, "-o", tmp_path / "kept")
    first = headrace(*kept, "--label", "for=test")
    again = headrace(*kept)
    assert "4 of them from before" in again.stdout
    assert first.stdout.splitlines()[-1] == again.stdout.splitlines()[-1]
    store = hr.store.open()
    assert store.list(kind="sweep", labels={"for": "test"}).height == 1
    assert store.list().height == 1
    assert store.table("last", "points").equals(pl.read_parquet(tmp_path / "kept/points.parquet"))
    figures = store.figures(["last"])
    assert figures.filter(pl.col("operation") == "clients.count=2 layout.unit=64 KiB").height == 6
    shown = headrace("results", "show", "last")
    assert shown.returncode == 0 and "256 KiB" in shown.stdout
    # The file of the directory is the same result.
    assert "1 there already" in headrace("results", "import", tmp_path / "kept/sweep.json").stdout
    assert headrace("results", "check").returncode == 0
    assert headrace("sweep", small, *VARY, "--no-store").returncode == 0
    assert store.list().height == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--vary", "clients.count"], "expected path=value,value"),
        (["--vary", "=3"], "expected path=value,value"),
        (["--vary", "clients.count=1,,2"], "a value is empty"),
        (["--vary", "clients.count=(1"], "not closed"),
        (["--vary", "clients.count,servers.count=1,2"], "a value for each path: (a,b),..."),
        (["--vary", "clients.count,servers.count=(1,2),(3)"], "(3) has 1 values for 2 paths"),
        (["--vary", "clients.count,clients.count=(1,2)"], "named twice"),
        (["--vary", "clients.count=1", "--vary", "clients.count=2"], "varied twice"),
        (["--vary", "clients.count=4..2:3"], "expected a larger end"),
        (["--vary", "clients.count=4..8"], "needs the number of values"),
        (["--vary", "clients.count=4..8:1"], "expected 2 to"),
        (["--vary", "clients.count=4..8:many"], "behind the colon"),
        (["--vary", "network.latency=0 s..1 ms:log3"], "a log scale begins above 0"),
        (["--vary", "clients.count=a..b:3"], "expected a whole number"),
        (["--vary", "layout.first=random..round-robin:3"], "list its values"),
        (["--vary", "clients.cuont=3"], 'did you mean "clients.count"'),
        (["--vary", "clients=3"], "expected a section"),
        (["--vary", "clients.count=2..2000000:1000000", "--vary", "servers.count=1,2"], "points"),
        (["--vary", "clients.count=1,2", "--samples", "4"], "leave samples out"),
        (["--vary", "clients.count=1,2", "--sensitivity", "sobol"], "such as 64"),
        (["--vary", "clients.count=1,2", "--precision", "wide"], "expected a share such as"),
        (["--vary", "clients.count=1,2", "--precision", "0%"], "expected a part above 0"),
        (["--vary", "clients.count=1,2", "--figure", "speed"], "expected throughput"),
        (["--vary", "clients.count=1,2", "--label", "a=b", "--no-store"], "no effect"),
    ],
)
def test_wrong_input_is_one_line(
    arguments: list[str], message: str, small: Path, headrace: Command
) -> None:
    ended = headrace("sweep", small, *arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert message in ended.stderr and ended.stderr.count("\n") == 1


def begin(small: Path, directory: Path, *more: str) -> "subprocess.Popen[str]":
    """Start a sweep of many runs; return when three of them have ended."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "headrace", "sweep", str(small), "-o", str(directory)),
            *("--set", "workload.0.files=60", "--vary", "clients.count=2..61:60"),
            *("--replications", "3"),
            *("--on", "threads:2", "--no-progress", *more),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None and len(keys(directory)) < 3:
        time.sleep(0.005)
    return process


def keys(directory: Path) -> list[str]:
    """The runs of a record whose lines are whole."""
    record = directory / FILE
    if not record.exists():
        return []
    lines = record.read_bytes().split(b"\n")[:-1]
    return [json.loads(line)["key"] for line in lines]


def test_a_killed_sweep_goes_on_where_it_was(small: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    process = begin(small, kept, "--json")
    process.kill()
    process.communicate()
    before = keys(kept)
    assert 3 <= len(before) < 180
    resumed, _ = begin(small, kept, "--json").communicate()
    document = json.loads(resumed)
    assert document["reused"] == len(before)
    after = keys(kept)
    assert after[: len(before)] == before and len(after) == len(set(after)) == 180
    other, _ = begin(small, tmp_path / "other", "--json").communicate()
    assert without_wall(document) == without_wall(json.loads(other))


@pytest.mark.parametrize(
    ("number", "status", "line"),
    [(signal.SIGINT, 130, "interrupted; "), (signal.SIGTERM, 143, "ended by SIGTERM; ")],
)
def test_a_stopped_sweep_says_what_is_kept(
    number: int, status: int, line: str, small: Path, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    process = begin(small, kept, "--json")
    process.send_signal(number)
    output, errors = process.communicate()
    assert process.returncode == status, errors
    assert errors.startswith(line) and errors.count("\n") == 1
    assert f"of 180 runs had ended and are in {kept}" in errors
    document = json.loads(output)
    ended = len(document["points"])
    assert ended == 180 - document["left"]
    # A run that ends just then is saved, but may not be counted any more.
    saved = len(keys(kept))
    assert ended <= saved <= ended + 2
    resumed, _ = begin(small, kept, "--json").communicate()
    assert json.loads(resumed)["reused"] == saved
