"""Benchmarks of real file systems, by the command and from Python."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import polars as pl
import pytest

import headrace.measure as measure
from command import command, without_need
from headrace import _core
from headrace.measure import benchmark
from headrace.measure.removal import remove_directory
from headrace.measure.report import ResultWarning

WRITE_AND_READ = """
[clients]
count = 1
processes = 2
[[workload]]
block = "1 MiB"
transfer = "64 KiB"
phases = ["write", "sync", "read"]
"""
FOREVER = """
[clients]
count = 1
[[workload]]
block = "1 MiB"
transfer = "4 KiB"
phases = ["write", "read"]
repeat = "forever"
[run.stop]
time = "1 h"
"""


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return command("bench", *arguments)


@pytest.fixture
def workload(tmp_path: Path) -> Path:
    file = tmp_path / "workload.toml"
    file.write_text(WRITE_AND_READ)
    return file


def test_every_byte_is_counted_and_nothing_is_left(below: Path) -> None:
    result = measure.measure(measure.load(WRITE_AND_READ), below)
    assert not result.partial
    for operation in ("write", "read"):
        counted = result.document["operations"][operation]
        assert (counted["count"], counted["bytes"]) == (32, 2 << 20)
        of_it = result.series.filter(operation=operation)
        assert (of_it["count"].sum(), of_it["bytes"].sum()) == (32, 2 << 20)
    assert list(below.iterdir()) == []


def test_a_caller_hears_that_files_are_removed_and_cannot_lose_the_figures(below: Path) -> None:
    loaded = measure.load(WRITE_AND_READ)
    told: list[bool] = []

    def tell(live: measure.Live) -> None:
        told.append(live.removing)
        # Once, before the first file is gone.
        if live.removing and live.removed == 0:
            raise KeyboardInterrupt

    measured = measure.measure(loaded, below, progress=tell)
    assert told[-1] and not any(told[:-1])
    assert not measured.partial
    assert list(below.iterdir()) == []


def test_the_command_prints_one_document(workload: Path, below: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    done = bench("run", str(workload), str(below), "--json", "-o", str(saved))
    assert (done.returncode, without_need(done.stderr)) == (0, "")
    document = json.loads(done.stdout)
    assert document["kind"] == "measured"
    assert json.loads(saved.read_text())["operations"] == document["operations"]
    # The result carries what is needed to measure again.
    again = bench("run", str(saved), str(below), "--json")
    assert json.loads(again.stdout)["operations"]["read"]["bytes"] == 2 << 20


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_a_marked_result_and_a_clean_directory(
    number: signal.Signals, tmp_path: Path, below: Path
) -> None:
    file = tmp_path / "forever.toml"
    file.write_text(FOREVER)
    running = subprocess.Popen(
        [sys.executable, "-m", "headrace", "bench", "run", str(file), str(below), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # The tests may run where nohup has it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )
    wait_for_files(below)
    running.send_signal(number)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 128 + number
    stated, interrupted = err.splitlines()
    ended = "interrupted" if number == signal.SIGINT else f"ended by {number.name}"
    assert stated.startswith("forever: up to ") and interrupted.startswith(ended)
    assert json.loads(out)["stop"]["reason"] == "interrupted"
    assert json.loads(out)["operations"]["write"]["count"] > 0
    assert list(below.iterdir()) == []


def test_what_a_killed_benchmark_leaves_is_cleaned(tmp_path: Path, below: Path) -> None:
    file = tmp_path / "forever.toml"
    file.write_text(FOREVER)
    (below / "notes.txt").write_text("mine")
    running = subprocess.Popen(
        [sys.executable, "-m", "headrace", "bench", "run", str(file), str(below)],
        stdout=subprocess.DEVNULL,
    )
    wait_for_files(below)
    in_use = json.loads(bench("clean", str(below), "--json").stdout)
    assert in_use["removed"] == [] and "running" in in_use["left"][0]["reason"]
    running.kill()
    running.wait()
    cleaned = bench("clean", str(below))
    assert cleaned.returncode == 0 and "removed" in cleaned.stdout
    assert [path.name for path in below.iterdir()] == ["notes.txt"]


def test_cleaning_fails_where_what_is_left_is_nobodys_any_more(below: Path) -> None:
    (below / "headrace-bench-unmarked").mkdir()
    in_use = _core.BenchmarkDirectory(below)
    done = bench("clean", str(below))
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.count("left ") == 2
    with_more = Path(in_use.path)
    (with_more / "theirs.txt").write_text("theirs")
    del in_use
    done = bench("clean", str(below), "--json")
    assert done.returncode == 1 and len(json.loads(done.stdout)["left"]) == 2
    assert len(done.stderr.splitlines()) == 1 and str(with_more) in done.stderr
    assert "unmarked" not in done.stderr
    assert (with_more / "theirs.txt").read_text() == "theirs"


def wait_for_files(below: Path) -> None:
    for _ in range(600):
        if list(below.glob("headrace-bench-*/hr-w0/hr-d0/hr-f0")):
            return
        time.sleep(0.05)
    raise AssertionError("no file was made")


def test_bad_input_is_one_clear_error(workload: Path, below: Path, tmp_path: Path) -> None:
    missing = bench("run", str(workload), str(tmp_path / "missing"))
    assert missing.returncode == 2
    assert "missing" in missing.stderr and len(missing.stderr.splitlines()) == 1
    unsuitable = bench("run", str(workload), str(below), "--set", "workload.0.io.interface=mapped")
    assert unsuitable.returncode == 2 and "io.interface" in unsuitable.stderr
    assert list(below.iterdir()) == []


def test_a_directory_without_permission_is_named(workload: Path, below: Path) -> None:
    below.chmod(0o500)
    # Root may write anywhere, unless it gives that up.
    without = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--"]
    run = [sys.executable, "-m", "headrace", "bench", "run", str(workload), str(below)]
    line = [*without, *run] if os.geteuid() == 0 else run
    done = subprocess.run(line, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "ermission" in done.stderr


def mounted(tmp_path: Path, size: str) -> Path:
    """Mount a tmpfs of `size` bytes, which the test has to unmount."""
    if os.geteuid() != 0:
        pytest.skip("mounting a tmpfs takes root")
    small = tmp_path / "small"
    small.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(small)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("no tmpfs can be mounted here")
    return small


# Files that become longer until nothing is free: how soon, nobody knows beforehand.
GROWING = """
[clients]
count = 1
[[workload]]
kind = "operation-mix"
weights = { write = 1 }
amount = "forever"
files = 2
file_sizes = { "4 KiB" = 1 }
append_share = 1.0
[run.stop]
time = "1 min"
"""


def test_a_file_system_that_is_full_ends_the_run_with_an_error(tmp_path: Path) -> None:
    small = mounted(tmp_path, "1m")
    try:
        file = tmp_path / "growing.toml"
        file.write_text(GROWING)
        done = bench("run", str(file), str(small), "--json")
        assert done.returncode == 1
        stated, problem = done.stderr.splitlines()
        assert stated.startswith("growing: up to ") and "full" in problem
        assert json.loads(done.stdout)["stop"]["reason"] == "failed"
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_file_system_that_can_only_be_read_is_a_failure(workload: Path, tmp_path: Path) -> None:
    small = mounted(tmp_path, "1m")
    try:
        subprocess.run(["mount", "-o", "remount,ro", str(small)], check=True)
        for command in (("run", str(workload), str(small)), ("blocks", str(small))):
            done = bench(*command)
            assert done.returncode == 1, done.stderr
            assert "ead-only" in done.stderr and len(done.stderr.splitlines()) == 1
        # So is a file there that is to be written.
        done = bench("run", str(workload), str(tmp_path), "-o", str(small / "result.json"))
        assert done.returncode == 1 and "ead-only" in done.stderr
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.mark.parametrize("command", ["mix", "blocks", "clean"])
def test_what_is_no_directory_for_files_is_wrong_input(command: str, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    for named in (tmp_path / "missing", file, Path("/proc")):
        if command == "clean" and named == Path("/proc"):
            continue
        done = bench(command, str(named))
        assert done.returncode == 2, done.stderr
        assert str(named) in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("calls", ["posix", "io-uring", "null"])
def test_by_whatever_calls_the_same_is_done(tmp_path: Path, calls: str) -> None:
    file = tmp_path / "load.toml"
    file.write_text(
        WRITE_AND_READ.replace('transfer = "64 KiB"', 'transfer = "64 KiB"\nio.verify = true')
    )
    result = bench("run", str(file), str(tmp_path), "--calls", calls, "--json", "--no-store")
    if calls == "io-uring" and result.returncode == 2:
        # The kernel or a sandbox does not let it be used, and the error says what else.
        assert "posix" in result.stderr
        assert len(result.stderr.splitlines()) == 1
        return
    assert result.returncode == 0, result.stderr
    operations = json.loads(result.stdout)["operations"]
    assert {name: it["count"] for name, it in operations.items()} == {
        "write": 32,
        "sync": 2,
        "read": 32,
    }


def test_calls_there_are_not_are_told(tmp_path: Path) -> None:
    file = tmp_path / "load.toml"
    file.write_text(WRITE_AND_READ)
    result = bench("run", str(file), str(tmp_path), "--calls", "uring")
    assert result.returncode == 2
    assert "io-uring" in result.stderr


def test_a_directory_that_was_moved_meanwhile_is_told(below: Path) -> None:
    loaded = measure.load(FOREVER.replace("1 h", "500 ms"))
    moved = below.parent / "moved"

    def move(live: measure.Live) -> None:
        [*found] = below.glob("headrace-bench-*")
        if found and not live.preparing and not live.removing:
            found[0].rename(moved)

    measured = measure.measure(loaded, below, progress=move)
    found = {warning["condition"] for warning in measured.document["warnings"]}
    assert "directory-gone" in found
    assert moved.exists()


def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    scenario = tmp_path / "work.toml"
    scenario.write_text(f'system = "pipe.toml"\n{WRITE_AND_READ}')
    os.mkfifo(tmp_path / "pipe.toml")
    refused = bench("run", str(scenario), str(tmp_path))
    assert refused.returncode == 2 and "not a regular file" in refused.stderr
    refused = bench("mix", str(tmp_path), "--resume", str(pipe))
    assert refused.returncode == 2 and "expected a pipe to which" in refused.stderr


def test_what_somebody_else_puts_there_stays_and_the_figures_too(
    tmp_path: Path, below: Path
) -> None:
    file = tmp_path / "forever.toml"
    file.write_text(FOREVER.replace("1 h", "2 s"))
    running = subprocess.Popen(
        [sys.executable, "-m", "headrace", "bench", "run", str(file), str(below), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for_files(below)
    [directory] = below.glob("headrace-bench-*")
    mine = directory / "hr-w0" / "thesis2026.pdf"
    mine.write_text("mine")
    out, err = running.communicate(timeout=60)
    assert (running.returncode, without_need(err)) == (0, "")
    document = json.loads(out)
    assert document["operations"]["write"]["count"] > 0
    assert "not-removed" in {warning["condition"] for warning in document["warnings"]}
    assert mine.read_text() == "mine"
    assert [path.name for path in mine.parent.iterdir()] == [mine.name]


def test_no_directory_is_not_the_current_one(workload: Path, tmp_path: Path) -> None:
    done = bench("run", str(workload), "")
    assert done.returncode == 2
    assert "expected a directory" in done.stderr and len(done.stderr.splitlines()) == 1


def test_figures_outlive_the_file_system(tmp_path: Path) -> None:
    small = mounted(tmp_path, "64m")
    try:
        file = tmp_path / "forever.toml"
        file.write_text(FOREVER.replace("1 h", "3 s"))
        running = subprocess.Popen(
            [sys.executable, "-m", "headrace", "bench", "run", str(file), str(small), "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for_files(small)
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)
    out, _ = running.communicate(timeout=60)
    assert running.returncode in (0, 1)
    assert json.loads(out)["operations"]["write"]["count"] > 0


def test_what_an_interrupted_measurement_has_left_is_noted(
    below: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def left(directory: _core.BenchmarkDirectory, **_others: object) -> ResultWarning:
        directory.remove()
        return ResultWarning("not-removed", "it is left")

    def interrupt() -> None:
        wait_for_files(below)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(benchmark, "remove_directory", left)
    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt) as raised:
        measure.measure_strict(FOREVER, below)
    interrupter.join()
    assert "it is left" in raised.value.__notes__


def test_a_second_interruption_leaves_the_rest_and_says_where(below: Path) -> None:
    loaded = measure.load(FOREVER)

    def tell(live: measure.Live) -> None:
        if live.removed > 0 or not (live.preparing or live.removing):
            raise KeyboardInterrupt

    measured = measure.measure(loaded, below, progress=tell)
    # So few files are gone before anybody is told.
    assert measured.partial
    assert list(below.iterdir()) == []

    class Slow:
        """A directory whose removal somebody is tired of waiting for."""

        path = below / "headrace-bench-1-0"

        def __init__(self, times: int) -> None:
            self.times = times

        def is_there(self) -> bool:
            return True

        def remove(self, _told: object) -> None:
            self.times -= 1
            if self.times >= 0:
                raise KeyboardInterrupt

    for times, interrupted, left in ((1, False, False), (2, False, True), (1, True, True)):
        warning = remove_directory(Slow(times), interrupted=interrupted)  # type: ignore[arg-type]
        assert (warning is not None) == left
        if warning is not None:
            assert f"headrace bench clean {below} removes it" in warning.message


def test_places_that_are_drawn_are_those_of_the_simulation(tmp_path: Path, below: Path) -> None:
    """Files are left with holes where nothing was written."""
    piece = 64 * 1024
    writes = (
        '[[workload]]\nblock = "16 MiB"\ntransfer = "64 KiB"\norder = "uniform"\nrequests = 40\n'
        'access = "file-per-process"\nphases = ["write", "sync"]\n'
    )
    file = tmp_path / "drawn.toml"
    device = '[machine.device]\nread_rate = "1 GB/s"\nwrite_rate = "1 GB/s"\n'
    clients = "[clients]\ncount = 1\nprocesses = 2\n"
    file.write_text(f'system = "ext4"\n{device}{clients}{writes * 2}')
    seeds = []
    for seed in ("1", "2"):
        seeded = ("--set", f"run.seed={seed}", "--no-store")
        requests = tmp_path / f"{seed}.parquet"
        assert command("run", str(file), "--requests", str(requests), *seeded).returncode == 0
        simulated: dict[int, set[int]] = {}
        for it in pl.read_parquet(requests).filter(operation=pl.lit("write")).to_dicts():
            simulated.setdefault(it["file"], set()).add(it["offset_bytes"] // piece)
        place = below / seed
        place.mkdir()
        done = bench("run", str(file), str(place), "--keep", *seeded)
        assert done.returncode == 0, done.stderr
        made = [it for it in place.rglob("*") if it.is_file() and it.stat().st_size > piece]
        assert sorted(map(sorted, simulated.values())) == sorted(map(_pieces_of, made))
        seeds.append(simulated)
    # Neither two workloads nor two processes nor two seeds have the same.
    drawn = [frozenset(of) for simulated in seeds for of in simulated.values()]
    assert len(set(drawn)) == len(drawn) == 8


def _pieces_of(file: Path) -> list[int]:
    """The pieces of 64 KiB of a file in which there is something."""
    found: list[int] = []
    at, piece = 0, 64 * 1024
    with file.open("rb") as opened:
        size = os.fstat(opened.fileno()).st_size
        while at < size:
            try:
                start = os.lseek(opened.fileno(), at, os.SEEK_DATA)
            except OSError:
                # There is nothing behind.
                break
            at = os.lseek(opened.fileno(), start, os.SEEK_HOLE)
            found += range(start // piece, -(-at // piece))
    return found


@pytest.mark.parametrize(
    "work",
    [
        'block = "1 MiB"\ntransfer = "64 KiB"\nphases = ["write", "read"]',
        'kind = "mdtest"\nfiles = 5',
        'kind = "operation-mix"\nweights = { stat = 1 }\namount = 20\nfiles = 5',
    ],
    ids=["ior", "mdtest", "operation-mix"],
)
def test_work_that_ends_within_the_warm_up_is_refused(
    work: str, tmp_path: Path, below: Path
) -> None:
    file = tmp_path / "short.toml"
    file.write_text(f'[clients]\ncount = 1\n[run]\nwarm_up = "60 s"\n[[workload]]\n{work}\n')
    done = bench("run", str(file), str(below), "--no-store")
    assert (done.returncode, done.stdout) == (2, "")
    assert "before statistics began; expected a shorter warm-up" in done.stderr
    assert len(without_need(done.stderr).splitlines()) == 1
    assert list(below.iterdir()) == []


def test_a_load_of_which_nothing_comes_is_refused(tmp_path: Path, below: Path) -> None:
    file = tmp_path / "mix.toml"
    file.write_text('[[workload]]\nkind = "operation-mix"\nweights = { stat = 1 }\nfiles = 5\n')
    short = ("--workload", str(file), "--time", "0.1", "--warm-up", "0", "--no-store")
    done = bench("mix", str(below), "--rates", "0.01", *short)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no request was completed in the measured time at 0.01 operations/s" in done.stderr
    assert len(without_need(done.stderr).splitlines()) == 1
    both = bench("mix", str(below), "--rates", "0.01,500", *short, "--json")
    assert both.returncode == 0
    document = json.loads(both.stdout)
    assert [step["name"] for step in document["steps"]] == ["500/s"]
    assert [it["condition"] for it in document["warnings"]][:1] == ["nothing-done"]
    assert list(below.iterdir()) == []


def test_a_precision_is_refused_and_replications_are_carried_out(
    workload: Path, below: Path
) -> None:
    one_phase = ("--set", 'workload.0.phases=["write"]')
    wanted = ("--set", "run.stop.precision=0.05")
    refused = bench("run", str(workload), str(below), *one_phase, *wanted)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert without_need(refused.stderr).startswith("run.stop.precision = 0.05: ")
    assert len(without_need(refused.stderr).splitlines()) == 1
    chosen = ("--set", "run.replications=2", "--set", "run.seed=7", "--no-store", "--json")
    document = json.loads(bench("run", str(workload), str(below), *chosen).stdout)
    assert len(document["repetitions"]) == 2 and document["seed"] == 7
    assert "replications = 2" in document["scenario"]["toml"]
    once = bench("run", str(workload), str(below), *chosen, "--repetitions", "1")
    assert "repetitions" not in json.loads(once.stdout)


def test_what_was_due_and_never_issued_is_counted(tmp_path: Path, below: Path) -> None:
    file = tmp_path / "open.toml"
    # Far more than one process does.
    file.write_text(
        '[run]\nstop = { time = "0.2 s" }\n[[workload]]\nkind = "operation-mix"\n'
        'weights = { stat = 1 }\nfiles = 5\nrate = 1e7\namount = "forever"\n'
    )
    chosen = ("run", str(file), str(below), "--no-store")
    document = json.loads(bench(*chosen, "--json").stdout)
    left, done = document["unfinished"], document["operations"]["stat"]["count"]
    assert left["count"] == left["operations"]["stat"] > 0
    assert 0 < left["mean"] <= left["max"] <= 0.2
    assert document["latency_from_intended"]["stat"]["count"] == done + left["count"]
    assert document["latency"]["stat"]["count"] == done
    assert left["count"] + done == round(0.2 * document["load"]["offered_per_second"])
    assert "were due before the end of the run and not issued" in bench(*chosen).stdout
