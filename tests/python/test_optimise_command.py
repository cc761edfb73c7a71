"""`headrace optimise`: its table, documents, files and errors."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

import headrace as hr
from conftest import Command
from headrace.sweeps.finished_runs import FILE

VARY = ("--vary", "servers.count=1..4", "--vary", "layout.unit=64 KiB,256 KiB")
GOALS = ("--maximise", "throughput", "--subject-to", "cost <= 16000")
PRICE = ("--price", "servers.count=5000")


def test_the_table_the_document_and_the_files(
    small: Path, headrace: Command, tmp_path: Path
) -> None:
    plots, output = tmp_path / "plots", tmp_path / "output"
    shown = headrace("optimise", small, *VARY, *GOALS, *PRICE, "--plot", plots, "-o", output)
    assert shown.returncode == 0, shown.stderr
    assert "small: maximise throughput subject to cost <= 16000" in shown.stdout
    assert "8 trials of 8 points (full)" in shown.stdout
    assert "The scenario as given: throughput" in shown.stdout
    assert {path.name for path in plots.iterdir()} == {"history.png", "history.svg"}
    names = {path.name for path in output.iterdir()}
    assert names == {FILE, "best.toml", "optimum.json", "trials.parquet"}
    assert pl.read_parquet(output / "trials.parquet").height == 8
    printed = headrace("optimise", small, *VARY, *GOALS, *PRICE, "--json", "-o", output)
    document = json.loads(printed.stdout)
    assert document["best"]["set"]["servers.count"] == 3 and document["best"]["cost"] == 15_000
    assert document["best"]["throughput_half_width"] > 0
    assert document["runs"] == 0 and document["reused"] > 8
    assert {it["verdict"] for it in document["points"]} >= {"best", "infeasible"}
    assert hr.load(output / "best.toml").toml.count("count = 3") == 1


def test_a_front_is_shown_and_drawn(small: Path, headrace: Command, tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('[prices]\n"servers.count" = 5000\n')
    shown = headrace(
        *("optimise", small, "--vary", "servers.count=1..3", "--maximise", "throughput"),
        *("--minimise", "cost", "--price-file", prices, "--plot", tmp_path / "plots"),
        *("--most-replications", "4"),
    )
    assert shown.returncode == 0, shown.stderr
    assert sum(line.rstrip().endswith(" front") for line in shown.stdout.splitlines()) == 3
    assert "The compromise of the front: servers.count=" in shown.stdout
    assert (tmp_path / "plots" / "front.svg").exists()


def test_no_point_that_meets_the_constraints_is_status_1(
    small: Path, headrace: Command, tmp_path: Path
) -> None:
    ended = headrace(
        *("optimise", small, *VARY, "--maximise", "throughput", "-o", tmp_path / "output"),
        *("--subject-to", "latency_p99 <= 1 ms"),
    )
    assert ended.returncode == 1 and not ended.stdout
    assert "none of 8 points meets latency_p99 <= 1 ms: the nearest has latency_p99" in ended.stderr
    assert pl.read_parquet(tmp_path / "output" / "trials.parquet").height == 8


def test_a_limited_time_ends_the_search(small: Path, headrace: Command) -> None:
    begun = time.monotonic()
    ended = headrace(
        *("optimise", small, "--vary", "layout.unit=16 KiB..1 MiB:log", "--time-limit", "2 s"),
        *("--maximise", "throughput", "--json"),
    )
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert document["trials"] > 0 and document["best"] is not None
    # The time of a busy machine's start-up is not the search's.
    assert document["wall_seconds"] < 30 and time.monotonic() - begun > 1


def test_ctrl_c_shows_the_best_so_far(small: Path, tmp_path: Path) -> None:
    output = tmp_path / "output"
    search = subprocess.Popen(
        [
            *(sys.executable, "-m", "headrace", "optimise", str(small)),
            *("--vary", "layout.unit=16 KiB..1 MiB:log", "--maximise", "throughput"),
            *("--trials", "50000", "-o", str(output)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )
    record = output / FILE
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not record.exists() or record.stat().st_size < 20_000):
        time.sleep(0.05)
    search.send_signal(signal.SIGINT)
    shown, errors = search.communicate(timeout=60)
    assert search.returncode == 130
    assert "Stopped: the best so far" in shown and "MB/s" in shown
    assert "the same command goes on" in errors
    assert (output / "best.toml").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing is maximised or minimised"),
        (("--maximise", "speed"), "figure 'speed': expected throughput"),
        (("--maximise", "throughput", "--trials", "0"), "0 trials: expected 1 to"),
        (
            ("--maximise", "throughput", "--time-limit", "soon"),
            '"soon": expected a time',
        ),
        (("--maximise", "throughput", "--price", "x"), "price 'x': expected PATH=PRICE"),
        (("--maximise", "throughput", "--price-file", "no.toml"), "no.toml: no such file"),
        (("--maximise", "throughput", "--indifference", "x"), '--indifference "x"'),
        (("--maximise", "throughput", "--on", "moon"), "engine 'moon': expected threads"),
    ],
)
def test_wrong_input_is_one_line(
    small: Path, headrace: Command, arguments: tuple[str, ...], message: str
) -> None:
    ended = headrace("optimise", small, *VARY, *arguments)
    assert ended.returncode == 2 and not ended.stdout
    assert message in ended.stderr and ended.stderr.count("\n") == 1
