"""`headrace twin DIR -- COMMAND`: a program is captured, predicted and measured."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from command import command, without_need
from conftest import MACHINE
from headrace import RunError, ScenarioError, calibrate
from headrace.calibrate import mount
from headrace.mountinfo import Mounted
from headrace.profile.capture import METHODS
from headrace.profile.capture.overhead import (
    CallOverhead,
    Estimate,
    OverheadMeasurement,
    ProcessorCosts,
    TracerOverhead,
    estimate,
    read_lines,
    tracer_cost,
)
from headrace.profile.paced_trace import with_gaps
from headrace.trace.frames import SCHEMA
from headrace.validate.application import load_warnings, predict_run
from headrace.validate.captured_run import CapturedRun, split_run, with_processor_use
from headrace.validate.program_run import ProcessorUse, ProgramRun, ProgramRuns, evict
from traceable import modelled

US = 1000
PLACE = Path("/d/headrace-twin-x")
PYTHON = [sys.executable, "-I", "-S", "-c"]
WRITES = "import os\nfor n in range(9): open(f'{n}', 'wb').write(bytes(5000))\nos.sync()"


def overhead(gap_us: float = 0, duration_us: float = 0, process_us: float = 0) -> TracerOverhead:
    none = Estimate(0.0)
    call = CallOverhead(Estimate(gap_us / 1e6), Estimate(duration_us / 1e6), none, none, 0.0)
    return TracerOverhead(call, Estimate(process_us / 1e6), ProcessorCosts(1e-6, 1e-3), 0.0)


def lines_of(path: Path, *rows: tuple[str, int, str]) -> Path:
    """A trace of strace with a process, microseconds and the rest of each line."""
    path.write_text(
        "".join(f"{process}  1700000000.{at:06}000 {rest}\n" for process, at, rest in rows)
    )
    return path


def test_lines_are_calls_or_ends(tmp_path: Path) -> None:
    trace = lines_of(
        tmp_path / "t",
        ("7", 10, 'execve("/bin/a", [...], 0x1) = 0 <0.000100>'),
        ("8", 20, 'openat(AT_FDCWD, "x", O_RDONLY <unfinished ...>'),
        ("7", 30, "close(3</d/x>) = 0 <0.000001>"),
        ("8", 40, "<... openat resumed>) = 3 <0.000020>"),
        ("8", 50, "+++ exited with 0 +++"),
        ("7", 60, "+++ killed by SIGKILL +++"),
    )
    lines = read_lines(trace)
    assert lines.first == "7"
    assert lines.calls.rows() == [("7", 0), ("8", 10 * US), ("7", 20 * US)]
    assert lines.ends == {"8": 40 * US, "7": 50 * US}
    (tmp_path / "none").write_text("strace: no\n")
    with pytest.raises(ValueError, match="none: expected lines of strace"):
        read_lines(tmp_path / "none")


def records(*rows: tuple[int, str, str, str, int, int, str]) -> pl.DataFrame:
    """Rows of time in us, process, operation, file, size, duration in us and flags."""
    table = pl.DataFrame(
        [
            (at * US, process, operation, file, 0, size, lasts * US, flags, "")
            for at, process, operation, file, size, lasts, flags in rows
        ],
        schema=dict.fromkeys(SCHEMA),
        orient="row",
        strict=False,
    )
    return with_gaps(table.cast(SCHEMA))


ROWS = (
    (100, "7", "open", "/etc/x", 0, 10, "read"),
    (150, "7", "open", f"{PLACE}/none", 0, 10, "read|failed|missing"),
    (200, "7", "create", f"{PLACE}/out", 0, 10, "write"),
    (300, "7", "write", f"{PLACE}/out", 4096, 10, ""),
    (320, "7", "write", f"{PLACE}/out", 4096, 10, ""),
    (340, "7", "seek", f"{PLACE}/out", 0, 10, ""),
    (400, "7", "close", f"{PLACE}/out", 0, 10, ""),
    (450, "7", "close", "/etc/x", 0, 10, ""),
)


def split(tmp_path: Path, added: TracerOverhead) -> CapturedRun:
    trace = lines_of(
        tmp_path / "t",
        ("7", 0, "execve() = 0 <0.000001>"),
        *(("7", at, f"{operation}() = 0 <0.000010>") for at, _, operation, *_ in ROWS),
        ("7", 600, "+++ exited with 0 +++"),
    )
    return split_run(records(*ROWS), read_lines(trace), PLACE, added)


def test_computing_is_that_of_the_gaps_or_of_the_processors_whichever_is_surer(
    tmp_path: Path,
) -> None:
    run = split(tmp_path, overhead())
    gaps = run.computing_s + run.tail_s
    assert gaps == pytest.approx(560e-6)
    # Without any uncertainty of the tracer the gaps count.
    assert with_processor_use(run, ProcessorUse(1.0, 0), overhead()).records.equals(run.records)
    # With a large one it is the processor time: 2 ms, 100 page faults, other calls of 40 us.
    unsure = replace(run, measured_half_width_s=1e3)
    counted = with_processor_use(unsure, ProcessorUse(2e-3, 100), overhead())
    assert counted.computing_s + counted.tail_s == pytest.approx(2.14e-3, rel=1e-3)
    assert counted.measured_half_width_s == pytest.approx(1.645 * 0.01, rel=0.01)
    # Gaps of several processes contain waits for a processor; two more processes take 2 ms.
    others = pl.concat([run.records, run.records.with_columns(process=pl.lit("8"))])
    several = replace(run, records=others, programs=3)
    counted = with_processor_use(several, ProcessorUse(2e-3, 100), overhead())
    assert counted.computing_s + counted.tail_s == pytest.approx(4.14e-3, rel=1e-3)


def test_the_processors_use_under_a_tracer_is_that_of_the_program(tmp_path: Path) -> None:
    program = [*PYTHON, "x = bytes(50_000_000); [n * n for n in range(3_000_000)]"]
    plain = ProgramRuns.of_command([sys.executable, *program[1:]], tmp_path, None, False)
    run = plain.run(lambda words: ["sh", "-c", '"$@"; exit $?', "sh", *words])
    assert 0.01 < run.use.user_s < 60
    assert run.use.faults > 12_000


def test_a_program_may_remove_its_directory_or_leave_a_writer_there(tmp_path: Path) -> None:
    removes = ("sh", "-c", 'echo a > f; here=$PWD; cd /; rm -r "$here"')
    ProgramRuns.of_command(removes, tmp_path, None, False).run()
    writes = "(for n in $(seq 300); do echo x > n$n; done) > /dev/null 2>&1 &"
    ProgramRuns.of_command(("sh", "-c", writes), tmp_path, None, False).run()
    assert list(tmp_path.iterdir()) == []


def test_calls_outside_the_directory_become_gaps(tmp_path: Path) -> None:
    run = split(tmp_path, overhead())
    operations = [str(it) for it in run.records["operation"]]
    assert operations == ["create", "write", "write", "close"]
    assert [it / US for it in run.records["gap_ns"]] == [200, 90, 10, 70]
    assert run.tail_s == pytest.approx(190e-6)
    assert run.calls == len(ROWS) + 1
    assert run.measured_calls_s == pytest.approx(40e-6)
    assert run.durations_s == pytest.approx({"create": 1e-5, "write": 2e-5, "close": 1e-5})


def test_the_tracers_time_is_removed_from_the_total_where_gaps_are_short(tmp_path: Path) -> None:
    run = split(tmp_path, overhead(gap_us=15, duration_us=2))
    # Four calls and their gaps come before the first one, whose own duration is simulated.
    first = 200 - 4 * 15 - 3 * 2
    # The second write's gap of 10 us is shorter than 15 us: the rest is removed later.
    last = 70 - 2 * 15 - 2 - 5
    assert [it / US for it in run.records["gap_ns"]] == [first, 90 - 15, 0, last]
    assert run.tail_s == pytest.approx((190 - 15 - 2) * 1e-6)
    assert run.tracer_s == pytest.approx((66 + 15 + 10 + 37 + 17) * 1e-6)


def test_no_gap_is_less_than_nothing(tmp_path: Path) -> None:
    run = split(tmp_path, overhead(gap_us=1e6))
    assert run.computing_s == run.tail_s == 0


def test_messages_between_processes_stay(tmp_path: Path) -> None:
    names = list(SCHEMA["operation"].categories)  # type: ignore[attr-defined]
    if "send" not in names:
        pytest.skip("traces have no messages")
    table = records(
        (10, "7", "send", "", 0, 1, ""),
        (20, "8", "receive", "", 0, 1, ""),
        (30, "8", "create", f"{PLACE}/out", 0, 1, ""),
    )
    trace = lines_of(tmp_path / "t", ("7", 10, "clone() = 8 <0.000001>"))
    run = split_run(table, read_lines(trace), PLACE, overhead())
    assert run.records.height == 3 and not run.waits


def test_a_process_that_begins_late_does_not_compute_before(tmp_path: Path) -> None:
    table = records(
        (10, "7", "create", f"{PLACE}/a", 0, 1, ""),
        (500, "8", "create", f"{PLACE}/b", 0, 1, ""),
    )
    trace = lines_of(
        tmp_path / "t",
        ("7", 0, "execve() = 0 <0.000001>"),
        ("7", 10, "creat() = 3 <0.000001>"),
        ("8", 500, "creat() = 3 <0.000001>"),
    )
    run = split_run(table, read_lines(trace), PLACE, overhead(10, 1, 100))
    assert run.waits
    # Its own call, two calls of the other process, and the start of a process.
    assert [it / US for it in run.records["gap_ns"]] == [0, 500 - 10 - 2 * 11 - 100]


def test_a_prediction_has_calls_and_measured_time(tmp_path: Path) -> None:
    machine = tmp_path / "machine.toml"
    machine.write_text(MACHINE)
    run = split(tmp_path, overhead())
    predicted = predict_run(run, overhead(), machine, tmp_path, cold=False)
    calls = sum(
        it.count * (predicted.report.latency[name].mean or 0)
        for name, it in predicted.report.operations.items()
    )
    assert predicted.seconds == pytest.approx(calls + run.computing_s + run.tail_s, rel=1e-3)
    assert predicted.interval is not None
    least, most = predicted.interval
    assert run.computing_s < least < predicted.seconds < most
    none = run.records.clear()
    empty = CapturedRun(none, 1.0, 5, 0.0, 0.0, 0.0, 1, {})
    with pytest.raises(RunError, match="used no file in its working directory"):
        predict_run(empty, overhead(), machine, tmp_path, cold=False)


def test_estimates_have_intervals() -> None:
    assert estimate([1.0, 1.0, 1.0]) == Estimate(1.0, 0.0)
    assert estimate([1.0, 3.0]).half_width == pytest.approx(6.314 * 3**0.5, rel=1e-3)


def test_a_busy_machine_gives_a_warning() -> None:
    use = ProcessorUse(0.1, 10)
    idle, busy = (ProgramRun(1.0, PLACE, share, use) for share in (0.01, 0.5))
    assert load_warnings(idle, [idle]) == []
    assert [it.condition for it in load_warnings(busy, [busy])] == ["others-computed"] * 2


def runs(directory: Path, script: str, prepare: str | None = None) -> ProgramRuns:
    return ProgramRuns.of_command([*PYTHON, script], directory, prepare, cold=False)


def test_each_run_has_a_fresh_directory_that_is_removed(tmp_path: Path) -> None:
    script = "import os; assert os.listdir() == ['in']; open('out', 'w')"
    program = runs(tmp_path, script, "echo x > in")
    places = {program.run().directory for _ in range(2)}
    assert len(places) == 2 and all(it.parent == tmp_path for it in places)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("script", "prepare", "message"),
    [
        ("import sys; sys.exit('no input')", None, "exited with status 1: no input"),
        ("import os; os.kill(os.getpid(), 9)", None, "ended by signal SIGKILL"),
        ("", "echo bad >&2; exit 4", "--prepare echo bad >&2; exit 4: exited with status 4: bad"),
    ],
)
def test_a_program_that_fails_is_an_error(
    script: str, prepare: str | None, message: str, tmp_path: Path
) -> None:
    with pytest.raises(RunError) as error:
        runs(tmp_path, script, prepare).run()
    assert message in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_program_of_the_current_directory_runs_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, below = tmp_path / "app", tmp_path / "below"
    app.write_text("#!/bin/sh\npwd > here\n")
    app.chmod(0o755)
    below.mkdir()
    monkeypatch.chdir(tmp_path)
    program = ProgramRuns.of_command(["./app"], below, None, cold=False)
    assert program.command == (str(app),)
    assert program.run().seconds > 0
    with pytest.raises(RunError, match="no-such-program: cannot start"):
        ProgramRuns.of_command(["no-such-program"], below, None, cold=False)


def test_an_interruption_ends_the_program_and_removes_its_directory(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from headrace.validate.program_run import ProgramRuns\n"
        "command = ['sh', '-c', 'echo $$ > ../pid; sleep 1000 & wait']\n"
        "ProgramRuns.of_command(command, Path(sys.argv[1]), None, cold=False).run()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], stderr=subprocess.DEVNULL
    )
    identifier = tmp_path / "pid"
    while not (identifier.is_file() and identifier.read_text()):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) != 0
    assert list(tmp_path.iterdir()) == [identifier]
    with pytest.raises(ProcessLookupError):
        os.kill(int(identifier.read_text()), 0)


def test_eviction_passes_links_and_folders_over(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(bytes(8192))
    (tmp_path / "link").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    evict(tmp_path)
    assert (tmp_path / "folder" / "file").read_bytes() == bytes(8192)


needs_strace = pytest.mark.skipif(
    METHODS["strace"].available() is not None, reason=str(METHODS["strace"].available())
)


@needs_strace
def test_the_tracers_time_is_measured(tmp_path: Path) -> None:
    measurement = OverheadMeasurement(METHODS["strace"].wrap, tmp_path)
    measurement.measure_calls(2)
    measurement.measure_processes(2)
    measured = measurement.overhead()
    assert measured.call.total_s > 0 and measured.launch_s > 0
    assert list(tmp_path.iterdir()) == []
    assert tracer_cost(METHODS["strace"].wrap) is not None
    assert tracer_cost(lambda words, _: words) is None


@needs_strace
def test_the_command_predicts_and_measures_a_program(tmp_path: Path) -> None:
    modelled(tmp_path)
    machine, below, saved = (tmp_path / it for it in ("m.toml", "below", "twin.json"))
    machine.write_text(MACHINE)
    below.mkdir()
    done = command(
        *("twin", str(below), "--machine", str(machine), "--repetitions", "2", "-o", str(saved)),
        *("--json", "--plot", str(tmp_path / "plots"), "--prepare", "mkdir old", "--cold"),
        *("--", *PYTHON, WRITES),
    )
    assert done.returncode == 0, done.stderr
    assert without_need(done.stderr).startswith("predicted: ")
    document = json.loads(done.stdout)
    assert json.loads(saved.read_text()) == document
    (point,) = document["points"]
    assert (point["group"], len(point["measured_s"])) == ("application", 2)
    application = document["application"]
    assert application["cold"] and application["prepare"] == "mkdir old"
    calls = {it["name"]: it["calls"] for it in application["parts"]}
    assert (calls["create"], calls["write"], calls["close"]) == (9, 9, 9)
    assert application["measured_calls"] > 0
    assert (tmp_path / "plots" / "validation.png").stat().st_size > 10_000
    assert list(below.iterdir()) == []
    again = command("twin", "--again", str(saved))
    assert again.returncode == 2 and "the twin of a program" in again.stderr
    table = command(
        *("twin", str(below), "--machine", str(machine), "--repetitions", "2"),
        *("--", *PYTHON, WRITES),
    )
    assert table.returncode == 0 and "Predicted time by part" in table.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cold"], "--cold: it needs a program"),
        (["--prepare", "true"], "--prepare: it needs a program"),
        (["--trace", "--", "true"], "a program is not traced in the kernel"),
    ],
)
def test_options_of_programs_need_one(arguments: list[str], message: str, tmp_path: Path) -> None:
    refused = command("twin", str(tmp_path), *arguments)
    assert refused.returncode == 2 and message in refused.stderr


def test_a_file_system_without_a_model_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Files of btrfs have other device numbers than their mount.
    mounts = [
        Mounted("0:1", Path("/"), (), "rootfs", "none"),
        Mounted("0:2", tmp_path, ("rw",), "btrfs", "/dev/x"),
        Mounted("0:3", tmp_path / "other", (), "nfs4", "s:/x"),
    ]
    monkeypatch.setattr(mount, "mounted", lambda: iter(mounts))
    with pytest.raises(ScenarioError, match="the file system btrfs cannot be"):
        calibrate.mount_of(tmp_path)
