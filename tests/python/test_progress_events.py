"""Progress of commands as JSON lines."""

import itertools
import json
import os
from pathlib import Path
from typing import Any

import pytest

from command import command
from headrace import progress_events
from headrace.cli import screen
from headrace.progress_events import Progress
from web_scenarios import SHORT

MIX = ("--rates=50,100", "--time=2.5", "--warm-up=0", "--set=workload.0.files=50", "--no-store")


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "progress.jsonl"
    monkeypatch.setenv(progress_events.VARIABLE, str(path))
    return path


def test_the_first_and_the_last_progress_are_written_and_few_between(file: Path) -> None:
    with screen.steps("twin") as told:
        for number in range(1000):
            told(number, 1000, f"step {number}")
    found = lines_of(file)
    assert found[0]["text"] == "step 0" and found[-1]["text"] == "step 999"
    assert found[-1]["done"] == 999 and found[-1]["total"] == 1000
    times = [it["time"] for it in found[:-1]]
    assert all(
        after - before >= progress_events.BETWEEN_S for before, after in itertools.pairwise(times)
    )


def test_every_finished_step_is_written(file: Path) -> None:
    for number in range(1, 31):
        progress_events.finish_step(number, f"{number}/s", {"achieved": 1.0, "requested": None})
    found = lines_of(file)
    assert [it["figures"]["step"] for it in found] == list(range(1, 31))
    assert all("requested" not in it["figures"] for it in found)


def test_figures_of_a_line_that_is_left_out_come_with_the_next(file: Path) -> None:
    progress_events.report("a")
    progress_events.report("a", figures={"IOPS": 7.0})
    progress_events.report("a", text="later")
    progress_events.flush()
    assert lines_of(file)[-1] | {"time": 0} == {
        "time": 0,
        "title": "a",
        "text": "later",
        "figures": {"IOPS": 7.0},
    }


def test_the_fraction_is_between_0_and_1() -> None:
    assert Progress(0.0, done=3, total=4).fraction == 0.75
    assert Progress(0.0, done=5, total=4).fraction == 1.0
    assert Progress(0.0, done=5).fraction is None


def test_a_load_sweep_writes_each_step_as_it_ends(tmp_path: Path) -> None:
    file = tmp_path / "progress.jsonl"
    environment = os.environ | {progress_events.VARIABLE: str(file)}
    done = command("bench", "mix", tmp_path, *MIX, env=environment)
    assert done.returncode == 0, done.stderr
    steps = [it["figures"] for it in lines_of(file) if "step" in it.get("figures", {})]
    assert [(it["step"], it["name"], it["requested"]) for it in steps] == [
        (1, "50/s", 50.0),
        (2, "100/s", 100.0),
    ]
    assert all(it["achieved"] > 0 and it["latency"] > 0 for it in steps)
    assert any(it["figures"].get("operations/s") for it in lines_of(file) if "figures" in it)


def test_a_study_writes_each_point(tmp_path: Path) -> None:
    file = tmp_path / "progress.jsonl"
    environment = os.environ | {progress_events.VARIABLE: str(file)}
    options = ("--files=20", "--repetitions=1", "--processes=1,2", "--no-store")
    done = command("bench", "meta", tmp_path, *options, env=environment)
    assert done.returncode == 0, done.stderr
    steps = [it["figures"] for it in lines_of(file) if "step" in it.get("figures", {})]
    assert [it["processes"] for it in steps] == [1, 2]
    assert all(it["create (operations/s)"] > 0 for it in steps)


def test_the_steps_of_a_quick_benchmark_are_written(tmp_path: Path) -> None:
    file = tmp_path / "progress.jsonl"
    environment = os.environ | {progress_events.VARIABLE: str(file)}
    # A step is written from its last live figures, which a busy machine may not take in less time.
    options = ("--time=1", "--file-size=1 MiB", "--queue-depth=1", "--no-store")
    done = command("bench", "quick", tmp_path, *options, env=environment)
    assert done.returncode == 0, done.stderr
    found = lines_of(file)
    steps = [it["figures"] for it in found if "step" in it.get("figures", {})]
    assert [it["step"] for it in steps] == [1, 2, 3, 4]
    assert all(it["achieved"] > 0 and it["latency"] > 0 for it in steps)


def test_a_sweep_writes_each_run(tmp_path: Path) -> None:
    scenario = tmp_path / "a.toml"
    scenario.write_text(SHORT)
    file = tmp_path / "progress.jsonl"
    environment = os.environ | {progress_events.VARIABLE: str(file)}
    done = command("sweep", scenario, "--vary=clients.count=1,2", "--no-store", env=environment)
    assert done.returncode == 0, done.stderr
    steps = [it["figures"] for it in lines_of(file) if "step" in it.get("figures", {})]
    assert sorted(it["clients.count"] for it in steps) == [1, 2]
    assert all(it["throughput"] > 0 for it in steps)


def test_a_file_that_cannot_be_written_ends_no_command(tmp_path: Path) -> None:
    environment = os.environ | {progress_events.VARIABLE: str(tmp_path / "none" / "p.jsonl")}
    done = command("bench", "mix", tmp_path, *MIX, env=environment)
    assert done.returncode == 0, done.stderr
    environment = os.environ | {progress_events.VARIABLE: "/dev/full"}
    options = ("--files=20", "--repetitions=1", "--processes=1", "--no-store")
    done = command("bench", "meta", tmp_path, *options, env=environment)
    assert done.returncode == 0, done.stderr
