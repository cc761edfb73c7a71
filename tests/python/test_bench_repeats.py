"""Measurements repeated and put together: histograms, percentiles, intervals."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from scipy import stats

import headrace as hr
import headrace.measure as measure
from command import without_need
from headrace import histograms
from headrace.intervals import half_width
from headrace.measure.benchmark import Live
from headrace.measure.repetitions import merge_repetitions

pytestmark = pytest.mark.usefixtures("place")

WRITE_AND_READ = """
[clients]
count = 1
processes = 2
[[workload]]
block = "1 MiB"
transfer = "16 KiB"
phases = ["write", "read"]
"""
OPEN_LOOP = """
[clients]
count = 1
processes = 4
[[workload]]
kind = "operation-mix"
weights = { read = 1, stat = 1 }
files = 20
file_sizes = { "4 KiB" = 1 }
rate = 1000
amount = 300
"""


def test_histograms_are_read_by_others(below: Path) -> None:
    package = pytest.importorskip(
        "hdrh.histogram", reason="no other reader of histograms: pip install hdrhistogram"
    )
    result = measure.measure(measure.load(OPEN_LOOP), below)
    assert set(result.histograms["time"]) == {"service", "response"}
    for operation, time, text in result.histograms.select(
        "operation", "time", "histogram"
    ).iter_rows():
        read: Any = package.HdrHistogram.decode(text)
        key = "latency" if time == "service" else "latency_from_intended"
        latency = result.document[key][operation]
        assert read.get_total_count() == latency["count"]
        # Of three digits; at which operation a percentile is, readers round in their own ways.
        assert read.get_mean_value() * 1e-9 == pytest.approx(latency["mean"], rel=2e-3)
        assert read.get_max_value() * 1e-9 == pytest.approx(latency["max"], rel=2e-3)
        low, high = (read.get_value_at_percentile(it) * 1e-9 for it in (97.9, 99.9))
        assert low * 0.998 <= latency["p99"] <= high * 1.002


def test_percentiles_of_several_are_of_all_their_operations(below: Path) -> None:
    once = measure.load(WRITE_AND_READ)
    thrice = measure.load(WRITE_AND_READ.replace("1 MiB", "3 MiB"))
    one, other = measure.measure(once, below), measure.measure(thrice, below)
    both = measure.percentiles([one.histograms, other.histograms], [0.0, 0.5, 0.99, 1.0])
    counts = dict(both.select("operation", "count").iter_rows())
    assert counts == {"write": 4 * 128, "read": 4 * 128, "all": 8 * 128}
    for operation in ("write", "read"):
        times = both.filter(operation=operation)["time_s"].to_list()
        assert times == sorted(times)
        longest = max(it.document["latency"][operation]["max"] for it in (one, other))
        assert times[-1] == pytest.approx(longest, rel=2e-3)
        medians = [it.document["latency"][operation]["p50"] for it in (one, other)]
        assert min(medians) * 0.998 <= times[1] <= max(medians) * 1.002
    alone = one.percentiles([0.99]).filter(operation="read", time="service")["time_s"][0]
    assert alone == pytest.approx(one.document["latency"]["read"]["p99"])
    broken = one.histograms.with_columns(pl.lit("HISTF").alias("histogram"))
    with pytest.raises(ValueError, match="HdrHistogram"):
        measure.percentiles([broken])


def test_an_interval_is_that_of_student() -> None:
    values = [10.0, 12.0, 11.0, 15.0]
    low, high = stats.t.interval(0.95, 3, loc=12.0, scale=stats.sem(values))
    assert half_width(values) == pytest.approx((high - low) / 2)
    assert half_width([3.0, 3.0, 3.0]) == 0.0 and half_width([1.0]) is None


def test_repeats_are_put_together_and_each_is_kept(below: Path) -> None:
    result = measure.repeat(measure.load(WRITE_AND_READ), below, 4)
    document = result.document
    assert list(below.iterdir()) == []
    repetitions = document["repetitions"]
    assert len(repetitions) == 4 and document["wanted_repeats"] == 4
    for operation in ("write", "read"):
        assert document["operations"][operation]["count"] == 4 * 128
        assert document["latency"][operation]["count"] == 4 * 128
        rates = [it["throughput"][operation] for it in repetitions]
        assert document["throughput"][operation] == pytest.approx(sum(rates) / 4)
        low, high = stats.t.interval(0.95, 3, loc=0.0, scale=stats.sem(rates))
        assert document["intervals"]["throughput"][operation] == pytest.approx((high - low) / 2)
    assert set(result.series["repetition"]) == set(result.histograms["repetition"]) == {1, 2, 3, 4}
    json.dumps(document, allow_nan=False)
    # The store has each, so that one result can be compared with another.
    other = measure.repeat(measure.load(WRITE_AND_READ), below, 3).keep()
    compared = hr.store.open().compare([result.keep(), other]).table
    reads = compared.filter(operation="read", figure="throughput_bytes_per_s")
    assert reads["samples"].to_list() == [4, 3] and reads["p"][1] is not None


def test_of_two_repeats_no_interval_is_told(below: Path) -> None:
    result = measure.repeat(measure.load(WRITE_AND_READ), below, 2)
    assert result.document["intervals"] == {} and len(result.document["repetitions"]) == 2
    assert "repetitions" not in measure.repeat(measure.load(WRITE_AND_READ), below, 1).document


def test_an_interruption_keeps_the_repeats_that_are_done(below: Path) -> None:
    endless = WRITE_AND_READ + 'repeat = "forever"\n[run.stop]\ntime = "0.3 s"\n'
    starts = 0
    last = 0.0

    def progress(live: Live) -> None:
        nonlocal starts, last
        starts += live.seconds < last
        last = live.seconds
        if starts == 2:
            raise KeyboardInterrupt

    result = measure.repeat(measure.load(endless), below, 5, progress=progress)
    assert result.partial and result.document["stop"]["reason"] == "interrupted"
    assert len(result.document["repetitions"]) == 2
    assert list(below.iterdir()) == []


def test_results_by_date_have_the_percentiles_of_all_operations(below: Path) -> None:
    loaded = measure.load(WRITE_AND_READ)
    results = [measure.measure(loaded, below) for _ in range(3)]
    from datetime import UTC, datetime

    for day, result in zip((1, 2, 2), results, strict=True):
        result.keep(started=datetime(2026, 11, day, tzinfo=UTC))
    store = hr.store.open()
    compared = store.compare(name=results[0].name, by="date")
    row = compared.table.filter(operation="read", figure="latency_p99_s", group="2026-11-02")
    merged = measure.percentiles([it.histograms for it in results[1:]], [0.99])
    wanted = merged.filter(operation="read", time="service")["time_s"][0]
    assert row["value"][0] == wanted
    assert any("2026-11-02 are over all operations" in note for note in compared.notes)


def test_the_command_repeats_draws_and_saves(below: Path, tmp_path: Path) -> None:
    file, saved, plots = (tmp_path / name for name in ("w.toml", "saved.json", "plots"))
    file.write_text(WRITE_AND_READ)
    command = [sys.executable, "-m", "headrace", "bench", "run", str(file), str(below)]
    command += ["--repetitions", "3", "-o", str(saved), "--plot", str(plots)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, timeout=120)
    assert (done.returncode, without_need(done.stderr)) == (0, "")
    assert " ± " in done.stdout and "3 repeats" in done.stdout
    document = json.loads(saved.read_text())
    assert len(document["repetitions"]) == 3
    assert document["histograms"]["histogram"][0].startswith("HISTF")
    for name in ("throughput", "latency", "counters"):
        assert (plots / f"{name}.png").stat().st_size > 10_000
    assert hr.store.open().table("last", "histograms").height == 6


def test_one_measurement_put_together_is_itself(below: Path) -> None:
    one = measure.measure(measure.load(WRITE_AND_READ), below)
    document = merge_repetitions([one], 1).document
    for key in ("throughput", "latency", "operations", "files"):
        assert document[key] == one.document[key], key


def test_mean_and_longest_of_several_are_exact(below: Path) -> None:
    """Results of earlier versions, which lack the exact figures, are as their buckets have
    them; figures that cannot be those of a histogram are refused."""
    found = [measure.measure(measure.load(WRITE_AND_READ), below) for _ in range(2)]
    tables = [it.histograms for it in found]
    merged = histograms.latencies(pl.concat(tables), "service")["all"]
    each = [it.document["latency"]["all"] for it in found]
    assert merged["max"] == max(it["max"] for it in each)
    total = sum(it["mean"] * it["count"] for it in each)
    assert merged["mean"] == pytest.approx(total / merged["count"], rel=1e-12)
    for one in found:
        assert one.document["latency"]["all"]["max"] <= one.document["measured_seconds"]
    old = pl.concat([it.drop(*histograms.EXACT.names()) for it in tables])
    histograms.check(old)
    near = histograms.latencies(old, "service")["all"]
    assert near["max"] == pytest.approx(merged["max"], rel=1e-3)
    assert near["mean"] == pytest.approx(merged["mean"], rel=1e-3)
    wrong = tables[0].with_columns(most_ns=pl.lit(1, dtype=pl.UInt64))
    with pytest.raises(ValueError, match="histogram.0"):
        histograms.check(wrong)
