"""IO500: its phases in turn, its result, and the benchmark on a real file system."""

import json
import math
import subprocess
from pathlib import Path
from typing import Any

import pytest

import headrace as hr
from conftest import ROOT
from headrace.cli.bench.io500 import scenario
from mpi import HEADRACE, started

PHASES = [
    "ior-easy-write",
    "mdtest-easy-write",
    "ior-hard-write",
    "mdtest-hard-write",
    "find",
    "ior-easy-read",
    "mdtest-easy-stat",
    "ior-hard-read",
    "mdtest-hard-stat",
    "mdtest-easy-delete",
    "mdtest-hard-read",
    "mdtest-hard-delete",
]
"""In the order of IO500 02091cf, src/phase-definitions.h."""
EXAMPLE = ROOT / "scenarios" / "io500.toml"


def is_whole(result: dict[str, Any]) -> None:
    """Check the phases, and the score by its definition."""
    assert list(result["phases"]) == PHASES
    rates: dict[str, list[float]] = {"GiB/s": [], "kIOPS": []}
    for phase in result["phases"].values():
        assert phase["rate"] > 0 and phase["seconds"] > 0
        rates[phase["unit"]].append(phase["rate"])
    assert [len(of_unit) for of_unit in rates.values()] == [4, 8]
    bandwidth, metadata = (
        math.exp(math.fsum(map(math.log, of_unit)) / len(of_unit)) for of_unit in rates.values()
    )
    assert result["bandwidth"] == pytest.approx(bandwidth, rel=1e-12)
    assert result["metadata"] == pytest.approx(metadata, rel=1e-12)
    assert result["score"] == pytest.approx(math.sqrt(bandwidth * metadata), rel=1e-12)


def test_the_example_has_the_result_of_io500() -> None:
    sets = {f"workload.{number}.stonewall": "20 ms" for number in range(4)}
    document = hr.run(hr.load(EXAMPLE, sets)).document
    is_whole(document["io500"])
    # Phases follow each other in the order of their turns.
    times = {(one["workload"], one["phase"]): one for one in document["phases"]}
    order = [(0, 0), (1, 0), (2, 0), (3, 0), (1, 1), (3, 1), (0, 2), (1, 2), (2, 2), (3, 2)]
    ends = [times[place]["to_s"] for place in [*order, (1, 3), (3, 3), (3, 4)]]
    assert ends == sorted(ends)


def test_a_sweep_has_the_score_of_each_point() -> None:
    sets = {f"workload.{number}.stonewall": "2 ms" for number in range(4)}
    scenario = hr.load(EXAMPLE, sets)
    points = hr.sweep(scenario, {"clients.count": [1, 2]}, progress=False).points
    alone = hr.run(scenario.with_({"clients.count": 2})).document["io500"]["score"]
    assert points["io500_score"].to_list()[1] == pytest.approx(alone)


def test_a_scenario_without_all_four_has_none() -> None:
    text = EXAMPLE.read_text().rpartition("[[workload]]")[0]
    assert "io500" not in hr.run(hr.load(text)).document


def bench(*arguments: str, ranks: int = 1) -> dict[str, Any]:
    command = [*HEADRACE, "bench", "io500", *arguments]
    line = command if ranks == 1 else started((ranks, tuple(command)))
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=True)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


SMALL = ("--stonewall", "0.2 s", "--json", "--no-store", "--no-progress", "--space", "2 GB")


def test_the_benchmark_has_the_same_result(tmp_path: Path) -> None:
    document = bench(str(tmp_path), "--processes", "2", *SMALL)
    is_whole(document["io500"])
    assert list(tmp_path.iterdir()) == []
    phases = {(one["workload"], one["phase"], one["operation"]): one for one in document["phases"]}
    # All that was written is read, and all files that were made are looked up and removed.
    assert phases[0, 0, "write"]["bytes"] == phases[0, 2, "read"]["bytes"]
    assert phases[2, 0, "write"]["bytes"] == phases[2, 2, "read"]["bytes"]
    for place in [(2, "stat"), (3, "unlink")]:
        assert phases[(1, *place)]["count"] == phases[1, 0, "create"]["count"]


def test_its_csv_has_a_row_for_each_phase(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    (tmp_path / "there").mkdir()
    bench(str(tmp_path / "there"), *SMALL, "-o", str(tmp_path / "r.json"), "--csv", str(rows))
    names = [line.partition(",")[0] for line in rows.read_text().splitlines()]
    assert [name for name in names if name in PHASES] == PHASES


def test_too_little_work_is_said(tmp_path: Path) -> None:
    document = bench(str(tmp_path), *SMALL, "--set", "workload.1.files=1")
    conditions = {one["condition"]: one["message"] for one in document["warnings"]}
    assert "workload.1" in conditions["stonewall-not-reached"]
    assert "workload.0" not in conditions["stonewall-not-reached"]


def test_ranks_have_one_result(tmp_path: Path) -> None:
    document = bench(str(tmp_path), *SMALL, ranks=2)
    is_whole(document["io500"])
    phases = {(one["workload"], one["phase"], one["operation"]): one for one in document["phases"]}
    # Both went as far as the one that had come farthest.
    assert phases[0, 0, "write"]["count"] % 2 == 0
    assert phases[0, 0, "write"]["bytes"] == phases[0, 2, "read"]["bytes"]


def test_the_work_fits_into_the_space(tmp_path: Path) -> None:
    text = scenario(tmp_path, 3, 300.0)
    assert text.count("[[workload]]") == 4
    assert text.count('stonewall = "300.0 s"') == 4
