"""Schedulers of one's own: found, run, and told what is wrong with them."""

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import headrace as hr

SCENARIO = """
[clients]
count = 4
groups = ["a", "b"]
[servers]
count = 2
device = { read_rate = "100 MB/s", write_rate = "100 MB/s" }
[network]
bandwidth = "1 GB/s"
latency = "10 us"
[layout]
unit = "64 KiB"
[scheduler]
LINES
[[workload]]
block = "4 MiB"
transfer = "512 KiB"
"""

HEAD = "import headrace\n\n\n"

FIFO = """class Mine(headrace.Scheduler):
    def __init__(self, depth=4):
        self.depth = depth
        self.out = 0
        self.waiting = []

    def job_arrival(self, job):
        self.waiting.append(job)
        self.fill()

    def job_finish(self, job):
        self.out -= 1
        self.fill()

    def fill(self):
        while self.waiting and self.out < self.depth:
            self.out += 1
            self.dispatch(self.waiting.pop(0))
"""


def write(folder: Path, body: str, lines: str = "", name: str = "mine") -> Path:
    """A scenario beside a module with a class `Mine`."""
    (folder / f"{name}.py").write_text(HEAD + body)
    file = folder / "s.toml"
    file.write_text(SCENARIO.replace("LINES", f'python = "{name}:Mine"\n{lines}'))
    return file


def figures(result: hr.Result) -> dict[str, Any]:
    """What does not name the scheduler."""
    apart = ("scenario", "wall_seconds", "stations")
    return {key: value for key, value in result.document.items() if key not in apart}


@pytest.mark.parametrize("position", ["server", "client", "gateway", "proxy", "metadata"])
@pytest.mark.parametrize("depth", [1, 4])
def test_the_same_algorithm_gives_the_same_figures(
    tmp_path: Path, position: str, depth: int
) -> None:
    file = write(tmp_path, FIFO, f"options = {{ depth = {depth} }}")
    sets = {"scheduler.position": position}
    own = hr.run(hr.load(file, sets), trust=True)
    sets |= {"scheduler.kind": "fifo", "scheduler.depth": str(depth)}
    ours = hr.run(hr.load(SCENARIO.replace("LINES", ""), sets), trust=True)
    assert figures(own) == figures(ours)
    assert own.document["scenario"]["toml"].count("mine:Mine") == 1


def test_a_result_can_be_run_again_and_gives_the_same(tmp_path: Path) -> None:
    result = hr.run(hr.load(write(tmp_path, FIFO)), trust=True)
    result.save(tmp_path / "elsewhere.json")
    again = hr.run(hr.load(tmp_path / "elsewhere.json"), trust=True)
    assert figures(again) == figures(result)


def test_a_changed_module_is_read_again(tmp_path: Path) -> None:
    file = write(tmp_path, FIFO)
    before = hr.run(hr.load(file), trust=True).document["events"]
    write(tmp_path, FIFO.replace("depth=4", "depth=1"))
    after = hr.run(hr.load(file), trust=True)
    assert after.document["stations"] and after.document["events"] > 0
    assert figures(after) == figures(
        hr.run(hr.load(file, {"scheduler.options.depth": 1}), trust=True)
    )
    assert before > 0
    assert "mine" not in sys.modules
    assert str(tmp_path) not in sys.path


def test_a_module_of_the_path_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library, folder = tmp_path / "library", tmp_path / "scenarios"
    (library / "of_the_path").mkdir(parents=True)
    folder.mkdir()
    (library / "of_the_path" / "__init__.py").write_text("")
    (library / "of_the_path" / "queue.py").write_text(HEAD + FIFO)
    file = folder / "s.toml"
    file.write_text(SCENARIO.replace("LINES", 'python = "of_the_path.queue:Mine"'))
    with pytest.raises(hr.ScenarioError, match="there is no module 'of_the_path.queue' in"):
        hr.run(hr.load(file), trust=True)
    monkeypatch.syspath_prepend(library)
    assert hr.run(hr.load(file), trust=True).document["throughput"]


def test_messages_and_wakes_come_after_their_time(tmp_path: Path) -> None:
    body = """LOG = []


class Mine(headrace.Scheduler):
    def job_arrival(self, job):
        self.dispatch(job)
        if not LOG:
            LOG.append((self.number, self.now))
            self.send_message(1 - self.number, {"from": self.number, "job": job.size})
            self.wake_in(0.5e-3, 7)

    def message_arrival(self, sender, message):
        LOG.append((sender, self.number, message, round(self.now - LOG[0][1], 9)))
        self.send_message(self.number, None)

    def wake(self, tag):
        LOG.append((self.number, tag, round(self.now - LOG[0][1], 9)))
        with open("LOGFILE", "w") as file:
            file.write(repr(LOG[1:]))
"""
    log = tmp_path / "log"
    file = write(tmp_path, body.replace("LOGFILE", str(log)), 'message_latency = "0.3 ms"')
    body_after = file.parent / "mine.py"
    text = body_after.read_text().replace("        self.send_message(self.number, None)\n", "")
    body_after.write_text(text)
    hr.run(hr.load(file), trust=True)
    first, second = eval(log.read_text())
    sender, receiver, message, after = first
    assert (receiver, after) == (1 - sender, 0.0003)
    assert message == {"from": sender, "job": 512 * 1024 // 2}
    assert second == (sender, 7, 0.0005)


def test_the_class_knows_where_it_stands(tmp_path: Path) -> None:
    body = """class Mine(headrace.Scheduler):
    def __init__(self, say):
        assert say == ["x", {"y": 1.5}]
        assert (self.count, self.seed, self.groups) == (2, 5, ("a", "b")), self.groups
        assert 0 <= self.number < 2

    def job_arrival(self, job):
        assert job.group == "ab"[job.client // 2]
        assert (job.operation, job.server, job.workload) == ("write", self.number, 0)
        assert job.arrival == self.now
        assert "write" in repr(job)
        self.dispatch(job)
"""
    file = write(tmp_path, body, 'options = { say = ["x", { y = 1.5 }] }')
    hr.run(hr.load(file, {"run.seed": 5}), trust=True)


RAISES = "class Mine(headrace.Scheduler):\n    def job_arrival(self, job):\n        "

WRONG = [
    (RAISES + "self.dispatch(1 // 0)", r"mine.py:6: .*raised ZeroDivisionError: "),
    (RAISES + "return job.size", r"job_arrival of scheduler 0 returned 262144; expected no value"),
    (
        RAISES + "self.dispatch(job); self.dispatch(job)",
        "raised ValueError: dispatch..: the job has already been dispatched",
    ),
    (RAISES + "self.dispatch(3)", "raised TypeError: dispatch..: expected a job .* not int"),
    (RAISES + "self.dispatch(None)", "expected a job passed to job_arrival.., not NoneType"),
    (RAISES + "self.send_message(2, 1)", "send_message.. to scheduler 2: there are 2"),
    (RAISES + "self.send_message(-1, 1)", "send_message.. to scheduler -1: there are 2"),
    (RAISES + "self.wake_in(-1.0)", "wake_in..: expected seconds from 0 to 1.728e7, not -1.0"),
    (RAISES + "self.wake_in(float('nan'))", "wake_in..: expected seconds from 0 to .*, not NaN"),
    (RAISES + "self.wake_in(1e300)", "wake_in..: expected seconds from 0 to .*, not 1e300"),
    (RAISES + "self.wake_in(1.0, -1)", "wake_in.. takes a tag from 0 to 4294967295, not -1"),
    (
        "class Wordless(Exception):\n    __str__ = None\n\n\n" + RAISES + "raise Wordless",
        "raised Wordless$",
    ),
    (
        "class Mine(headrace.Scheduler):\n    async def job_arrival(self, job): ...",
        "returned <coroutine .*; expected no value",
    ),
    (
        RAISES + "self.wake_in(0)\n\n    def wake(self, tag):\n        self.wake_in(0)",
        "time stands still, .* a scheduler that wakes itself",
    ),
    (RAISES + "raise SystemExit(3)", "raised SystemExit: 3"),
    ("class Mine(headrace.Scheduler):\n    pass", "has no method job_arrival"),
    (
        "class Mine(headrace.Scheduler):\n    def job_arrival(self): pass",
        r"raised TypeError: .*takes 1 positional argument but 2 were given",
    ),
    (RAISES + "pass", "deadlock .* a scheduler in which jobs wait must dispatch one"),
]


@pytest.mark.parametrize(("body", "message"), WRONG)
def test_what_a_class_does_wrong_is_told(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(hr.RunError, match=message) as raised:
        hr.run(hr.load(write(tmp_path, body)), trust=True)
    assert "\n" not in str(raised.value)


def test_the_error_has_the_exception_as_its_cause(tmp_path: Path) -> None:
    with pytest.raises(hr.RunError) as raised:
        hr.run(hr.load(write(tmp_path, RAISES + "{}['key']")), trust=True)
    assert isinstance(raised.value.__cause__, KeyError)


NOT_MADE = [
    ("class Other(headrace.Scheduler): ...", "mine.py has no class Mine: it has Other"),
    ("class Mine: ...", "Mine is no subclass of headrace.Scheduler"),
    ("class Mine(headrace.Scheduler)", r"mine.py:4: SyntaxError"),
    ("import no_such_module", r"mine.py:4: ModuleNotFoundError: No module named 'no_such_module'"),
    ("raise SystemExit(7)", "cannot be imported: .*mine.py:4: SystemExit: 7"),
    (
        "class Mine(headrace.Scheduler):\n    def __init__(self): raise SystemExit(7)",
        "cannot be created: .*mine.py:5: SystemExit: 7",
    ),
    (
        "class Mine(headrace.Scheduler):\n    def __init__(self): self.wake_in(1)",
        r"mine.py:5: RuntimeError: wake_in\(\) before the run has begun",
    ),
    (
        "class Mine(headrace.Scheduler):\n    def __new__(cls): return None",
        "TypeError: __new__ gave None, no new Mine",
    ),
    ("raise RuntimeError", "cannot be imported: .*mine.py:4: RuntimeError"),
    (
        "class Mine(headrace.Scheduler):\n    def __init__(self, depth): ...",
        r"Mine\(\) cannot be created: TypeError: .*missing 1 required positional argument: 'depth'",
    ),
]


@pytest.mark.parametrize(("body", "message"), NOT_MADE)
def test_a_class_that_cannot_be_made_is_an_error_of_the_scenario(
    tmp_path: Path, body: str, message: str
) -> None:
    with pytest.raises(hr.ScenarioError, match=message) as raised:
        hr.run(hr.load(write(tmp_path, body)), trust=True)
    assert raised.value.line == 14
    assert str(raised.value).startswith(f"{tmp_path}/s.toml:14:10: scheduler.python = ")


def test_the_command_tells_it_in_one_line(tmp_path: Path) -> None:
    def command(body: str) -> tuple[int, str]:
        file = write(tmp_path, body)
        trusted = ["--trust", str(tmp_path / "mine.py")]
        command = [sys.executable, "-m", "headrace", "run", str(file), *trusted]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    status, said = command(RAISES + "self.dispatch(1 // 0)")
    assert status == 1
    assert said.count("\n") == 1
    assert said.startswith(f"{tmp_path}/mine.py:6: Mine.job_arrival of scheduler ")
    status, said = command("class Other: ...")
    assert (status, said.count("\n")) == (2, 1)
    assert "Traceback" not in said


def test_a_class_without_init_takes_no_options(tmp_path: Path) -> None:
    file = write(tmp_path, RAISES + "self.dispatch(job)", "options = { depth = 4 }")
    with pytest.raises(
        hr.ScenarioError, match="Mine has no __init__ and takes no options, but got depth=4"
    ):
        hr.run(hr.load(file), trust=True)


@pytest.mark.parametrize(
    ("number", "status", "says"),
    [(signal.SIGINT, 130, "interrupted\n"), (signal.SIGTERM, 143, "ended by SIGTERM\n")],
)
@pytest.mark.parametrize("does", ["while True: pass", "time.sleep(0.02); self.dispatch(job)"])
def test_a_signal_ends_a_run_whatever_a_method_does(
    tmp_path: Path, does: str, number: signal.Signals, status: int, says: str
) -> None:
    begun = tmp_path / "begun"
    body = f"import time\n\n\n{RAISES}open({str(begun)!r}, 'w').close()\n        {does}"
    file = write(tmp_path, body)
    trusted = ["--trust", str(tmp_path / "mine.py")]
    command = [sys.executable, "-m", "headrace", "run", str(file), *trusted]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while not begun.exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (status, says)


def test_a_drawing_needs_no_class(tmp_path: Path) -> None:
    text = SCENARIO.replace("LINES", 'python = "not.there:Yet"')
    assert hr.load(text).structure()


def test_another_scheduler_s_job_is_not_dispatched(tmp_path: Path) -> None:
    body = """JOBS = []


class Mine(headrace.Scheduler):
    def job_arrival(self, job):
        JOBS.append(job)
        self.dispatch(JOBS[0] if self.number else job)
"""
    with pytest.raises(hr.RunError, match="the job belongs to another scheduler|already"):
        hr.run(hr.load(write(tmp_path, body)), trust=True)
