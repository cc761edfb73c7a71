"""Published results of IO500 and MLPerf Storage are predicted from descriptions alone."""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
IO500 = ROOT / "papers" / "io500"


def rows_of(path: Path, key: str, names: list[str]) -> list[dict[str, str]]:
    """Rows of a CSV file, by a column."""
    with path.open(newline="", encoding="utf-8") as file:
        by_name = {row[key]: row for row in csv.DictReader(file)}
    return [by_name[name] for name in names]


def predicted(paper: str, rows: list[dict[str, str]], folder: Path) -> list[dict[str, Any]]:
    """Predictions of rows."""
    path = folder / "rows.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    command = [sys.executable, str(ROOT / "papers" / paper / "predict.py"), str(path), "--json"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    predictions: list[dict[str, Any]] = json.loads(ended.stdout)
    return predictions


def test_no_result_of_io500_is_read(tmp_path: Path) -> None:
    rows = rows_of(IO500 / "rows.csv", "submission", ["66", "108", "667", "683", "688"])
    predictions = predicted("io500", rows, tmp_path)
    results = ("ior_easy_write", "ior_easy_read", "ior_hard", "mdtest", "find")
    blind = [
        {name: "1" if name.startswith(results) else text for name, text in row.items()}
        for row in rows
    ]
    assert predicted("io500", blind, tmp_path) == predictions
    lustre, beegfs, daos, coded, unknown = (one["phases"] for one in predictions)
    # Servers' cards give 0.95 · 3 · 2 · 200 Gbit/s; the stated maxima are 34 and 48 GB/s.
    assert daos["ior_easy_read_MB_per_s"]["predicted"] == pytest.approx(142_500, rel=0.01)
    assert daos["ior_easy_read_MB_per_s"]["limited_by"] == "servers' network"
    assert "unknown: drives" in daos["ior_easy_write_MB_per_s"]["limited_by"]
    assert lustre["ior_easy_write_MB_per_s"]["predicted"] == pytest.approx(34_000, rel=0.01)
    assert lustre["ior_easy_read_MB_per_s"]["predicted"] == pytest.approx(48_000, rel=0.01)
    assert lustre["ior_hard_write_MB_per_s"]["limited_by"] == "locks"
    # Four fifths of what 42 · 8 drives of 3,500 MB/s write are data.
    assert coded["ior_easy_write_MB_per_s"]["predicted"] == pytest.approx(940_800, rel=0.01)
    # One directory lies on one of ten servers.
    easy, hard = (
        beegfs[f"mdtest_{name}_write_ops_per_s"]["predicted"] for name in ("easy", "hard")
    )
    assert easy > 40 * hard
    for phase in unknown.values():
        assert phase["limited_by"].startswith("unknown: servers, drives, networks")
    for phases in (lustre, beegfs, daos, coded, unknown):
        for phase in phases.values():
            low, high = phase["interval"]
            assert low < phase["predicted"] <= high


def test_rows_without_a_column_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("submission,kind\n66,Lustre\n")
    command = [sys.executable, str(IO500 / "predict.py"), str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert f"predict.py: {path}: expected the columns " in ended.stderr


def test_io500(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "headrace", "papers", "io500", "--json"]
    ended = subprocess.run(
        [*command, "--out", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1, ended.stderr
    rows: list[dict[str, Any]] = json.loads(ended.stdout)
    summary = {row["what"]: row for row in rows[:25]}
    held = {name for name, row in summary.items() if row["holds"]}
    assert {
        "complete facts (17): ior-easy, median",
        "complete facts (17): ior-hard, median",
        "complete facts (17): mdtest, median",
        "all: in the interval",
    } <= held
    readme = (IO500 / "README.md").read_text()
    for facts in ("complete facts (17)", "some facts (18)", "no facts (87)", "all (122)"):
        groups = ("ior-easy", "ior-hard", "mdtest", "find")
        errors = [
            summary[f"{facts}: {group}, median"]["error"].removeprefix("factor ")
            for group in groups
        ]
        share = summary[f"{facts.split(' (')[0]}: in the interval"]["ours"]
        assert f"| {facts} | {' | '.join([*errors, share])} |" in readme
    # No row is reported that sets a cost.
    with (IO500 / "costs.csv").open(newline="", encoding="utf-8") as file:
        sources = [line["source"] for line in csv.DictReader(file)]
    used = {name for text in sources if " on rows " in text for name in text.split()[3:]}
    assert used
    assert not used & {row["what"].split(",")[0] for row in rows[25:]}
    for figure in ("ior-easy", "ior-hard", "mdtest", "find"):
        assert (tmp_path / f"{figure}.png").stat().st_size > 10_000


def test_mlperf_storage(tmp_path: Path) -> None:
    name = "Micron/Micron_9400_Gen4_Performance_NVMe/unet3d/h100"
    rows = rows_of(ROOT / "papers" / "mlperf-storage" / "rows.csv", "id", [name])
    (prediction,) = predicted("mlperf-storage", rows, tmp_path)
    assert prediction["id"] == name
    # The drive gives 7 GB/s: two accelerators of 3.18 GB/s at 90 %, as published.
    assert prediction["limited_by"] == "drives"
    assert prediction["accelerators_largest"] == 2
