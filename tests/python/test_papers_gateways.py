"""What is said of MPFS and of Hindman's parallel file systems holds, but for what the papers'
pages own up to; the second on a part of its experiments."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def script(paper: str) -> ModuleType:
    """A paper's script, not run."""
    name = f"paper_{paper.replace('-', '_')}"
    spec = importlib.util.spec_from_file_location(name, ROOT / "papers" / paper / "reproduce.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_mpfs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "headrace", "papers", "mpfs", "--json", "--out", str(tmp_path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode in (0, 1), ended.stderr
    rows: list[dict[str, Any]] = json.loads(ended.stdout)
    missed = {row["what"] for row in rows if not row["holds"]}
    readme = (ROOT / "papers" / "mpfs" / "README.md").read_text()
    assert f"{len(rows) - len(missed)} of {len(rows)} rows hold" in readme
    assert {
        "MPFS, 8 clients: response at 100/s",
        "MPFS: throughput of 1 to 7 clients (figure 5.4)",
        "most operations/s: reads and writes < names < both (figure 5.6)",
        "clients from which MPFS carries more than NFS (figure 5.9)",
        "Windows, 8 clients: response at 100/s (figure 5.3)",
        "Windows: throughput of 8 clients against 4 (figure 5.5)",
        "hits of the client's cache with the file set of the benchmark (section 3.3.8)",
    } <= {row["what"] for row in rows if row["holds"]}
    assert (tmp_path / "mpfs.png").stat().st_size > 10_000


@pytest.fixture(scope="module")
def hindman() -> ModuleType:
    return script("hindman-pfs")


def test_hindmans_rates_in_small(hindman: ModuleType) -> None:
    """A client's link holds it back; one that makes three copies has a third of it."""
    for system, part in (("Gluster distribute", 1), ("Gluster replicate", 3), ("HDFS", 1)):
        rate = hindman.rate(system, "write") * part
        assert 0.9 * hindman.LINK < rate <= hindman.LINK, (system, rate)


def test_hindmans_rows(hindman: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hindman, "BLOCKS", (1024, 8192))
    rows = hindman.hdfs()
    assert [row.holds for row in rows] == [True, True, False]
    assert hindman.number("a rate", "100 MB/s", 100.0, 119.0).holds
    assert not hindman.number("a rate", "100 MB/s", 100.0, 121.0).holds
    assert hindman.within("a rate", 5, 6, 5.5).holds
    assert not hindman.within("a rate", 5, 6, 7.0).holds
    assert hindman.flat("rates", [100.0, 95.0]).holds
    assert not hindman.flat("rates", [100.0, 85.0]).holds
