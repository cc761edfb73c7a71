"""The rows of `headrace papers hindman-design` hold, but for those that its page explains."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MISSED = {
    "table 3.2: annual failure rate, desktop (2400 h a year)",
    "2 PB of 500 GB disks, MTBF of table 3.2",
    "figure 3.4: failure rate of RAID-6 (8 disks) / RAID-1 and RAID-10 (8 disks)",
}


def test_hindman_design(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "headrace", "papers", "hindman-design", "--json"]
    ended = subprocess.run(
        [*command, "--out", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1, ended.stderr
    rows: list[dict[str, Any]] = json.loads(ended.stdout)
    assert {row["what"] for row in rows if not row["holds"]} == MISSED
    readme = (ROOT / "papers" / "hindman-design" / "README.md").read_text()
    assert f"{len(rows) - len(MISSED)} of {len(rows)} rows hold" in readme
    for figure in ("bathtub", "read-errors", "raid-levels", "scrubbing", "replacement"):
        assert (tmp_path / f"{figure}.png").stat().st_size > 10_000
        assert f"`{figure}`" in readme
