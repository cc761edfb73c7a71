"""Sweeps on Dask clusters: workers and schedulers that die, and jobs of batch systems."""

import importlib.util
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import psutil
import pytest
from distributed import Client

from command import command
from headrace import RunError
from headrace.simulate import Trust, load
from headrace.simulate.scenario import Scenario
from headrace.simulate.schedulers import check_trust
from headrace.sweeps import engines, sweep
from headrace.sweeps.engines import dask_clusters
from headrace.sweeps.task import Outcome, Task
from slurm import slurm_cluster
from test_trust import SCENARIO

PLAIN = SCENARIO.replace('[scheduler]\npython = "mine:Mine"\n', "")
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
    found = []
    for process in psutil.Process().children(recursive=True):
        # One that has ended meanwhile has no command line.
        with suppress(psutil.ZombieProcess, psutil.NoSuchProcess):
            if "spawn_main" in " ".join(process.cmdline()):
                found.append(process)
    return found


def until(condition: Callable[[], object], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[Path, list["subprocess.Popen[bytes]"]]]:
    """A scheduler with a worker, in processes of their own: its file and the processes."""
    file = folder / "scheduler.json"
    arguments: tuple[list[str | Path], ...] = (
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
    found: dict[int, Outcome] = {}
    before: set[int] = set()
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
    # Beside those that had been reported, a run is repeated once at most.
    assert max(counts.values()) <= 2


def test_a_run_that_kills_its_workers_fails_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headrace.sweeps.engines.dask.MOST_DEATHS", 2)
    runs = Runs(tmp_path, deadly=3)
    with engines.engine("dask:1", runs.scenario, runs.trust) as dask:
        found = {task.number: outcome for task, outcome in dask.outcomes(tasks(6))}
    assert found.pop(3).error == "2 workers died of it, perhaps out of memory"
    assert len(results(found)) == 5


def test_a_sweep_goes_on_after_its_scheduler_was_killed(tmp_path: Path) -> None:
    runs = Runs(tmp_path, pause=0.05)
    saved = tmp_path / "saved"
    with cluster(tmp_path) as (file, (scheduler, worker)):
        arguments: list[str | Path] = [
            "sweep",
            runs.file,
            "--vary",
            "clients.count=1,2,3",
            "--replications",
            "20",
        ]
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
        assert "is gone; " in said and f"had ended and are in {saved}" in said
        # The worker has nobody to work for.
        worker.wait(60)
    done = record.read_bytes().count(b"\n")
    ended = command(*arguments, "--on", "threads:2")
    assert ended.returncode == 0, ended.stderr
    document = msgspec.json.decode(ended.stdout)
    assert document["reused"] == done and len(document["points"]) == 60
    assert not document["failed"]


def test_leaving_the_engine_ends_its_runs_on_a_running_cluster(tmp_path: Path) -> None:
    short = Task(0, "short", ("run.seed=0",))
    for_ever = ('workload.repeat="forever"', 'run.stop.time="200 d"')
    endless = [Task(number, "endless", for_ever) for number in (1, 2)]
    scenario = load(PLAIN)
    with cluster(tmp_path) as (file, _):
        with engines.engine(f"dask:{file}", scenario, Trust()) as dask:
            task, outcome = next(iter(dask.outcomes([short, *endless])))
            assert task is short and not outcome.error, outcome.error
        # The only thread of the only worker is free again.
        with Client(scheduler_file=str(file), set_as_default=False) as client:
            assert client.submit(int, "7").result(timeout=30) == 7


def test_workers_of_another_version_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headrace.sweeps.engines.dask.__version__", "0.0.0")
    with (
        engines.engine("dask:1", load(PLAIN), Trust()) as dask,
        pytest.raises(RunError, match=r"a worker has headrace .*, this is headrace 0\.0\.0"),
    ):
        list(dask.outcomes(tasks(2)))


def test_without_dask_one_line_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    scenario = load(PLAIN)
    with pytest.raises(ValueError, match=r"engine dask needs Dask: pip install 'headrace\[dask\]'"):
        engines.engine("dask", scenario, Trust())
    with pytest.raises(ValueError, match="engine slurm needs Dask"):
        engines.engine("slurm", scenario, Trust())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("dask:host", "expected a number of processes, a scheduler's address"),
        ("dask:0", "expected 1 to 4096 processes"),
        ("slurm:queue", "expected option=value, such as queue=short"),
        ("slurm:jobs=none", "jobs=none: expected a number"),
        ("slurm:cores=0", "cores=0: expected a number from 1"),
        ("ssh", "engine 'ssh': expected threads, dask, slurm, pbs"),
    ],
)
def test_a_wrong_engine_is_refused(name: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        engines.engine(name, load(PLAIN), Trust())


def test_a_scheduler_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_clusters, "CONNECT_S", 1)
    with (
        pytest.raises(RunError, match="the Dask scheduler at tcp://127.0.0.1:9 does not answer"),
        engines.engine("dask:tcp://127.0.0.1:9", load(PLAIN), Trust()),
    ):
        pass


@pytest.fixture(scope="module")
def slurm() -> Iterator[Path]:
    """The settings of a Slurm cluster of one node."""
    with slurm_cluster() as settings:
        yield settings


def jobs_of(settings: Path) -> list[str]:
    """Return the jobs that have not ended, with their states."""
    shown = subprocess.run(
        ["squeue", "--noheader", "--format", "%i %T"],
        env=os.environ | {"SLURM_CONF": str(settings)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [line for line in shown.splitlines() if "COMPLETING" not in line]


def test_jobs_of_slurm_run_a_sweep_and_are_cancelled(
    slurm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    monkeypatch.chdir(tmp_path)
    handler = signal.getsignal(signal.SIGINT)
    # The shell of a job must not take the parts of a path for words.
    python = tmp_path / "a place" / "python"
    python.parent.mkdir()
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    options = tmp_path / "cluster.toml"
    options.write_text('queue = "short"\nwalltime = "00:10:00"\njob_extra_directives = ["-N 1"]\n')
    found = sweep(
        load(PLAIN),
        {"clients.count": [1, 2, 3]},
        on=f"slurm:{options},memory=1 GiB,jobs=2",
        replications=2,
    )
    # dask-jobqueue replaces the handler of Ctrl-C.
    assert signal.getsignal(signal.SIGINT) is handler
    here = sweep(load(PLAIN), {"clients.count": [1, 2, 3]}, replications=2)
    assert found.frame.drop("wall_s").equals(here.frame.drop("wall_s"))
    assert jobs_of(slurm) == []
    outputs = list(tmp_path.glob("slurm-*.out"))
    assert len(outputs) == 2
    assert any("Start worker" in file.read_text() for file in outputs)


def test_jobs_without_a_worker_end_a_sweep_with_their_output(
    slurm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunError) as raised:
        sweep(
            load(PLAIN),
            {"clients.count": [1, 2]},
            on="slurm:queue=short,memory=1 GiB,python=/nowhere/python",
        )
    output = next(tmp_path.glob("slurm-*.out"))
    pattern = (
        rf"slurm: job \d+ ended \(FAILED\) before its worker joined; {output}: .*"
        r"/nowhere/python: No such file or directory"
    )
    assert re.fullmatch(pattern, str(raised.value))


def test_slurm_says_why_it_refuses_a_job(
    slurm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RunError, match="slurm refused a job: .*[Ii]nvalid partition"):
        sweep(load(PLAIN), {"clients.count": [1]}, on="slurm:queue=none")
