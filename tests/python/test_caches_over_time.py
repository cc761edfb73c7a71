"""Figures of caches, and dirty data and queues over time."""

import json
from pathlib import Path

import polars as pl
import pytest

import headrace as hr
from conftest import Command

SCENARIO = Path(__file__).parents[2] / "scenarios" / "cache-policies.toml"
WRITES = """
[clients]
count = 2
[servers]
count = 1
memory = { cache = "64 MiB", dirty_limit = "32 MiB" }
device = { read_rate = "100 MB/s", write_rate = "50 MB/s" }
[network]
bandwidth = "10 Gbit/s"
latency = "10 us"
[layout]
unit = "1 MiB"
[[workload]]
block = "64 MiB"
transfer = "1 MiB"
phases = ["write", "read"]
"""


def short(**sets: str) -> hr.Scenario:
    """The shipped scenario, with a shorter run."""
    return hr.load(SCENARIO, {"run.warm_up": "0.2 s", "run.stop.time": "0.8 s"} | sets)


def test_a_result_has_the_figures_of_its_caches() -> None:
    document = hr.run(short()).document
    (cache,) = (it for it in document["caches"] if it["cache"] == "system/server/page cache")
    assert cache["hits"] > 0 and cache["misses"] > 0
    assert cache["hit_ratio"] == cache["hits"] / (cache["hits"] + cache["misses"])
    assert cache["miss_bytes"] == cache["misses"] * 65536
    assert cache["evicted_dirty_bytes"] == cache["dirty_bytes"] == 0
    # All that is missed is read from the device.
    device = next(it for it in document["stations"] if it["station"] == "system/server/device")
    assert device["visits"] > 0


def test_policies_that_resist_scans_hit_more() -> None:
    def hits(policy: str) -> float:
        table = hr.run(short(**{"servers.memory.replacement": policy})).caches
        return float(table.filter(pl.col("cache").str.ends_with("page cache"))["hit_ratio"][0])

    lru = hits("lru")
    for policy in ("2q", "arc"):
        assert hits(policy) > lru


def test_dirty_data_and_queues_are_recorded_over_time() -> None:
    scenario = hr.load(WRITES)
    plain = hr.run(scenario)
    assert "over_time" not in plain.document
    assert plain.over_time.is_empty()
    result = hr.run(scenario, over_time=True)
    assert result.playback is None
    recorded = result.document.pop("over_time")
    for document in (plain.document, result.document):
        del document["wall_seconds"]
    assert result.document == plain.document
    times = recorded["time_s"]
    assert 90 <= len(times) <= 201
    assert times == sorted(times)
    dirty = recorded["caches"]["system/server/page cache"]["dirty_bytes"]
    # It fills to the limit, and stays there: nothing is written back below it.
    assert max(dirty) <= 32 << 20
    assert dirty[-1] == plain.document["caches"][-1]["dirty_bytes"] > 0
    queue = recorded["stations"]["system/server/device"]["queue"]
    mean = sum(queue) / len(queue)
    (device,) = (it for it in plain.document["stations"] if it["station"] == "system/server/device")
    assert mean == pytest.approx(device["queue"], rel=0.05)


def test_the_command_writes_what_was_recorded(headrace: Command, tmp_path: Path) -> None:
    file = tmp_path / "writes.toml"
    file.write_text(WRITES)
    ran = headrace("run", file, "--over-time", "--json", "--no-store", "--plot", tmp_path / "plots")
    assert ran.returncode == 0, ran.stderr
    assert "over_time" in json.loads(ran.stdout)
    drawn = {it.name for it in (tmp_path / "plots").iterdir()}
    assert {"dirty.svg", "hits.svg", "queues.svg", "throughput.svg"} <= drawn
    shown = headrace("run", file, "--no-store")
    assert "Caches" in shown.stdout
