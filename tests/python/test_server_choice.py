"""Schedulers that choose servers, views of servers, and placements in Python."""

from collections.abc import Mapping
from pathlib import Path

import pytest

import headrace as hr

ROOT = Path(__file__).resolve().parents[2]
CHOICE = ROOT / "scenarios" / "replica-choice.toml"
SHORT = {"run.warm_up": "1 s", "run.stop.time": "6 s"}

SMALL = """
[clients]
count = 2
[servers]
count = 4
device = { read_rate = "100 MB/s", write_rate = "100 MB/s" }
[network]
bandwidth = "10 Gbit/s"
latency = "10 us"
[[workload]]
kind = "ior"
block = "16 MiB"
transfer = "1 MiB"
"""

READS = SMALL + 'phases = ["read"]\n[layout]\nunit = "1 MiB"\n[replication]\ncopies = 2\n'

OWN = """
import headrace

class Second(headrace.Scheduler):
    def job_arrival(self, job):
        self.dispatch(job, server=job.servers[-1])

class Wrong(headrace.Scheduler):
    def job_arrival(self, job):
        self.dispatch(job, server=3 - job.server)

class Sees(headrace.Scheduler):
    seen = []
    def job_arrival(self, job):
        Sees.seen += [(self.view_time, it.jobs, it.queue, it.utilisation) for it in self.servers()]
        self.dispatch(job)

class Apart(headrace.Placement):
    def strips(self, file):
        return [3, (1, 1 << 19)]

class Nowhere(headrace.Placement):
    def strips(self, file):
        return [self.targets]

class Raises(headrace.Placement):
    def strips(self, file):
        return [1 // 0]
"""


def mean(sets: Mapping[str, object]) -> float:
    document = hr.run(hr.load(CHOICE, SHORT | dict(sets))).document
    return float(document["latency"]["all"]["mean"]) / 0.01


def devices(document: dict[str, object]) -> dict[str, dict[str, float]]:
    stations = document["stations"]
    assert isinstance(stations, list)
    return {it["station"]: it for it in stations}


def test_two_choices_are_far_better_than_one_and_old_loads_worse_than_new() -> None:
    random = mean({"scheduler.kind": "none"})
    two = mean({})
    every = mean({"scheduler.choices": "all"})
    old = {"scheduler.load": "view", "scheduler.view_period": "200 ms"}
    herd = mean(old | {"scheduler.choices": "all"})
    old_two = mean(old)
    assert every < two < random / 2
    assert two < old_two < random < herd


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own.py").write_text(OWN)
    return tmp_path


def run(folder: Path, text: str, **sets: object) -> dict[str, object]:
    file = folder / "my.toml"
    file.write_text(text)
    named = {key.replace("__", "."): value for key, value in sets.items()}
    return hr.run(hr.load(file, named), trust=True).document


def test_a_job_goes_to_the_server_that_a_class_names(folder: Path) -> None:
    own = {"scheduler__python": "own:Second", "scheduler__position": "client"}
    document = run(folder, READS, **own, run__seed=1)
    assert document["throughput"]
    with pytest.raises(hr.RunError, match=r"own.py:\d+: Wrong.job_arrival of scheduler .* raised"):
        run(folder, READS, **(own | {"scheduler__python": "own:Wrong"}))


def test_a_wrong_server_is_named(folder: Path) -> None:
    own = {"scheduler__python": "own:Wrong", "scheduler__position": "client"}
    with pytest.raises(hr.RunError, match="has no copy of what the job reads of file"):
        run(folder, READS, **own)
    with pytest.raises(hr.RunError, match="only reads can be sent to another server"):
        run(folder, SMALL + 'phases = ["write"]\n[layout]\nunit = "1 MiB"\n', **own)
    with pytest.raises(hr.RunError, match="stands before one server"):
        run(folder, READS, **(own | {"scheduler__position": "server"}))


def test_a_view_needs_a_period(folder: Path) -> None:
    own = {"scheduler__python": "own:Sees", "scheduler__position": "gateway"}
    with pytest.raises(hr.RunError, match="give scheduler.view_period"):
        run(folder, READS, **own)
    run(folder, READS, **own, scheduler__view_period="1 ms", scheduler__view_delay="2 ms")
    with pytest.raises(hr.ScenarioError, match="expected a time of more than 0"):
        run(folder, READS, **own, scheduler__view_period="0 s")


def test_schedulers_stand_at_several_positions(folder: Path) -> None:
    several = READS + "\n".join(
        f'[[scheduler]]\nkind = "fifo"\nposition = "{it}"\ndepth = 2'
        for it in ("client", "gateway", "proxy", "server")
    )
    stations = devices(run(folder, several))
    queues = {name for name in stations if name.endswith("scheduler/queue")}
    assert queues == {
        f"system/{it}/scheduler/queue" for it in ("client", "gateway", "proxy", "server")
    }
    assert len({stations[it]["visits"] for it in queues}) == 1
    twice = READS + 2 * '[[scheduler]]\nkind = "fifo"\n'
    with pytest.raises(hr.ScenarioError, match="give each a position of its own"):
        run(folder, twice)


def test_files_lie_where_a_class_places_them(folder: Path) -> None:
    text = SMALL + '[layout]\npython = "own:Apart"\nkind = "python"\nunit = "1 MiB"\n'
    document = run(folder, text)
    # Strips of 1 MiB and 512 KiB in turn: two thirds of the bytes are on one server.
    device = devices(document)["system/server/device"]
    assert device["visits"] > 0
    with pytest.raises(hr.RunError, match="on target 4: expected a number from 0 to 3"):
        run(folder, text, layout__python="own:Nowhere")
    with pytest.raises(hr.RunError, match=r"own.py:\d+: Raises.strips raised ZeroDivisionError"):
        run(folder, text, layout__python="own:Raises")
    with pytest.raises(hr.ScenarioError, match="no subclass of headrace.Placement"):
        run(folder, text, layout__python="own:Second")


def test_metadata_load_follows_the_subtrees(folder: Path) -> None:
    text = (
        SMALL.split("[[workload]]")[0]
        + """
[layout]
unit = "1 MiB"
[metadata]
servers = 3
distribution = "subtree"
time_per_operation = "0.1 ms"
[[metadata.subtree]]
directory = "/1"
server = 2
[[workload]]
kind = "mdtest"
files = 100
[[workload]]
kind = "mdtest"
files = 100
"""
    )
    document = run(folder, text, clients__groups="{ a = 1, b = 1 }")
    assert document["operations"]
