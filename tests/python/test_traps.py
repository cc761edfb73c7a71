"""Traps that other tools have fallen into, on a real file system: docs/mixed-load.md lists them."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

import headrace.measure as measure
from headrace.report.measured_tables import measurement
from headrace.report.units import megabytes

MIXED = """
[clients]
count = 1
processes = 8
[[workload]]
kind = "operation-mix"
weights = { read = 70, write = 30 }
files = 20
file_sizes = { "256 KiB" = 1 }
read_sizes = { "4 KiB" = 1, "64 KiB" = 1 }
write_sizes = { "4 KiB" = 1, "64 KiB" = 1 }
append_share = 0
rate = 500
amount = 1000
"""


@pytest.fixture
def below(tmp_path: Path) -> Path:
    """In memory where there is such a file system: a rate is not kept by a slow device."""
    memory = Path("/dev/shm")
    return memory if memory.is_dir() else tmp_path


def test_a_rate_holds_beside_several_block_sizes_and_a_share_of_reads(below: Path) -> None:
    """fio 3.33: `bssplit` with a rate of 500/s gave 117/s, and `rwmixread=70` with a rate 50 %."""
    document = measure.measure(measure.load(MIXED), below).document
    read, write = (document["operations"][name] for name in ("read", "write"))
    assert read["count"] + write["count"] == 1000
    # Four standard deviations of what is drawn: of a share, of the mean of two sizes that are
    # equally likely, and of the time of the thousandth arrival, which no system makes earlier.
    assert abs(read["count"] / 1000 - 0.7) < 4 * (0.7 * 0.3 / 1000) ** 0.5
    for it in (read, write):
        assert abs(it["bytes"] / it["count"] - 34 * 1024) < 4 * 30 * 1024 / it["count"] ** 0.5
    assert document["measured_seconds"] > 2.0 * (1 - 4 / 1000**0.5)
    # 117/s would take 8.5 s; a machine that is busy takes its time too.
    assert document["measured_seconds"] < 2.0 * (1 + 4 / 1000**0.5) + 3


def test_what_moves_no_bytes_has_no_throughput(below: Path) -> None:
    """fio 3.33 reports the creation of files in MiB/s."""
    text = MIXED.replace("read = 70, write = 30", "create = 1, unlink = 1, stat = 1")
    result = measure.measure(measure.load(text), below)
    assert result.document["throughput"] == {}
    assert all(it["bytes"] == 0 for it in result.document["operations"].values())
    assert all(it["per_second"] > 0 for it in result.document["operations"].values())
    assert set(result.series["throughput_bytes_per_s"]) == {0.0}


def test_progress_and_one_document(tmp_path: Path, below: Path) -> None:
    """fio's `--status-interval` with JSON gives several documents in one stream."""
    workload = tmp_path / "mix.toml"
    workload.write_text(MIXED)
    command = [sys.executable, "-m", "headrace", "bench", "run", str(workload), str(below)]
    done = subprocess.run(
        [*command, "--json", "--progress", "--no-store"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["kind"] == "measured"


def test_the_table_has_the_figures_of_the_document(below: Path) -> None:
    """bonnie++'s text and its comma-separated figures differ."""
    document = measure.measure(measure.load(MIXED), below).document
    console = Console(width=250, record=True, file=io.StringIO())
    console.print(measurement(document))
    text = console.export_text()
    for name, rate in document["throughput"].items():
        # The table of operations comes first, then that of their groups.
        row = next(it for it in text.splitlines() if it.startswith(f" {name} "))
        assert f" {megabytes(rate)} " in row


def test_latency_over_time_is_there_while_it_goes_on(below: Path) -> None:
    """What users of other tools ask for: not the mean of the whole run alone."""
    result = measure.measure(measure.load(MIXED), below)
    windows = result.series.filter(operation="read")
    assert (
        windows.height > 5
        and windows["count"].sum() == result.document["operations"]["read"]["count"]
    )
    assert (windows["latency_max_s"] >= windows["latency_mean_s"] * 0.999).all()
    longest = result.document["latency"]["read"]["max"]
    assert windows["latency_max_s"].max() == pytest.approx(longest, rel=2e-3)
