"""Messages between all pairs of ranks, under the real mpirun."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from command import command
from headrace import kinds
from headrace.measure.network_matrix import NetworkMatrix, rounds, slowest
from headrace.render.blocks import Headline, HeatMap, Table
from headrace.views.network_matrix import view
from mpi import HEADRACE, started, under_way

NET = (*HEADRACE, "bench", "net", "ranks")


def run(count: int, *arguments: str) -> "subprocess.CompletedProcess[str]":
    line = started((count, (*NET, *arguments)))
    return subprocess.run(line, capture_output=True, text=True, timeout=120)


def test_each_pair_is_in_one_round_and_each_rank_once_in_a_round() -> None:
    # The circle: 0 is fixed, and 1, 2 and 3 go round.
    assert rounds(4) == [[(0, 3), (1, 2)], [(0, 2), (1, 3)], [(0, 1), (2, 3)]]
    assert rounds(2) == [[(0, 1)]]
    for count in range(2, 12):
        every = rounds(count)
        assert len(every) == count - 1 + count % 2
        pairs = [pair for of_round in every for pair in of_round]
        assert len(pairs) == len(set(pairs)) == count * (count - 1) // 2
        for of_round in every:
            ranks = [rank for pair in of_round for rank in pair]
            assert len(ranks) == len(set(ranks)) == count - count % 2


@pytest.mark.parametrize("count", [2, 3])
def test_each_pair_and_all_to_all_have_figures(count: int, tmp_path: Path) -> None:
    output = tmp_path / "net.json"
    plots = tmp_path / "plots"
    options = ("--sizes", "8,64k", "--time", "0.001", "--no-store")
    done = run(count, *options, "-o", str(output), "--plot", str(plots))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Pairs at once, and all to all") == 1
    assert "all ranks are on one host" in done.stdout
    document = json.loads(output.read_text())
    assert len(document["hosts"]) == count
    expected = [(size, a, b) for size in (8, 65536) for b in range(count) for a in range(b)]
    pairs = [(pair["size"], pair["first"], pair["second"]) for pair in document["pairs"]]
    assert sorted(pairs) == sorted(expected)
    for pair in document["pairs"]:
        latency = pair["latency"]
        assert 0 < latency["least"] <= latency["p50"] <= latency["p99"] <= latency["max"]
        assert pair["throughput"] == pytest.approx(pair["size"] / latency["p50"])
        assert pair["count"] >= 10
    assert [each["size"] for each in document["exchanges"]] == [8, 65536]
    for exchange in document["exchanges"]:
        moved = count * (count - 1) * exchange["size"]
        assert exchange["throughput"] == pytest.approx(moved / exchange["seconds"])
        for sender, row in enumerate(exchange["matrix"]):
            assert [value is None for value in row] == [sender == to for to in range(count)]
            # A message arrives no later than the last of the exchange, in the median.
            assert all(value > 0 for value in row if value is not None)
    largest = [it["throughput"] for it in document["pairs"] if it["size"] == 65536]
    assert document["throughput"]["slowest pair 64 KiB"] == min(largest)
    assert {path.stem for path in plots.iterdir()} == {
        "net-latency",
        "net-throughput-pairs",
        "net-throughput-all-to-all",
    }


def result(rates: dict[tuple[int, int], float]) -> NetworkMatrix:
    """Pairs of three ranks on two hosts, of 1 MB messages, with these throughputs."""
    pairs: list[dict[str, Any]] = [
        {
            "size": 1_000_000,
            "first": first,
            "second": second,
            "count": 10,
            "latency": {"least": 1e6 / rate, "p50": 1e6 / rate, "p99": 1e6 / rate, "max": 1.0},
            "throughput": rate,
        }
        for (first, second), rate in rates.items()
    ]
    document = {
        "scenario": {"name": "bench net ranks", "description": "messages"},
        "version": "1",
        "place": {"host": "a"},
        "environment": {},
        "hosts": ["a", "a", "b"],
        "library": "MPI",
        "seconds": 0.1,
        "pairs": pairs,
        "exchanges": [],
        "throughput": {},
        "latency": {},
        "stop": {"reason": "done"},
    }
    return msgspec.convert(document, NetworkMatrix)


def test_the_slowest_pair_is_named_with_its_hosts() -> None:
    report = result({(0, 1): 9e9, (0, 2): 1e9, (1, 2): 0.5e9})
    slow = slowest(report.pairs)
    assert slow is not None and (slow.first, slow.second) == (1, 2)
    parts = view(report)
    headline = next(part for part in parts if isinstance(part, Headline))
    assert any(
        "1 on a and 2 on b" in name and "500" in rate for name, rate in headline.figures.items()
    )
    table = [part for part in parts if isinstance(part, Table)][1]
    assert list(table.columns[2].values) == [0.5e9, 1e9, 9e9]
    rates = [part for part in parts if isinstance(part, HeatMap)][1]
    assert rates.values == [[None, 9e9, 1e9], [9e9, None, 0.5e9], [1e9, 0.5e9, None]]
    assert not any("one host" in str(part) for part in parts)
    assert kinds.KINDS["network-matrix"].name in kinds.STORED


def test_an_interrupted_measurement_has_what_was_measured(tmp_path: Path) -> None:
    output = tmp_path / "net.json"
    line = (*NET, "--sizes", "8", "--time", "600", "--no-store", "-o", str(output))
    # The first rank locks the file before it measures.
    mpirun, _ = under_way(started((2, line)), str(output), lambda: any(tmp_path.iterdir()))
    mpirun.send_signal(signal.SIGINT)
    mpirun.communicate(timeout=120)
    document = json.loads(output.read_text())
    assert document["stop"]["reason"] == "interrupted"
    assert len(document["pairs"]) + len(document["exchanges"]) < 2


def test_one_rank_and_other_commands_are_refused() -> None:
    done = command("bench", "net", "ranks")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is one rank" in done.stderr
    done = run(2, "--sizes", "2g")
    assert done.returncode != 0 and "1 B to 1 GiB" in done.stderr
    line = started((2, (*HEADRACE, "bench", "net", "ask", "127.0.0.1:1", "--token", "x")))
    refused = subprocess.run(line, capture_output=True, text=True, timeout=60)
    assert refused.returncode != 0 and "one host only" in refused.stderr
    assert sys.executable in line
