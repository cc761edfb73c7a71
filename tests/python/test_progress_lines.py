"""Progress where standard error is no terminal: whole lines, and few of them."""

import threading
import time
from pathlib import Path

import pytest

from command import PROGRESS
from headrace.cli import screen
from headrace.cli.app import run
from headrace.cli.bench.live_view import live_view
from headrace.measure import Live
from headrace.trace import synthesize


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines may follow each other at once."""
    monkeypatch.setattr(screen, "LINES_S", 0.0)


@pytest.mark.usefixtures("at_once")
def test_steps_runs_and_benchmarks_write_lines(capfd: pytest.CaptureFixture[str]) -> None:
    with screen.steps("twin") as told:
        told(3, 40, "cold reads\r\nof 4 KiB")
    with screen.progress("a run", True) as ran:
        assert ran is not None
        ran(1.5, 2000, 0.25)
    with live_view("bench run", True) as live:
        assert live is not None
        live(Live(True, 0.0, {"write": (10, 10_000_000)}))
        live(Live(False, 7.0, {"write": (20, 20_000_000), "stat": (5, 0)}))
        live(Live(False, 7.0, {}, removing=True, removed=1200))
    out, err = capfd.readouterr()
    assert out == "" and "\r" not in err and "\x1b" not in err and err.endswith("\n")
    assert [line.split(" s: ", 1)[1] for line in err.splitlines()] == [
        r"3 of 40 steps done, next: cold reads\r\nof 4 KiB",
        "25 %, 1.5 s simulated, 2,000 requests",
        "prepared: 10 operations, 10 MB",
        "measured for 7 s: 25 operations, 20 MB",
        "1,200 files and directories removed",
    ]
    assert [line.split(": ")[0] for line in err.splitlines()][:2] == ["twin", "a run"]


def test_lines_are_at_least_ten_seconds_apart(capfd: pytest.CaptureFixture[str]) -> None:
    assert screen.LINES_S == 10
    for number in range(3):
        # A step of its own each, as in a load sweep.
        with screen.steps("bench") as told:
            told(number, 3, "next")
            told(number, 3, "next")
    assert capfd.readouterr().err.count("\n") <= 1


@pytest.mark.usefixtures("at_once")
def test_without_progress_nothing_is_written(capfd: pytest.CaptureFixture[str]) -> None:
    with screen.progress("a run", False) as ran, live_view("bench", False) as live:
        assert ran is None and live is None
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("at_once")
def test_lines_go_on_within_one_long_step(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screen, "LOOK_LINES_S", 0.01)
    with screen.steps("twin") as told:
        told(3, 40, "cold reads")
        begun = capfd.readouterr().err
        deadline = time.monotonic() + 60
        while not (repeated := capfd.readouterr().err) and time.monotonic() < deadline:
            time.sleep(0.01)
    with screen.counted("trace info", "records") as counted:
        counted(70_000)
        time.sleep(0.2)
    assert begun.count("\n") >= 1
    assert repeated.splitlines()[0].endswith("3 of 40 steps done, next: cold reads")
    assert "trace info" in capfd.readouterr().err
    count = threading.active_count()
    assert "headrace-progress" not in {it.name for it in threading.enumerate()}, count


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("command", ["whatif", "trace synth", "trace info", "trace convert"])
def test_long_commands_write_lines(
    command: str,
    small: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(screen, "LOOK_LINES_S", 0.001)
    trace = tmp_path / "t.csv"
    synthesize(trace, processes=8)
    arguments = {
        "whatif": ["whatif", small, "--only", "servers.*"],
        "trace synth": ["trace", "synth", tmp_path / "s.csv", "--block", "64 MiB"],
        "trace info": ["trace", "info", trace],
        "trace convert": ["trace", "convert", trace, tmp_path / "t.parquet"],
    }
    assert run([str(it) for it in arguments[command]]) == 0
    err = capfd.readouterr().err
    assert err.startswith(f"{command}: ") and err.endswith("\n")
    assert "\r" not in err and "\x1b" not in err
    assert not PROGRESS.sub("", err)


def test_no_bench_writes_carriage_returns() -> None:
    benches = Path(__file__).parents[2] / "benches"
    assert not [path for path in benches.rglob("*.py") if "\\r" in path.read_text("utf-8")]
