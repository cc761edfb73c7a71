"""Traps of other tools, on a real file system: docs/validation/other-tools.md."""

import contextlib
import io
import json
import os
import pty
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console, RenderableType

import headrace.measure as measure
from headrace.kinds import blocks
from headrace.measure import micro
from headrace.quantities import duration, figure, megabytes, milliseconds, percent, size, whole
from headrace.render.terminal import rendered

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
    # The figures are shown live where standard error is a terminal, and nowhere else.
    terminal, inside = pty.openpty()
    process = subprocess.Popen(
        [*command, "--json", "--progress", "--no-store"],
        stdout=subprocess.PIPE,
        stderr=inside,
        text=True,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "200"},
    )
    os.close(inside)
    shown: list[bytes] = []
    # A terminal that nobody reads holds up who writes to it.
    reader = threading.Thread(target=lambda: shown.extend(read_to_end(terminal)))
    reader.start()
    output, _ = process.communicate(timeout=120)
    reader.join(timeout=60)
    os.close(terminal)
    drawn = b"".join(shown).decode()
    assert process.returncode == 0, drawn
    assert json.loads(output)["kind"] == "measured"
    assert all(column in drawn for column in ("operation", "operations/s", "MB/s")), drawn
    assert "making files" in drawn or re.search(r"\d (s|ms)", drawn), drawn


def read_to_end(terminal: int) -> Iterator[bytes]:
    """What is written to a terminal, until nobody has its other side open."""
    # Linux tells this as an error.
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 65536):
            yield part


def printed(what: RenderableType) -> list[str]:
    """Lines without what keeps cells apart."""
    console = Console(width=400, record=True, file=io.StringIO())
    console.print(what)
    return [" ".join(line.split()) for line in console.export_text().splitlines()]


def rows_below(lines: list[str], title: str, rows: int) -> list[str]:
    """The column titles of a table and the first `rows` of its rows."""
    begin = lines.index(title)
    return [lines[begin + 1], *lines[begin + 3 : begin + 3 + rows]]


def line(*cells: str) -> str:
    return " ".join(cell for cell in cells if cell)


def latencies(of: dict[str, float]) -> list[str]:
    return [milliseconds(of[key]) for key in ("mean", "p50", "p95", "p99", "max")]


COLUMNS = "data MB/s operations/s mean ms p50 ms p95 ms p99 ms max ms"


def test_the_table_has_the_figures_of_the_document(below: Path) -> None:
    """bonnie++'s text and its comma-separated figures differ."""
    text = MIXED.replace("read = 70, write = 30", "read = 60, write = 30, stat = 10")
    document = measure.measure(measure.load(text), below).document
    lines = printed(rendered(blocks("measured", document)))
    operations, throughput = document["operations"], document["throughput"]
    assert {"read", "write", "stat"} <= operations.keys() and "stat" not in throughput
    expected = [f"operation operations {COLUMNS}"]
    for name, it in operations.items():
        moved = [size(it["bytes"]), megabytes(throughput[name])] if name in throughput else []
        rate = figure(it["per_second"])
        latency = latencies(document["latency"][name])
        expected.append(line(name, whole(it["count"]), *moved, rate, *latency))
    assert rows_below(lines, "Throughput and service time", len(operations)) == expected
    groups = document["operation_groups"]
    assert len(groups) > 1
    expected = [f"group operations {COLUMNS} response mean ms response p99 ms"]
    for name, it in groups.items():
        moved = [size(it["bytes"]), megabytes(it["throughput"])] if it["bytes"] else []
        response = [milliseconds(it["latency_from_intended"][key]) for key in ("mean", "p99")]
        own = [figure(it["per_second"]), *latencies(it["latency"]), *response]
        expected.append(line(name, whole(it["count"]), *moved, *own))
    assert rows_below(lines, "Groups of operations", len(groups)) == expected
    responses = document["latency_from_intended"]
    expected = ["operation operations mean ms p50 ms p95 ms p99 ms max ms"]
    expected += [line(name, whole(it["count"]), *latencies(it)) for name, it in responses.items()]
    title = "Response time, from the intended start"
    assert rows_below(lines, title, len(responses)) == expected


def test_the_table_of_a_ladder_has_the_figures_of_the_document(tmp_path: Path, below: Path) -> None:
    file = tmp_path / "mix.toml"
    file.write_text(MIXED)
    load = measure.MixedLoad(str(file), seconds=0.2, warm_up=0.0)
    document = measure.load_sweep(load.at, below, rates=[200, 400]).document
    expected = [
        "requested offered achieved mean ms p50 ms p99 ms unfinished service ms service p99 ms"
        " cache hits % read ahead % keeps up"
    ]
    for it in document["steps"]:
        loads = [figure(it[f"{key}_per_second"]) for key in ("requested", "offered", "achieved")]
        times = [milliseconds(it["response"][key]) for key in ("mean", "p50", "p99")]
        times.append(whole(it["unfinished"]["count"]))
        times += [milliseconds(it["service"][key]) for key in ("mean", "p99")]
        expected.append(line(*loads, *times, *hits(it), "yes" if it["keeps_up"] else "no"))
    title = "Operations a second, and response time from the intended start"
    lines = printed(rendered(blocks("load-sweep", document)))
    assert len(expected) == 3 and rows_below(lines, title, 2) == expected
    told = {
        "Highest sustained load": document["kept_up"],
        "Knee": document["knee"],
    }
    for what, point in told.items():
        found = [it for it in lines if it.startswith(f"{what}: ")]
        assert len(found) == (point is not None)
        if point is not None:
            assert f"{figure(point['requested_per_second'])} operations/s," in found[0]
            assert duration(point["response_mean_s"]) in found[0]


def test_the_table_of_clients_has_the_figures_of_the_document(tmp_path: Path, below: Path) -> None:
    file = tmp_path / "mix.toml"
    file.write_text(MIXED.replace("rate = 500", "").replace("amount = 1000", ""))
    load = measure.MixedLoad(str(file), seconds=0.2, warm_up=0.0)
    document = measure.client_sweep(load.with_processes, below, [1, 2], warm_up=0.0).document
    expected = [
        "processes operations/s times the first efficiency % mean ms p99 ms"
        " cache hits % read ahead %"
    ]
    for it in document["steps"]:
        name = f"{it['processes']}" + ", oversubscribed" * it["oversubscribed"]
        rates = [figure(it["operations_per_second"]), figure(it["speedup"])]
        times = [milliseconds(it["service"][key]) for key in ("mean", "p99")]
        expected.append(line(name, *rates, percent(it["efficiency"]), *times, *hits(it)))
    lines = printed(rendered(blocks("load-sweep", document)))
    assert rows_below(lines, "Operations a second, and service time", 2) == expected


def hits(step: dict[str, Any]) -> list[str]:
    """Of a step of a ladder: which part of what was read was in memory, or read ahead."""
    reads = step["cache"]
    ahead, asked = reads.get("read_ahead_bytes"), reads["asked_bytes"]
    return [percent(reads["hit_rate"]), percent(None if ahead is None else ahead / asked)]


def test_the_table_of_a_study_has_the_figures_of_the_document(below: Path) -> None:
    document = micro.run_study(micro.metadata([1, 2], 20, size=100), below, repeats=2).document
    lines = printed(rendered(blocks("study", document)))
    tests = list(dict.fromkeys(it["test"] for it in document["summary"]))
    units = {it["test"]: it["unit"] for it in document["summary"]}
    (key,) = document["parameters"]
    ends = {"throughput": "MB/s", "per_second": "/s"}
    expected = [line(key, *(f"{test} {ends[units[test]]}" for test in tests))]
    for point in (1, 2):
        own = {it["test"]: it["median"] for it in document["summary"] if it[key] == point}
        shown = {"throughput": megabytes, "per_second": figure}
        expected.append(line(str(point), *(shown[units[it]](own[it]) for it in tests)))
    found = [it.replace("*", "") for it in rows_below(lines, "Medians of 2 repeats", 2)]
    assert len(tests) > 1 and found == expected


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
