"""`--csv` and `--time` of the benchmarks beside the quick start."""

import csv
import io
import json
from pathlib import Path
from typing import Any

MIX = """
[clients]
[[workload]]
kind = "operation-mix"
weights = { read = 3, write = 1, stat = 4 }
files = 20
file_sizes = { "4 KiB" = 1 }
amount = "forever"
[run]
stop.time = "1 h"
"""


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_scenario_ends_at_the_time_and_has_a_row_for_each_operation(
    headrace: Any, below: Path, tmp_path: Path
) -> None:
    scenario = tmp_path / "mix.toml"
    scenario.write_text(MIX)
    done = headrace("bench", "run", scenario, below, "--time", 0.3, "--csv", "-", "--no-store")
    assert done.returncode == 0, done.stderr
    found = rows(done.stdout)
    assert {row["operation"] for row in found} == {"read", "write", "stat"}
    assert all(float(row["latency_p99_s"]) > 0 and int(row["count"]) > 0 for row in found)
    file = tmp_path / "run.csv"
    done = headrace(
        "bench", "run", scenario, below, "--time", 0.3, "--csv", file, "--json", "--no-store"
    )
    document = json.loads(done.stdout)
    assert document["stop"]["reason"] == "time"
    assert {row["operation"] for row in rows(file.read_text())} == set(document["operations"])


def test_a_ladder_has_a_row_for_each_step_and_operation(headrace: Any, below: Path) -> None:
    steps = ("--rates", "50,100", "--time", "0.3", "--warm-up", "0.1")
    done = headrace("bench", "mix", below, *steps, "--csv", "-", "--no-store")
    found = rows(done.stdout)
    assert [*dict.fromkeys(row["step"] for row in found)] == ["50/s", "100/s"]
    assert float(found[0]["requested_per_second"]) == 50.0


def test_a_study_begins_no_point_after_its_time(headrace: Any, below: Path, tmp_path: Path) -> None:
    file = tmp_path / "blocks.csv"
    common = ("--file-size", "1m", "--block-sizes", "64k,256k", "--no-store")
    done = headrace(
        "bench", "blocks", below, *common, "--time-limit", "0.001", "--csv", file, "--json"
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    # One point is always measured.
    assert document["stop"] == {"reason": "time"}
    assert {it["block"] for it in document["summary"]} == {64 << 10}
    assert [row["test"] for row in rows(file.read_text())] == ["write"]
    done = headrace("bench", "blocks", below, *common, "--repetitions", "1", "--csv", "-")
    assert [row["block"] for row in rows(done.stdout)] == ["65536", "65536", "262144", "262144"]
