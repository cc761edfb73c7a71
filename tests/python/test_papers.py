"""The papers' results, reproduced by the command that users run."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_row_of_pfssim_holds(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "headrace", "papers", "pfssim", "--json"]
    ended = subprocess.run(
        [*command, "--out", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    rows = json.loads(ended.stdout)
    assert len(rows) >= 15
    assert [row["what"] for row in rows if not row["holds"]] == []
    for figure in ("throughput", "response-time", "shares"):
        assert (tmp_path / f"{figure}.png").stat().st_size > 10_000
    assert (tmp_path / "table.md").read_text().count("| yes |") == len(rows)
