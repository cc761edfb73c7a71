"""Figures of caches, and dirty data and queues over time."""

import io
import json
import re
from pathlib import Path

import polars as pl
import pytest
from rich.console import Console

import headrace as hr
from conftest import Command
from headrace.kinds import blocks
from headrace.render.terminal import rendered
from headrace.sweeps import Sweep
from headrace.views.sweep import view

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
    # A simple server reads nothing ahead.
    assert cache["read_ahead"] == 0
    assert cache["hit_ratio"] == cache["hits"] / (cache["hits"] + cache["misses"])
    assert cache["miss_bytes"] == cache["misses"] * 65536
    assert cache["evicted_dirty_bytes"] == cache["dirty_bytes"] == 0
    # All that is missed is read from the device.
    device = next(it for it in document["stations"] if it["station"] == "system/server/device")
    assert device["visits"] > 0


def test_policies_that_resist_scans_hit_more() -> None:
    def hits(policy: str) -> float:
        table = hr.run(hr.load(SCENARIO, {"servers.memory.replacement": policy})).caches
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
    # It fills to the limit; then reads evict it.
    assert 28 << 20 < max(dirty) <= 32 << 20
    assert dirty[-1] == cache(plain, "page cache")["dirty_bytes"]
    queue = recorded["stations"]["system/server/device"]["queue"]
    mean = sum(queue) / len(queue)
    (device,) = (it for it in plain.document["stations"] if it["station"] == "system/server/device")
    assert mean == pytest.approx(device["queue"], rel=0.05)


def test_what_is_asked_for_at_the_start_is_counted() -> None:
    # Each client asks for its layout at once, and keeps it.
    scenario = hr.load(WRITES, {"metadata.client_cache": True})
    result = hr.run(scenario, over_time=True)
    total = cache(result, "layout cache")
    assert total["misses"] == 2
    ratios = result.document["over_time"]["caches"]["system/client/layout cache"]["hit_ratio"]
    assert ratios[0] is not None and ratios[0] < 1
    assert all(it in (None, 1) for it in ratios[1:])


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


LOCAL = """
system = "ext4"
[machine.memory]
size = "256 MiB"
[machine.device]
read_rate = "200 MB/s"
write_rate = "200 MB/s"
[[workload]]
block = "64 MiB"
transfer = "1 MiB"
phases = ["read"]
repeat = 3
"""


def cache(result: hr.Result, end: str) -> dict[str, float]:
    found = [it for it in result.document["caches"] if it["cache"].endswith(end)]
    assert len(found) == 1, result.document["caches"]
    return dict(found[0])


def test_a_machine_counts_pages_that_reads_wait_for() -> None:
    pages = 64 << 8
    fits = cache(hr.run(hr.load(LOCAL)), "page cache")
    # Once read ahead or waited for, and twice from memory.
    assert fits["read_ahead"] + fits["misses"] == pages
    assert fits["hits"] == 2 * pages
    assert fits["read_ahead"] > 0 and fits["misses"] > 0
    assert fits["hit_ratio"] == pytest.approx(2 / 3)
    assert fits["evictions"] == 0


def test_a_machine_can_have_another_policy() -> None:
    small = {"machine.memory.size": "32 MiB"}
    lists, lru, arc = (
        hr.run(hr.load(LOCAL, small | more))
        for more in ({}, *({"machine.memory.replacement": it} for it in ("lru", "arc")))
    )
    for result in (lists, lru, arc):
        assert cache(result, "page cache")["evictions"] > 0
    # A loop over more than fits has no hits with LRU: all is read ahead or waited for.
    assert cache(lru, "page cache")["hits"] == 0
    device = next(it for it in lru.document["stations"] if it["station"].endswith("device"))
    assert device["visits"] > 0
    assert cache(lru, "page cache")["evicted_bytes"] == 3 * (64 << 20) - (32 << 20)


def test_disks_and_controllers_count_requests() -> None:
    disk = {"machine.device.kind": "disk", "machine.device.model": "ST3146707LC"}
    text = LOCAL.replace('read_rate = "200 MB/s"\nwrite_rate = "200 MB/s"\n', "")
    buffer = cache(hr.run(hr.load(text, disk)), "device")
    # One stream in order: no request asks for anything again.
    assert buffer["hits"] == 0 and buffer["read_ahead"] + buffer["misses"] > 0
    raid = text.replace(
        "[machine.device]\n",
        '[machine.device]\nkind = "raid"\nlevel = 5\ndisks = 4\ncache = { size = "64 MiB" }\n'
        'member = { kind = "simple", read_rate = "100 MB/s", write_rate = "100 MB/s" }\n',
    )
    controller = cache(hr.run(hr.load(raid)), "controller cache")
    assert controller["misses"] > 0
    assert controller["miss_bytes"] <= 3 * (64 << 20)


def test_clients_count_attributes_and_layouts() -> None:
    result = hr.run(hr.load(Path(__file__).parents[2] / "scenarios" / "nfs.toml"))
    named = {it["cache"]: it for it in result.document["caches"]}
    assert named["system/client/attribute cache"]["hits"] > 0
    assert "system/client/layout cache" in named


def test_replications_have_mean_figures_of_caches() -> None:
    merged = hr.run(short(**{"run.replications": "2"}), over_time=True)
    assert "over_time" in merged.document
    mean = cache(merged, "page cache")
    single = cache(hr.run(short()), "page cache")
    assert mean["hits"] == pytest.approx(single["hits"], rel=0.05)
    assert "Caches" in merged._repr_html_()


OFFICE = """
system = "nfs"
[clients]
count = 2
[servers]
count = 1
device = { read_rate = "180 MB/s", write_rate = "160 MB/s" }
memory = { cache = "1 GiB", dirty_limit = "256 MiB" }
[network]
bandwidth = "1 Gbit/s"
latency = "50 us"
[[workload]]
files = 2
block = "16 MiB"
transfer = "1 MiB"
phases = ["write", "read"]
"""


def test_rates_of_client_caches_are_named_as_such() -> None:
    office = hr.run(hr.load(OFFICE))
    document = office.document
    assert document["operations"]["write"]["into"] == "client caches"
    assert document["synced_writes"]["bytes"] == 4 * (16 << 20)
    # 64 MiB through a card of 125 MB/s.
    assert document["synced_writes"]["active_seconds"] >= 4 * (16 << 20) / 125e6
    # Closes have the server store it.
    assert "unwritten" not in document
    warned = {it["condition"]: it["message"] for it in document["warnings"]}
    assert "write and sync together" in text_of(office)
    assert "write into client caches" in text_of(office)
    assert "of writes and syncs together" in warned["beyond-cards"]
    # All cells of the table of operations are filled.
    rows = text_of(office).split("Stations")[0].splitlines()
    table = [row for row in rows if row.startswith((" write", " read", " open", " close"))]
    assert len(table) == 5
    assert all(len(re.split(r"  +", row.strip())) == 10 for row in table), table


def test_data_that_only_caches_hold_is_a_line() -> None:
    result = hr.run(hr.load(OFFICE, {"workload.0.opens": False}))
    assert result.document["unwritten"]["client_bytes"] > 0
    assert "not written at the end of the run:" in text_of(result)
    synced = {"workload.0.phases": ["write", "sync"]}
    assert "unwritten" not in hr.run(hr.load(OFFICE, synced)).document


def test_a_rate_of_memory_that_costs_nothing_is_no_number() -> None:
    free = {"clients.machine.cpu.system_call": "0 s", "clients.machine.copying.page_in_l2": "0 s"}
    result = hr.run(hr.load(OFFICE, free | {"workload.0.opens": False}))
    assert result.document["throughput"]["read"] is None
    assert "no time" in text_of(result)
    assert any(it["condition"] == "no-time" for it in result.document["warnings"])


def test_sweeps_show_writes_and_syncs_first() -> None:
    sweep = hr.sweep(hr.load(OFFICE), {"clients.rpc.in_flight": [2, 16]})
    rates = sweep.points["synced_writes_bytes_per_s"]
    assert (rates > 0).all() and (rates <= 125e6).all()
    assert "write and sync MB/s" in text_of(sweep)


def text_of(result: hr.Result | Sweep) -> str:
    """The tables of a result on a wide terminal."""
    console = Console(width=250, record=True, file=io.StringIO())
    made = (
        rendered(view(result))
        if isinstance(result, Sweep)
        else rendered(blocks("simulated", result.document))
    )
    console.print(made)
    return console.export_text()
