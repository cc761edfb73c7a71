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

class RaisesLater(headrace.Placement):
    def strips(self, file):
        yield 1
        yield 1 // 0

class Endless(headrace.Placement):
    def strips(self, file):
        while True:
            yield file

class Stopped(headrace.Placement):
    def strips(self, file):
        yield 0
        raise KeyboardInterrupt

class Text(headrace.Placement):
    def strips(self, file):
        return [0, "one"]
"""


POLICY = """
class Here(headrace.Scheduler):
    def job_arrival(self, job):
        self.dispatch(job)

class Oldest(headrace.ReplacementPolicy):
    def __init__(self, pages):
        self.cached = {}
    def insert(self, page):
        self.cached[page] = None
    def evict(self, incoming):
        page = next(iter(self.cached))
        del self.cached[page]
        return page
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
    for name, message in {
        "Nowhere": ": Nowhere.strips returned strips for file 0 that cannot be: a strip is on"
        " target 4: expected a number from 0 to 3",
        "Raises": ": Raises.strips raised ZeroDivisionError",
        "RaisesLater": ": RaisesLater.strips raised ZeroDivisionError",
        "Endless": ": Endless.strips returned more than 1000000 strips for file 0; expected",
        "Text": r": Text.strips returned 'one' as strip 1 for file 0; expected a list of targets",
    }.items():
        # The line is within the method or, without an exception, that of its head.
        with pytest.raises(hr.RunError, match=f"^{folder}/own.py:[0-9]+{message}") as raised:
            run(folder, text, layout__python=f"own:{name}")
        line = int(str(raised.value).split(":")[1])
        above = OWN.splitlines()[: line - 1]
        last = [it for it in above if it.startswith("class ")][-1]
        assert last.startswith(f"class {name}(")
    with pytest.raises(KeyboardInterrupt):
        run(folder, text, layout__python="own:Stopped")
    with pytest.raises(hr.ScenarioError, match="no subclass of headrace.Placement"):
        run(folder, text, layout__python="own:Second")


def test_code_is_named_alike_everywhere(folder: Path) -> None:
    (folder / "code" / "deep").mkdir(parents=True)
    for file in ("code/deep/own.py", "code/of-mine.py"):
        (folder / file).write_text(OWN + POLICY)
    placed = SMALL + '[layout]\nkind = "python"\npython = "own:Apart"\n'
    memory = 'memory = { cache = "8 MiB", replacement = "python" }\n[network]'
    cached = READS.replace("[network]", memory)
    for field, text, name in (
        ("layout", placed, "Apart"),
        ("scheduler", READS, "Here"),
        ("servers.memory", cached, "Oldest"),
    ):
        documents = [
            run(folder, text, **{f"{field}.python": f"{code}:{name}", f"{field}.folder": place})
            for code, place in (
                ("own", "code/deep"),
                ("own.py", "code/deep"),
                ("deep/own.py", "code"),
                ("deep.own", "code"),
                ("of-mine.py", "code"),
                (folder / "code" / "of-mine.py", "."),
            )
        ]
        assert len({it["simulated_seconds"] for it in documents}) == 1
        with pytest.raises(hr.ScenarioError, match=f"{field}.*there is no file .*missing.py"):
            run(folder, text, **{f"{field}.python": f"missing.py:{name}"})
        with pytest.raises(hr.ScenarioError, match=f"{field}.*there is no module 'missing'"):
            run(folder, text, **{f"{field}.python": f"missing:{name}"})
        with pytest.raises(hr.ScenarioError, match="mine.py:MyClass"):
            run(folder, text, **{f"{field}.python": f"own.pyc:{name}/"})


def test_a_sweep_reports_a_failed_class_and_goes_on(folder: Path) -> None:
    file = folder / "my.toml"
    file.write_text(SMALL + '[layout]\nkind = "python"\npython = "own:Apart"\n')
    points = {"layout.python": ["own:Apart", "own:Raises"]}
    swept = hr.sweep(hr.load(file), points, trust=True)
    assert swept.frame["error"].null_count() == 1
    (error,) = swept.frame["error"].drop_nulls()
    assert "Raises.strips raised ZeroDivisionError" in error


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
