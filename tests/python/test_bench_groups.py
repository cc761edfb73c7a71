"""Figures of groups of operations: what all operations of a group did, as one."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import headrace as hr
import headrace.measure as measure

pytestmark = pytest.mark.usefixtures("place")

MIX = """
[clients]
count = 1
processes = 3
[[workload]]
kind = "operation-mix"
weights = { read = 2, fread = 1, write = 1, stat = 3, fstat = 1, access = 1 }
files = 20
file_sizes = { "16 KiB" = 1 }
amount = 600
"""
OF = {
    "read": {"read", "fread"},
    "write": {"write"},
    "file-stat": {"stat", "fstat"},
    "get-attribute": {"access"},
}


def check(document: dict[str, Any], time: str = "latency") -> None:
    """That groups have what their operations have together."""
    groups, operations = document["operation_groups"], document["operations"]
    assert {name: set(it["operations"]) for name, it in groups.items()} == OF
    for it in groups.values():
        members = [operations[name] for name in it["operations"]]
        for key in ("count", "bytes"):
            assert it[key] == sum(member[key] for member in members)
        times = [document[time][name] for name in it["operations"]]
        assert it[time]["count"] == it["count"]
        mean = sum(one["mean"] * one["count"] for one in times) / it["count"]
        # Each value is within 0.1 %.
        assert it[time]["mean"] == pytest.approx(mean, rel=3e-3)
        assert it[time]["max"] == pytest.approx(max(one["max"] for one in times), rel=2e-3)
        medians = [one["p50"] for one in times]
        assert min(medians) * 0.998 <= it[time]["p50"] <= max(medians) * 1.002


def test_known_histograms_are_merged_by_group() -> None:
    package = pytest.importorskip(
        "hdrh.histogram", reason="no other writer of histograms: pip install hdrhistogram"
    )

    def text(microseconds: list[int]) -> str:
        histogram = package.HdrHistogram(1, 10**9, 3)
        for value in microseconds:
            histogram.record_value(1000 * value)
        return str(histogram.encode(), "ascii")

    rows = [
        ("read", "service", text([1, 2, 3])),
        ("fread", "service", text([10, 20])),
        ("stat", "service", text([100])),
        # Of a version that knows more operations.
        ("teleport", "service", text([1000])),
    ]
    columns = ["operation", "time", "histogram"]
    table = pl.DataFrame(rows, schema=columns, orient="row")
    found = measure.percentiles([table], [0.5, 1.0], by="group")
    told = {(group, at): value for group, _, _, at, value in found.iter_rows()}
    assert told == {
        ("read", 0.5): pytest.approx(3e-6, rel=1e-3),
        ("read", 1.0): pytest.approx(20e-6, rel=1e-3),
        ("file-stat", 0.5): pytest.approx(100e-6, rel=1e-3),
        ("file-stat", 1.0): pytest.approx(100e-6, rel=1e-3),
        ("all", 0.5): pytest.approx(10e-6, rel=1e-3),
        ("all", 1.0): pytest.approx(1000e-6, rel=1e-3),
    }
    counts = dict(found.select("group", "count").iter_rows())
    assert counts == {"read": 5, "file-stat": 1, "all": 7}


def test_a_group_is_its_operations_together(below: Path) -> None:
    result = measure.measure(measure.load(MIX), below)
    check(result.document)
    read = result.document["operation_groups"]["read"]
    assert read["throughput"] == pytest.approx(read["bytes"] / read["active_seconds"])
    assert read["per_second"] == pytest.approx(read["count"] / read["active_seconds"])
    assert result.document["operation_groups"]["file-stat"]["throughput"] is None
    assert "latency_from_intended" not in read
    at = result.percentiles([0.99], by="group").filter(group="read")["time_s"][0]
    assert at == pytest.approx(read["latency"]["p99"])


def test_repeats_have_intervals_by_group(below: Path) -> None:
    timed = MIX.replace("amount = 600", "amount = 200\nrate = 5000")
    document = measure.repeat(measure.load(timed), below, 3).document
    check(document)
    check(document, "latency_from_intended")
    read = document["operation_groups"]["read"]
    assert read["count"] == sum(
        it["operation_groups"]["read"]["count"] for it in document["repetitions"]
    )
    interval = document["intervals"]["operation_groups"]["read"]
    assert interval["throughput"] > 0 and interval["latency_from_intended"]["p99"] >= 0
    json.dumps(document, allow_nan=False)


def test_the_store_has_groups_among_its_figures(below: Path) -> None:
    results = [measure.measure(measure.load(MIX), below) for _ in range(2)]
    ids = [it.keep() for it in results]
    found = hr.store.open().figures([ids[0]]).filter(operation="group read")
    told = dict(found.select("figure", "value").iter_rows())
    read = results[0].document["operation_groups"]["read"]
    assert told["throughput_bytes_per_s"] == read["throughput"]
    assert told["operations_per_s"] == read["per_second"]
    assert told["latency_p99_s"] == read["latency"]["p99"]
    compared = hr.store.open().compare(ids).table
    assert {"group file-stat", "group write"} <= set(compared["operation"])
    # Of both together they come from the histograms.
    merged = measure.percentiles([it.histograms for it in results], by="group")
    p95 = merged.filter(group="read", time="service", quantile=0.95)["time_s"][0]
    low, high = sorted(it.document["operation_groups"]["read"]["latency"]["p95"] for it in results)
    assert low * 0.998 <= p95 <= high * 1.002


def test_one_group_alone_is_not_catalogued_twice(below: Path) -> None:
    alone = MIX.replace(
        "read = 2, fread = 1, write = 1, stat = 3, fstat = 1, access = 1", "stat = 1"
    )
    identifier = measure.measure(measure.load(alone), below).keep()
    assert set(hr.store.open().figures([identifier])["operation"]) == {"stat", "all"}


def test_a_ladder_has_the_groups_of_each_step(tmp_path: Path, below: Path) -> None:
    if Path("/dev/shm").is_dir():
        below = Path("/dev/shm")
    workload = tmp_path / "mix.toml"
    workload.write_text(MIX)
    mix = [sys.executable, "-m", "headrace", "bench", "mix", str(below)]
    loads = ["--rates", "300,600", "--time", "1", "--warm-up", "0.2"]
    ended = subprocess.run(
        [*mix, "--workload", str(workload), *loads, "--json", "--no-store"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    steps = json.loads(ended.stdout)["steps"]
    assert len(steps) == 2
    for step in steps:
        groups = step["operation_groups"]
        assert set(groups) == set(OF)
        # Response times include operations that were due and never issued.
        responses = [it["latency_from_intended"]["count"] for it in groups.values()]
        assert sum(responses) == step["response"]["count"]
        assert all(it["count"] <= due for it, due in zip(groups.values(), responses, strict=True))


def test_several_groups_are_a_table(tmp_path: Path, below: Path) -> None:
    workload = tmp_path / "mix.toml"
    workload.write_text(MIX)
    ended = subprocess.run(
        [sys.executable, "-m", "headrace", "bench", "run", str(workload), str(below)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    assert "Groups of operations" in ended.stdout and "get-attribute" in ended.stdout
    shown = subprocess.run(
        [sys.executable, "-m", "headrace", "results", "show", "last"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "Groups of operations" in shown.stdout
