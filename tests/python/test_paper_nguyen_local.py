"""What Nguyen 2011 states of ext3 on one machine holds, in small; and the paper's script runs."""

import importlib
import importlib.util
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import headrace as hr
from headrace.calibrate.run_report import RunReport
from headrace.measure import measure_strict

ROOT = Path(__file__).resolve().parents[2]
PAPER = ROOT / "papers" / "nguyen-local"

T_L2, T_MEMORY, CALL = 2e-6, 6e-6, 1e-6

MACHINE = """\
system = "ext3"

[machine.cpu]
cores = 2
system_call = "1 us"

[machine.copying]
l2 = "512 KiB"
page_in_l2 = "2 us"
page_in_memory = "6 us"

[machine.memory]
size = "128 MiB"

[machine.write_back]
bytes = "32 MiB"
background_bytes = "16 MiB"

[machine.file_system]
new_page = "10 us"

[machine.file_system.journal]
size = "32 MiB"

[machine.device]
read_rate = "60 MB/s"
write_rate = "60 MB/s"

[[workload]]
block = "16 MiB"
transfer = "64 KiB"
"""

READ: dict[str, Any] = {"workload.0.phases": ["read"], "workload.0.io.cached": True}
SYNCHRONOUS: dict[str, Any] = {"workload.0.io.synchronous": True}
DATA_JOURNAL: dict[str, Any] = {"machine.file_system.journal.mode": "journal"}
COPIES_FOR_NOTHING: dict[str, Any] = {
    "machine.copying.page_in_l2": "0 s",
    "machine.copying.page_in_memory": "0 s",
}

BELOW = {
    "sequential write: blocks above 1 MB",
    "random read, 8 KB (table 5)",
    "random write, 8 KB, ordered (table 6)",
    "trace 1, read (table 7)",
    "trace 2, read (table 7)",
    "random write, 8 KB, synchronous (table 11)",
    "trace 1, write, synchronous (table 12)",
    "trace 2, write, synchronous (table 12)",
    "synchronous: data journal against ordered (section 5.8; random write, 8 KB)",
}
"""Rows that may fail: the paper's README says why. Any other that fails is a loss."""


def report(sets: Mapping[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = hr.run(hr.load(MACHINE, sets)).json()
    return document


def read(sets: Mapping[str, Any]) -> float:
    """Bytes a second of a cached file."""
    return float(report({**READ, **sets})["throughput"]["read"])


def write(sets: Mapping[str, Any]) -> float:
    """Bytes a second until the last call returns."""
    return float(report(sets)["throughput"]["write"])


def bandwidth(sets: Mapping[str, Any]) -> float:
    """Bytes a second until all is on the disk."""
    size = {"workload.0.block": "128 MiB", "workload.0.phases": ["write", "sync"]}
    return (128 << 20) / float(report({**size, **sets})["simulated_seconds"])


def test_reads_do_not_depend_on_the_file_until_memory_is_full() -> None:
    rates = [
        read({"workload.0.block": size, "workload.0.transfer": "16 KiB"})
        for size in ("16 KiB", "1 MiB", "64 MiB", "120 MiB", "160 MiB")
    ]
    assert rates[:4] == pytest.approx([rates[0]] * 4, rel=1e-6)
    # In order through a file larger than the cache nothing is found again.
    assert rates[4] == pytest.approx(60e6, rel=0.02)


@pytest.mark.parametrize("cache", [256, 512, 1024, 2048, 4096])
def test_copies_slow_down_past_an_eighth_of_the_second_level_cache(cache: int) -> None:
    eighth = cache // 8
    for block in (4, eighth, 2 * eighth, 1024):
        pages, inside = block / 4, min(block, eighth) / 4
        time = CALL + inside * T_L2 + (pages - inside) * T_MEMORY
        sets = {"machine.copying.l2": f"{cache} KiB", "workload.0.transfer": f"{block} KiB"}
        assert read(sets) == pytest.approx(block * 1024 / time, rel=1e-3), block


def test_writes_lose_less_to_the_second_level_cache_than_reads() -> None:
    def fall(rate: Any) -> float:
        small, large = ({"workload.0.transfer": size} for size in ("64 KiB", "1 MiB"))
        return 1 - float(rate(large)) / float(rate(small))

    assert 0.05 < fall(write) < 0.6 * fall(read)


def test_writes_fall_at_the_dirty_limit() -> None:
    sizes = [8, 16, 32, 64, 128, 512]
    rates = [write({"workload.0.block": f"{size} MiB"}) for size in sizes]
    assert rates[0] == pytest.approx(rates[1], rel=0.01)
    assert rates[0] > 200e6
    assert rates[1:] == sorted(rates[1:], reverse=True)
    assert rates[3] < 0.7 * rates[0]
    # In the end all but what may be dirty is on the disk.
    assert 60e6 <= rates[-1] <= 60e6 * 512 / (512 - 32) * 1.02


def test_a_full_data_journal_halves_the_disks_bandwidth_and_hides_the_copies() -> None:
    ordered, journal = bandwidth({}), bandwidth(DATA_JOURNAL)
    assert ordered == pytest.approx(60e6, rel=0.03)
    # With half of the journal kept free a transaction, a third of it, is filled when the one
    # before it is in the journal and the oldest at its place, 373 ms; filling it takes 44 ms.
    assert 30e6 * 373 / (373 + 44) < journal < 30e6
    assert bandwidth({**DATA_JOURNAL, **COPIES_FOR_NOTHING}) == pytest.approx(journal, rel=0.03)


def test_synchronous_writes_hide_the_second_level_cache() -> None:
    rates = {
        size: write({**SYNCHRONOUS, "workload.0.transfer": f"{size} KiB"})
        for size in (8, 16, 32, 64, 128, 256, 512, 1024)
    }
    assert list(rates.values()) == sorted(rates.values())
    fitting = {"machine.copying.page_in_memory": "2 us"}
    slower = write({**SYNCHRONOUS, **fitting, "workload.0.transfer": "1 MiB"})
    assert rates[1024] == pytest.approx(slower, rel=0.06)
    assert rates[8] < 0.1 * write({"workload.0.transfer": "8 KiB"})


def test_the_traces_are_what_their_script_writes(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("traces", PAPER / "traces.py")
    assert spec is not None and spec.loader is not None
    traces = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(traces)
    traces.write(tmp_path)
    for path in sorted(tmp_path.iterdir()):
        assert path.read_bytes() == (PAPER / "traces" / path.name).read_bytes(), path.name


@pytest.fixture
def present(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The paper's cases on a present machine; modules beside it are found as its script does."""
    monkeypatch.syspath_prepend(str(PAPER))
    return importlib.import_module("testbed_cases")


def test_what_is_measured_again_can_be_measured(present: Any, tmp_path: Path) -> None:
    names = [case.name for case in present.CASES]
    assert len(names) == len(set(names))
    importlib.import_module("traces").write(tmp_path / "traces", part=present.PART)
    cases = [case for _, case in present.TABLES if case.journal == "ordered"]
    for case in (cases[0], cases[2], cases[4]):
        text = case.text(tmp_path / "traces")
        # Beyond what a trace asks of the largest buffer, nothing is bound to a machine.
        assert case.rate(RunReport.measured(measure_strict(text, tmp_path).report)) > 0, case.name


def test_measuring_again_says_what_it_takes() -> None:
    script = [sys.executable, str(PAPER / "measure_on_testbed.py")]
    for arguments, expected in (
        ([], "required: OUT"),
        (["x", "1"], "ROUNDS = 1: expected 2 or more"),
        (["x", "a"], "ROUNDS: invalid int value: 'a'"),
    ):
        ended = subprocess.run([*script, *arguments], capture_output=True, text=True, check=False)
        assert ended.returncode == 2
        assert expected in ended.stderr and len(ended.stderr.splitlines()) == 1


def test_the_papers_rows(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "headrace", "papers", "nguyen-local", "--json"]
    ended = subprocess.run(
        [*command, "--out", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode in (0, 1), ended.stderr
    rows = json.loads(ended.stdout)
    assert len(rows) >= 25
    # What was measured again may be measured once more.
    again = [row for row in rows if row["what"].startswith("measured again on Linux")]
    assert len(again) == 12
    assert {row["what"] for row in rows if not row["holds"] and row not in again} <= BELOW
    assert {row["what"] for row in rows} >= BELOW
    assert (tmp_path / "rates.md").read_text().count("\n") == 2 + 12
    for figure in ("rates", "blocks", "sizes", "requests", "blocks-again", "sizes-again"):
        assert (tmp_path / f"{figure}.png").stat().st_size > 10_000
