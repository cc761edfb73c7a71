"""Sweeps on Dask clusters: workers and schedulers that die, and jobs of batch systems."""

import importlib.util
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import psutil
import pytest

from command import command
from headrace.simulate import Trust, load
from headrace.simulate.scenario import Scenario
from headrace.simulate.schedulers import check_trust
from headrace.sweep import engines
from headrace.sweep.task import Outcome, Task

SCENARIO = """
[clients]
count = 2
[servers]
count = 1
device = { read_rate = "100 MB/s", write_rate = "100 MB/s" }
[network]
bandwidth = "1 GB/s"
latency = "10 us"
[layout]
unit = "64 KiB"
[scheduler]
python = "mine:Mine"
[[workload]]
block = "1 MiB"
transfer = "512 KiB"
"""
CODE = """import os
import time

import headrace


class Mine(headrace.Scheduler):
    def __init__(self):
        time.sleep({pause})
        with open({log!r}, "a") as file:
            file.write(f"{{self.seed}}\\n")
        if self.seed == {deadly}:
            os._exit(1)

    def job_arrival(self, job):
        self.dispatch(job)
"""


class Runs:
    """A scenario whose runs write their seeds to a file."""

    def __init__(self, folder: Path, pause: float = 0.0, deadly: int = -1) -> None:
        self.file, self.log = folder / "s.toml", folder / "log"
        self.file.write_text(SCENARIO)
        self.code = folder / "mine.py"
        self.code.write_text(CODE.format(pause=pause, log=str(self.log), deadly=deadly))
        self.trust = Trust(everything=True)

    @property
    def scenario(self) -> Scenario:
        found = load(self.file)
        check_trust([found], self.trust)
        return found

    def counts(self) -> Counter[int]:
        """How often each seed was run."""
        return Counter(map(int, self.log.read_text().split()))


def tasks(count: int) -> list[Task]:
    return [
        Task(number, str(number), (f"run.seed={number}", "run.replications=1"))
        for number in range(count)
    ]


def timeless(outcome: Outcome) -> Outcome:
    """The outcome without the time that it took."""
    assert outcome.figures is not None, outcome.error
    figures = msgspec.structs.replace(outcome.figures, wall_seconds=0.0)
    return msgspec.structs.replace(outcome, figures=figures)


def results(found: dict[int, Outcome]) -> list[bytes]:
    return [msgspec.json.encode(timeless(found[number])) for number in sorted(found)]


def workers() -> list[psutil.Process]:
    """Worker processes of this one."""
    return [
        process
        for process in psutil.Process().children(recursive=True)
        if "spawn_main" in " ".join(process.cmdline())
    ]


def until(condition: Callable[[], object], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[Path, list["subprocess.Popen[bytes]"]]]:
    """A scheduler with a worker, in processes of their own: its file and the processes."""
    file = folder / "scheduler.json"
    arguments = (
        ["dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file],
        ["dask_worker", "--nthreads", "1", "--no-nanny", "--scheduler-file", file],
    )
    processes = []
    try:
        for name, *rest in arguments:
            processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", f"distributed.cli.{name}", *rest],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd=folder,
                )
            )
            until(file.exists)
        yield file, processes
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait()


def test_a_killed_worker_changes_no_result_and_repeats_no_finished_run(tmp_path: Path) -> None:
    runs = Runs(tmp_path, pause=0.02)
    with engines.engine("threads:1", runs.scenario, runs.trust) as threads:
        expected = {task.number: outcome for task, outcome in threads.outcomes(tasks(60))}
    runs.log.unlink()
    found, before = {}, set()
    with engines.engine("dask:2", runs.scenario, runs.trust) as dask:
        assert len(workers()) == 2
        for task, outcome in dask.outcomes(tasks(60)):
            found[task.number] = outcome
            if len(found) == 20:
                before = set(found)
                workers()[0].kill()
    assert not workers()
    assert results(found) == results(expected)
    counts = runs.counts()
    assert all(counts[seed] == 1 for seed in before)
    # The dead worker had one run in progress, and finished ones of 20 ms at most to report.
    assert sum(counts.values()) <= 60 + 3


def test_a_run_that_kills_its_workers_fails_alone(tmp_path: Path) -> None:
    runs = Runs(tmp_path, deadly=3)
    with engines.engine("dask:1", runs.scenario, runs.trust) as dask:
        found = {task.number: outcome for task, outcome in dask.outcomes(tasks(6))}
    assert found.pop(3).error == "3 workers died of it, perhaps out of memory"
    assert len(results(found)) == 5


def test_a_sweep_goes_on_after_its_scheduler_was_killed(tmp_path: Path) -> None:
    runs = Runs(tmp_path, pause=0.05)
    saved = tmp_path / "saved"
    with cluster(tmp_path) as (file, (scheduler, worker)):
        arguments = ["sweep", runs.file, "--vary", "clients.count=1,2,3", "--replications", "20"]
        arguments += ["-o", saved, "--trust", runs.code, "--json"]
        started = subprocess.Popen(
            [sys.executable, "-m", "headrace", *arguments, "--on", f"dask:{file}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        record = saved / "runs.jsonl"
        until(lambda: record.exists() and record.read_bytes().count(b"\n") >= 5)
        scheduler.kill()
        _, said = started.communicate(timeout=60)
        assert started.returncode == 1
        assert len(said.splitlines()) == 1
        assert "is gone; finished runs are in" in said
        # The worker has nobody to work for.
        worker.wait(60)
    done = record.read_bytes().count(b"\n")
    ended = command(*arguments, "--on", "threads:2")
    assert ended.returncode == 0, ended.stderr
    document = msgspec.json.decode(ended.stdout)
    assert document["reused"] == done and len(document["points"]) == 60
    assert not document["failed"]


def test_a_cancelled_sweep_stops_a_running_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = Runs(tmp_path)
    scenario = long.scenario.with_({"workload.block": "4 GiB", "clients.count": 64})
    with cluster(tmp_path) as (file, (_, worker)):
        with engines.engine(f"dask:{file}", scenario, long.trust) as dask:
            iterator = dask.outcomes(_after(long.log.exists, tasks(3)))
            next(iterator)
    del monkeypatch, worker


def _after(condition: Callable[[], object], given: list[Task]) -> Iterator[Task]:
    yield from given


def test_without_dask_one_line_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    scenario = load(SCENARIO.replace('[scheduler]\npython = "mine:Mine"\n', ""))
    with pytest.raises(ValueError, match=r"engine dask needs Dask: pip install 'headrace\[dask\]'"):
        engines.engine("dask", scenario, Trust())
    with pytest.raises(ValueError, match="engine slurm needs Dask"):
        engines.engine("slurm", scenario, Trust())
