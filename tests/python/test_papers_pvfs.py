"""What is said of PVFS and of a real PVFS2 holds, but for what the papers' pages own up to."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

ROOT = Path(__file__).resolve().parents[2]


def rows_of(paper: str, out: Path) -> list[dict[str, Any]]:
    """The rows that a paper's script gives."""
    command = [sys.executable, "-m", "headrace", "papers", paper, "--json", "--out", str(out)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode in (0, 1), ended.stderr
    rows: list[dict[str, Any]] = json.loads(ended.stdout)
    return rows


def test_a_real_pvfs2(tmp_path: Path) -> None:
    rows = rows_of("pvfs2", tmp_path)
    summary, cases = rows[:2], rows[2:]
    assert summary[0]["what"] == "median error of 54 cases"
    assert summary[0]["holds"]
    assert len(cases) == 54
    # The servers' read-ahead is that of their loop devices: with 128 KiB it is 3.6 %.
    assert float(summary[0]["ours"].split()[0]) <= 2.5
    # All that one and two clients do in blocks of more than 4 KiB holds.
    missed = [row["what"] for row in cases if not row["holds"]]
    assert sum(what.endswith(" 4 KiB") for what in missed) <= 7
    assert all("4 clients" in what or what.endswith(" 4 KiB") for what in missed)
    assert not [what for what in missed if what.startswith("cold") and " 4 KiB" not in what]
    assert len(missed) <= 12
    # Two thirds of a request of 4 KiB is what PVFS2 computes itself.
    worst = max(abs(float(row["error"].split()[0])) for row in cases)
    assert worst < 40


def _calibration() -> Any:
    path = ROOT / "papers/pvfs2/calibration.py"
    spec = importlib.util.spec_from_file_location("pvfs2_calibration", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("shaped_share", [0.3, 1.0, 2.0])
def test_a_calibration_whose_small_messages_were_shaped_is_refused(
    tmp_path: Path, shaped_share: float
) -> None:
    calibration = _calibration()
    rows = pl.read_csv(calibration.MEASURED)
    rate = calibration.calibrate().card * 1448 / 1514
    shaped = 28.444e-6 + shaped_share * 4095 / rate
    small = (pl.col("case") == "send_and_ack") & (pl.col("bytes") == 4096)
    rows.with_columns(
        pl.when(small).then(shaped).otherwise(pl.col("p10_s")).alias("p10_s")
    ).write_csv(tmp_path / "shaped.csv")
    with pytest.raises(ValueError, match=r"shaped\.csv: send_and_ack of 4096 bytes: p10_s is"):
        calibration.calibrate(tmp_path / "shaped.csv")


def test_a_calibration_without_a_case_is_refused(tmp_path: Path) -> None:
    calibration = _calibration()
    rows = pl.read_csv(calibration.MEASURED)
    rows.filter(pl.col("bytes") != 4096).write_csv(tmp_path / "short.csv")
    with pytest.raises(ValueError, match="expected a case send_and_ack of 4096 bytes"):
        calibration.calibrate(tmp_path / "short.csv")


def test_nguyens_pvfs(tmp_path: Path) -> None:
    rows = rows_of("nguyen-pvfs", tmp_path)
    assert len(rows) == 9
    held = {row["what"] for row in rows if row["holds"]}
    assert held >= {
        "write, flat receive buffer at small blocks (4 KiB)",
        "write, flat receive buffer at large blocks (1 MiB)",
        "block from which both are within 1 %, 1 to 8 clients",
        "write: clients' rates, up to 8 clients",
        "write: a client's rate with 1, 2, 3 clients",
    }
