"""The queue of jobs, without a server."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest
import typer

from headrace.cli.app import app
from headrace.cli.serve import command_forms
from headrace.web.access.paths import PathPolicy
from headrace.web.access.permissions import NotAllowed
from headrace.web.access.users import User
from headrace.web.jobs import (
    CommandForm,
    Job,
    JobQueue,
    JobRequest,
    JobState,
    RefusedRequest,
    UnwritableJob,
    runner,
)
from headrace.web.jobs import queue as queue_module
from headrace.web.jobs.command_line import arguments
from headrace.web.jobs.commands import RUNNABLE, WITHHELD, runnable
from headrace.web.jobs.directory import End, JobDirectory, Order, ProgressReader
from headrace.web.jobs.endings import ending
from headrace.web.jobs.scheduling import fits, in_turn
from headrace.web.settings import Limits, Settings
from web_scenarios import SHORT, UNENDING

ANN, BOB, OPERATOR = User("ann"), User("bob"), User("olga", operator=True)


@cache
def forms() -> Mapping[tuple[str, ...], CommandForm]:
    return {it.command: it for it in command_forms(typer.main.get_command(app))}


@contextmanager
def a_queue(directory: Path, **settings: Any) -> Iterator[JobQueue]:
    known = Settings(data=directory, directories=(directory / "work",), **settings)
    (directory / "work").mkdir(exist_ok=True)
    queue = JobQueue(known, forms(), PathPolicy(known).for_job)
    try:
        yield queue
    finally:
        for job in queue.jobs([JobState.RUNNING, JobState.WAITING]):
            queue.cancel(job.id)
        until(lambda: not queue.jobs([JobState.RUNNING]))
        queue.close()


def until(condition: Callable[[], object], seconds: float = 120) -> None:
    due = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < due, "it did not come"
        time.sleep(0.05)


def simulation(text: str = UNENDING, **options: Any) -> JobRequest:
    return JobRequest(("run",), {"file": "input:a.toml"}, {"a.toml": text}, **options)


def measurement(directory: Path) -> JobRequest:
    values = {"directory": str(directory / "work"), "files": 20, "repeats": 1, "processes": "1"}
    return JobRequest(("bench", "meta"), values)


def job(owner: str, created: float, **more: Any) -> Job:
    return Job(f"{owner}{created:g}", owner, simulation(), created, **more)


def begins(queue: JobQueue, identifier: str) -> None:
    """Wait until the command of a job reports its progress."""
    until(lambda: next(queue.directory(identifier).progress(), None) is not None)


@pytest.fixture(autouse=True)
def a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_STORE", str(tmp_path / "store"))


def test_users_take_turns() -> None:
    waiting = [job("ann", 1), job("ann", 2), job("ann", 3), job("bob", 4), job("cid", 5)]
    assert [it.id for it in in_turn(waiting)] == ["ann1", "bob4", "cid5", "ann2", "ann3"]
    running = job("ann", 0, state=JobState.RUNNING, started=10.0)
    assert [it.id for it in in_turn([running, *waiting])][:3] == ["bob4", "cid5", "ann1"]
    served = job("bob", 0, state=JobState.DONE, started=20.0)
    other = job("cid", 0, state=JobState.DONE, started=5.0)
    assert [it.id for it in in_turn([served, other, *waiting])][:3] == ["ann1", "cid5", "bob4"]


def test_a_measurement_runs_alone() -> None:
    simulated, measured = job("ann", 1), job("ann", 2, measures=True)
    assert fits(measured, [], 4) and fits(simulated, [simulated], 4)
    assert not fits(measured, [simulated], 4) and not fits(simulated, [measured], 4)
    assert not fits(simulated, [simulated, simulated], 2)


@pytest.mark.parametrize(
    ("end", "log", "cancelled", "state", "message"),
    [
        ({"status": 0}, "", False, JobState.DONE, ""),
        ({"status": 130, "reason": "cancelled"}, "interrupted", True, JobState.CANCELLED, ""),
        ({"status": 0, "reason": ""}, "", True, JobState.DONE, ""),
        ({"status": 130, "reason": "time"}, "", False, JobState.FAILED, "time limit of 60 s"),
        ({"status": 0, "reason": "time"}, "", False, JobState.FAILED, "time limit of 60 s"),
        ({"status": 1}, "x\nout of memory\n", False, JobState.FAILED, "a job may have 2 GiB"),
        ({"status": -6}, "memory allocation of 9 bytes failed", False, JobState.FAILED, "2 GiB"),
        ({"status": -9}, "", False, JobState.FAILED, "SIGKILL"),
        ({"status": 2}, "note\na.toml:1: wrong", False, JobState.FAILED, "a.toml:1: wrong"),
        ({"status": 2}, "", False, JobState.FAILED, "status 2"),
        ({"status": -33}, "", False, JobState.FAILED, "signal 33"),
        ({"status": 127, "error": "no such file"}, "", False, JobState.FAILED, "no such file"),
    ],
)
def test_the_end_in_words(
    end: dict[str, Any], log: str, cancelled: bool, state: JobState, message: str
) -> None:
    order = Order(("true",), memory=2 << 30, seconds=60.0)
    found, said = ending(End(ended=1.0, **end), order, log, cancelled)
    assert found is state and message in said


def test_a_job_runs_and_its_result_is_found(tmp_path: Path) -> None:
    with a_queue(tmp_path) as queue:
        made = queue.submit(simulation(SHORT), "ann")
        until(lambda: made.state.ended and made.result)
        assert made.state is JobState.DONE, queue.directory(made.id).log()
        from headrace import store

        labels = store.open().shown(str(made.result)).labels
        assert labels == {"job": made.id, "owner": "ann"}
        assert queue.directory(made.id).document()["scenario"]["name"] == "short"


def test_an_end_is_seen_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_module, "POLL_S", 3600.0)
    with a_queue(tmp_path) as queue:
        job = queue.submit(simulation(SHORT), "ann")
        until(lambda: job.state.ended and job.result)


def spare() -> int:
    """Return the process that waits for the next job."""
    until(waiting_runners)
    return waiting_runners()[0]


def waiting_runners() -> list[int]:
    children = [one for one in psutil.Process().children() if runner.process_start(one.pid)]
    return [one.pid for one in children if runner.__file__ in one.cmdline()]


def runner_of(queue: JobQueue, job: Job) -> int:
    """Return the process that ran a job."""
    names = json.loads((queue.directory(job.id).path / "process.json").read_text())
    return int(names["runner"]["pid"])


def test_a_process_that_waited_runs_one_job_only(tmp_path: Path) -> None:
    with a_queue(tmp_path) as queue:
        for _ in range(2):
            process, job = spare(), queue.submit(simulation(SHORT), "ann")
            while not job.state.ended:
                time.sleep(0.05)
            assert job.state is JobState.DONE and runner_of(queue, job) == process
            while runner.process_start(process):
                time.sleep(0.05)


def test_a_job_runs_though_the_process_that_waited_is_dead(tmp_path: Path) -> None:
    with a_queue(tmp_path) as queue:
        process = spare()
        os.kill(process, signal.SIGKILL)
        job = queue.submit(simulation(SHORT), "ann")
        until(lambda: job.state.ended)
        assert job.state is JobState.DONE and runner_of(queue, job) != process


def test_no_process_waits_after_the_end_of_the_queue(tmp_path: Path) -> None:
    with a_queue(tmp_path):
        process = spare()
    assert runner.process_start(process) is None


def test_a_process_that_waits_has_one_thread() -> None:
    """One with several can neither be forked safely nor be confined."""
    code = f"""
import importlib, os
for module in {runner.IMPORTS}:
    importlib.import_module(module)
print(len(os.listdir("/proc/self/task")))
"""
    environment = os.environ | runner.VARIABLES
    ended = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    assert ended.stdout == b"1\n", ended.stderr


def test_all_commands_take_their_required_parameters(tmp_path: Path) -> None:
    """No required parameter is withheld, and results of all commands are labelled."""
    for entry in RUNNABLE:
        form = forms()[entry.command]
        given = {it.name: "1" for it in form.fields if it.required}
        made = arguments(
            JobRequest(entry.command, given), entry, form, "j", "o", lambda text, _: text
        )
        names = {it.name for it in form.fields}
        assert ("--label=job=j" in made) == bool(names & {"label", "labels"})
        assert not {it.name for it in form.fields if it.required} & WITHHELD


@pytest.mark.parametrize(
    ("command", "values"),
    [
        (("bench", "quick"), {"paths": ["/etc/fstab", "/"]}),
        (("bench", "quick"), {"paths": ["input:a.fio", "/root"]}),
        (("bench", "mix"), {"directory": "{work}", "workload": "/etc/passwd"}),
        (("bench", "mix"), {"directory": "{work}", "workload": "../order.json"}),
        (("bench", "mix"), {"directory": "{work}/../.."}),
        (("design", "solve"), {"file": "input:a.toml", "catalogue": "/etc/passwd"}),
        (("run",), {"file": "/etc/passwd"}),
        (("run",), {"file": "input:../a.toml"}),
        (("run",), {"file": "job:../../x"}),
    ],
)
def test_paths_elsewhere_are_refused(
    tmp_path: Path, command: tuple[str, ...], values: dict[str, Any]
) -> None:
    def filled(value: Any) -> Any:
        return value.replace("{work}", str(tmp_path / "work")) if isinstance(value, str) else value

    with a_queue(tmp_path) as queue:
        request = JobRequest(command, {key: filled(it) for key, it in values.items()})
        with pytest.raises(RefusedRequest):
            queue.submit(request, "ann")
        assert queue.jobs() == [] and list((tmp_path / "jobs").iterdir()) == []


@pytest.mark.parametrize("name", ["../a", "job.json", "log.txt", ".hidden", "a/b", "", "x\0y"])
def test_names_of_inputs_are_plain(tmp_path: Path, name: str) -> None:
    with a_queue(tmp_path) as queue, pytest.raises(RefusedRequest):
        queue.submit(JobRequest(("run",), {"file": f"input:{name}"}, {name: ""}), "ann")


def test_an_input_is_no_module_of_python(tmp_path: Path) -> None:
    code = f"open({str(tmp_path / 'ran')!r}, 'w')"
    request = simulation(SHORT)
    inputs = {**request.inputs, "json.py": code, "typer.py": code, "headrace.py": code}
    with a_queue(tmp_path) as queue:
        made = queue.submit(msgspec.structs.replace(request, inputs=inputs), "ann")
        until(lambda: made.state.ended)
        assert made.state is JobState.DONE, queue.directory(made.id).log()
    assert not (tmp_path / "ran").exists()


def test_twenty_jobs_end_in_turns(tmp_path: Path) -> None:
    with a_queue(tmp_path, cores=2) as queue:
        made = [queue.submit(simulation(), ("ann", "bob")[number % 2]) for number in range(20)]
        assert [it.state for it in made].count(JobState.RUNNING) == 2
        assert queue.place(made[2].id) == 1 and queue.place(made[19].id) == 18
        assert queue.place(made[0].id) is None
        for it in made:
            queue.cancel(it.id, User(it.owner))
        until(lambda: all(it.state is JobState.CANCELLED for it in made))
        # Some were interrupted while Python started.
        logs = [queue.directory(it.id).log() for it in made]
        assert not [it for it in logs if "Traceback" in it]


def test_only_the_owner_and_operators_cancel_and_remove(tmp_path: Path) -> None:
    with a_queue(tmp_path) as queue:
        first, second = queue.submit(simulation(), "ann"), queue.submit(simulation(), "ann")
        for it in (first, second):
            with pytest.raises(NotAllowed):
                queue.cancel(it.id, BOB)
        with pytest.raises(RefusedRequest):
            queue.remove(second.id, ANN)
        queue.cancel(second.id, ANN)
        assert second.state is JobState.CANCELLED
        begins(queue, first.id)
        queue.cancel(first.id, OPERATOR)
        until(lambda: first.state.ended)
        assert first.state is JobState.CANCELLED and first.status == 130
        with pytest.raises(NotAllowed):
            queue.remove(first.id, BOB)
        queue.remove(first.id, ANN)
        queue.remove(second.id, OPERATOR)
        assert queue.jobs() == [] and list((tmp_path / "jobs").iterdir()) == []


def test_a_job_that_reaches_its_time_limit_fails(tmp_path: Path) -> None:
    with a_queue(tmp_path, limits=Limits(seconds=0.5)) as queue:
        made = queue.submit(simulation(), "ann")
        until(lambda: made.state.ended)
        assert made.state is JobState.FAILED and "time limit" in made.message


@pytest.fixture
def own_signals() -> Iterator[None]:
    """A runner within this process ignores Ctrl-C, and so would all programs of later tests."""
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    yield
    for one, handler in before.items():
        signal.signal(one, handler)


@pytest.mark.usefixtures("own_signals")
def test_memory_is_limited(tmp_path: Path) -> None:
    order = {
        "command": [sys.executable, "-c", "bytearray(4 << 30)"],
        "memory": 1 << 30,
        "seconds": 60.0,
    }
    (tmp_path / "order.json").write_text(json.dumps(order))
    assert runner.main(tmp_path) == 0
    directory = JobDirectory(tmp_path)
    end = directory.end()
    assert end is not None
    state, message = ending(end, directory.order(), directory.log(), False)
    assert state is JobState.FAILED and "out of memory: a job may have 1 GiB" in message


@pytest.mark.usefixtures("own_signals")
def test_a_command_is_never_run_twice(tmp_path: Path) -> None:
    order = {
        "command": [sys.executable, "-c", "print(1)"],
        "memory": 8 << 30,
        "seconds": 60.0,
    }
    (tmp_path / "order.json").write_text(json.dumps(order))
    runner.main(tmp_path)
    before = (tmp_path / "end.json").stat().st_mtime_ns
    runner.main(tmp_path)
    assert (tmp_path / "end.json").stat().st_mtime_ns == before


def test_a_job_whose_runner_is_killed_is_lost_and_its_command_ends(tmp_path: Path) -> None:
    with a_queue(tmp_path) as queue:
        made = queue.submit(simulation(), "ann")
        begins(queue, made.id)
        names = json.loads((queue.directory(made.id).path / "process.json").read_text())
        os.kill(names["runner"]["pid"], signal.SIGKILL)
        until(lambda: made.state.ended)
        assert made.state is JobState.LOST and "killed" in made.message
        assert runner.process_start(names["command"]["pid"]) is None
        # What the command left stays.
        assert next(queue.directory(made.id).progress(), None) is not None


def test_jobs_are_found_again_in_their_order(tmp_path: Path) -> None:
    with a_queue(tmp_path) as queue:
        first = queue.submit(simulation(), "ann")
        rest = [queue.submit(simulation(title=str(number)), "ann") for number in range(5)]
        begins(queue, first.id)
        # As if the server were gone: the jobs stay.
        queue.close()
        known = Settings(data=tmp_path)
        again = JobQueue(known, forms(), PathPolicy(known).for_job)
        try:
            states = {it.id: it.state for it in again.jobs()}
            assert states.pop(first.id) is JobState.RUNNING
            assert set(states.values()) == {JobState.WAITING}
            assert [again.place(it.id) for it in rest] == [1, 2, 3, 4, 5]
            for it in again.jobs():
                again.cancel(it.id)
            until(lambda: all(it.state is JobState.CANCELLED for it in again.jobs()))
        finally:
            again.close()
        for it in (first, *rest):
            it.state = JobState.CANCELLED
        queue._held = os.open(os.devnull, os.O_RDONLY)


def test_a_data_directory_has_one_server(tmp_path: Path) -> None:
    with a_queue(tmp_path) as queue:
        assert queue.jobs() == []
        with pytest.raises(ValueError, match="another headrace serve"):
            JobQueue(Settings(data=tmp_path), forms(), PathPolicy(Settings(data=tmp_path)).for_job)


def test_damaged_jobs_are_skipped_and_named(tmp_path: Path) -> None:
    jobs = tmp_path / "jobs"
    for name, text in {"empty": "", "text": "{", "other": '{"id": 1}'}.items():
        (jobs / name).mkdir(parents=True)
        (jobs / name / "job.json").write_text(text)
    (jobs / "without").mkdir()
    (jobs / "a file").write_text("")
    copied = job("ann", 1.0, state=JobState.DONE)
    (jobs / "copy").mkdir()
    JobDirectory(jobs / "copy").save(copied)
    (jobs / ".removed-x").mkdir()
    with a_queue(tmp_path) as queue:
        assert queue.jobs() == []
        names = {it.name for it in queue.damaged}
        assert names == {"empty", "text", "other", "without", "a file", "copy"}
        made = queue.submit(simulation(SHORT), "ann")
        until(lambda: made.state.ended)
    assert not (jobs / ".removed-x").exists()


DAMAGED = {
    "end-empty": {"end.json": "{}"},
    "end-types": {"end.json": '{"status": "x", "ended": "y", "reason": 5}'},
    "end-time": {"end.json": '{"status": 0, "ended": 1e300}'},
    "end-deep": {"end.json": "[" * 200_000},
    "process-empty": {"process.json": "{}"},
    "process-null": {"process.json": json.dumps({"boot": runner.boot(), "runner": None})},
}


def test_damaged_files_of_running_jobs_end_these_jobs_only(tmp_path: Path) -> None:
    for number, (name, files) in enumerate(DAMAGED.items()):
        path = tmp_path / "jobs" / name
        path.mkdir(parents=True)
        running = Job(name, "ann", simulation(), 1.0, state=JobState.RUNNING, started=float(number))
        JobDirectory(path).save(running)
        names = {"boot": "an earlier one", "runner": {"pid": 1, "start": "1"}}
        for file, text in ({"process.json": json.dumps(names)} | files).items():
            (path / file).write_text(text)
    late = tmp_path / "jobs" / "late"
    late.mkdir()
    JobDirectory(late).save(Job("late", "ann", simulation(), 1e300, state=JobState.DONE))
    with a_queue(tmp_path) as queue:
        assert [it.name for it in queue.damaged] == ["late"]
        for name in DAMAGED:
            found = queue.job(name)
            assert found is not None
            until(lambda found=found: found.state is JobState.LOST)  # type: ignore[misc]
        made = queue.submit(simulation(SHORT), "ann")
        until(lambda: made.state is JobState.DONE)


def test_a_failure_does_not_end_the_queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = []

    def fail(_queue: JobQueue) -> None:
        failures.append(1)
        raise OSError("no memory")

    with a_queue(tmp_path) as queue:
        with monkeypatch.context() as patched:
            patched.setattr(JobQueue, "_look_at_all", fail)
            until(lambda: len(failures) > 1)
        made = queue.submit(simulation(SHORT), "ann")
        until(lambda: made.state is JobState.DONE)


def test_a_record_that_cannot_be_written_is_logged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failures = []

    def fail(_directory: JobDirectory, _job: Job) -> None:
        failures.append(1)
        raise OSError(errno.ENOSPC, "No space left on device")

    with a_queue(tmp_path) as queue:
        made = queue.submit(simulation(), "ann")
        begins(queue, made.id)
        with monkeypatch.context() as patched:
            patched.setattr(JobDirectory, "save", fail)
            queue.cancel(made.id)
            until(lambda: len(failures) > 4)
        until(lambda: made.state.ended)
        until(lambda: queue.directory(made.id).load() == made)
    assert sum("cannot write the record" in it.getMessage() for it in caplog.records) == 1


def test_a_job_that_cannot_be_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_directory: JobDirectory, _job: Job) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with a_queue(tmp_path) as queue:
        monkeypatch.setattr(JobDirectory, "save", fail)
        with pytest.raises(UnwritableJob, match="No space left on device"):
            queue.submit(simulation(), "ann")
        assert queue.jobs() == [] and not list((tmp_path / "jobs").iterdir())


def test_documents_and_files_that_cannot_be_read_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "document.json").write_text("[" * 200_000)
    os.mkfifo(tmp_path / "pipe")
    directory = JobDirectory(tmp_path)
    assert directory.document() is None
    assert [it.name for it in directory.files()] == ["document.json"]


def test_a_directory_that_disappears_ends_no_other_job(tmp_path: Path) -> None:
    with a_queue(tmp_path, cores=2) as queue:
        first, second = queue.submit(simulation(), "ann"), queue.submit(simulation(SHORT), "ann")
        begins(queue, first.id)
        names = json.loads((queue.directory(first.id).path / "process.json").read_text())
        os.kill(names["runner"]["pid"], signal.SIGKILL)
        os.kill(names["command"]["pid"], signal.SIGKILL)
        subprocess.run(["rm", "-r", queue.directory(first.id).path], check=True)
        until(lambda: first.state.ended and second.state.ended)
        assert first.state is JobState.LOST and second.state is JobState.DONE


def test_the_oldest_ended_jobs_are_removed(tmp_path: Path) -> None:
    with a_queue(tmp_path, limits=Limits(ended=2)) as queue:
        for _ in range(4):
            made = queue.submit(simulation("x = 1"), "ann")
            until(lambda made=made: made.state.ended)  # type: ignore[misc]
        until(lambda: len(queue.jobs()) == 2)
        assert made in queue.jobs()
        assert len(list((tmp_path / "jobs").iterdir())) == 2


def test_a_user_has_a_limit_of_waiting_jobs(tmp_path: Path) -> None:
    with a_queue(tmp_path, limits=Limits(waiting=2)) as queue:
        for _ in range(3):
            queue.submit(simulation(), "ann")
        with pytest.raises(RefusedRequest, match="ann has 2 waiting jobs"):
            queue.submit(simulation(), "ann")
        queue.submit(simulation(), "bob")


def test_titles_are_one_line(tmp_path: Path) -> None:
    with a_queue(tmp_path) as queue:
        for title in ("x" * 201, "a\nb"):
            with pytest.raises(RefusedRequest, match="title"):
                queue.submit(simulation(title=title), "ann")


def test_a_program_of_the_user_needs_the_operator(tmp_path: Path) -> None:
    entry = runnable(("profile", "record"))
    assert entry is not None and entry.runs_program({"command": ["true"]})
    assert not entry.runs_program({"seconds": 2})
    with a_queue(tmp_path) as queue, pytest.raises(RefusedRequest, match="--allow-programs"):
        queue.submit(JobRequest(("profile", "record"), {"command": ["true"]}), "ann")


def test_progress_is_read_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "progress.jsonl"
    reader = ProgressReader(path)
    assert reader.read() == []
    path.write_text('{"time":1}\nno json\n{"time":2}\n{"time"')
    assert [(number, it.time) for number, it in reader.read()] == [(0, 1.0), (2, 2.0)]
    assert reader.read() == []
    with path.open("a") as file:
        file.write(':3}\n{"time":4,"unknown":1}\n')
    assert [(number, it.time) for number, it in reader.read()] == [(3, 3.0), (4, 4.0)]


@pytest.mark.parametrize(
    "name",
    ["../x", "/etc/passwd", "order.json", "process.json", "job.json", "link", "a/../job.json"],
)
def test_only_files_of_the_job_are_given(tmp_path: Path, name: str) -> None:
    directory = JobDirectory(tmp_path / "job")
    directory.path.mkdir()
    (tmp_path / "x").write_text("secret")
    for own in ("order.json", "process.json", "job.json", "log.txt"):
        (directory.path / own).write_text("{}")
    (directory.path / "link").symlink_to("/etc/passwd")
    (directory.path / "sweep").mkdir()
    (directory.path / "sweep" / "points.csv").write_text("1")
    assert [it.name for it in directory.files()] == ["log.txt", "sweep/points.csv"]
    assert directory.download("sweep/points.csv").read_text() == "1"
    with pytest.raises(RefusedRequest):
        directory.download(name)


def test_a_runner_that_begins_during_a_look_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def typed(directory: JobDirectory, name: str, _kind: object) -> None:
        (directory.path / name).write_text("{}")

    monkeypatch.setattr(JobDirectory, "_typed", typed)
    assert not JobDirectory(tmp_path).processes().begun
