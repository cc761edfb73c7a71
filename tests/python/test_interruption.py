"""Ctrl-C at the moment at which something has been made and nobody has it yet."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from headrace import interruption, measure
from headrace.measure import benchmark, hosts, workload
from headrace.measure.benchmark import Live
from headrace.measure.repetitions import repeat
from web_scenarios import UNENDING

WORK = '[[workload]]\nblock = "64 KiB"\ntransfer = "64 KiB"\nphases = ["write"]\n'


def test_what_comes_meanwhile_comes_afterwards() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), interruption.defer_signals():
        signal.raise_signal(signal.SIGINT)
        done.append("all")
    assert done == ["all"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("load_sweep", [False, True])
def test_no_directory_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, load_sweep: bool
) -> None:
    work = workload.load(WORK)
    made = []

    def interrupted(below: Path) -> object:
        made.append(hosts_new_directory(below))
        signal.raise_signal(signal.SIGINT)
        return made[0]

    hosts_new_directory = hosts.new_directory
    monkeypatch.setattr(hosts, "new_directory", interrupted)
    monkeypatch.setattr("headrace.measure.sweep_runner.new_directory", interrupted)
    with pytest.raises(KeyboardInterrupt):
        if load_sweep:
            measure.load_sweep(lambda _rate: work, tmp_path, rates=[100.0])
        else:
            benchmark.measure(work, tmp_path)
    assert len(made) == 1
    assert list(tmp_path.iterdir()) == []


def too_late(live: Live) -> None:
    """Ctrl-C when all is measured."""
    if live.removing and live.removed == 0:
        signal.raise_signal(signal.SIGINT)


def test_what_comes_too_late_for_one_measurement_ends_what_has_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = workload.load(WORK)
    one = benchmark.measure(work, tmp_path, progress=too_late)
    assert not one.partial and one.stop_signal == signal.SIGINT
    assert benchmark.measure(work, tmp_path).stop_signal is None
    several = repeat(work, tmp_path, 3, progress=too_late).document
    assert several["stop"]["reason"] == "interrupted" and len(several["repetitions"]) == 1
    measured = benchmark.measure
    monkeypatch.setattr(
        benchmark, "measure", lambda *given, **more: measured(*given, **more, progress=too_late)
    )
    with pytest.raises(KeyboardInterrupt):
        benchmark.measure_strict(WORK, tmp_path)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("rates", "reason"), [([100.0, 200.0], "interrupted"), ([100.0], "done")])
def test_what_comes_too_late_for_a_step_ends_the_ladder(
    rates: list[float], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*given: Any, **more: Any) -> measure.Measurement:
        measured = benchmark.measure_in(*given, **more)
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return measured

    monkeypatch.setattr("headrace.measure.sweep_runner.measure_in", late)
    load_sweep = measure.load_sweep(mix(tmp_path).at, below(tmp_path), rates=rates)
    assert load_sweep.document["stop"] == {"reason": reason}
    assert [it["name"] for it in load_sweep.document["steps"]] == ["100/s"]
    assert not load_sweep.document["steps"][0].get("partial")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("when", ["preparing", "between"])
def test_every_signal_to_end_leaves_what_a_ladder_has(
    number: signal.Signals, when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def end(came: int, _frame: object) -> None:
        raise interruption.EndedBySignal(came)

    before = signal.getsignal(number)
    if number != signal.SIGINT:
        signal.signal(number, end)
    steps = 0

    def second(*given: Any, **more: Any) -> measure.Measurement:
        nonlocal steps
        steps += 1
        if when == "preparing" and steps == 2:
            signal.raise_signal(number)
        return benchmark.measure_in(*given, **more)

    def saved(_: measure.LoadSweep) -> None:
        if when == "between":
            signal.raise_signal(number)

    monkeypatch.setattr("headrace.measure.sweep_runner.measure_in", second)
    try:
        rates = [100.0, 200.0]
        load_sweep = measure.load_sweep(
            mix(tmp_path).at, below(tmp_path), rates=rates, so_far=saved
        )
    finally:
        signal.signal(number, before)
    assert load_sweep.document["stop"] == {"reason": "interrupted"}
    assert [it["name"] for it in load_sweep.document["steps"]] == ["100/s"]
    assert list((tmp_path / "measured").iterdir()) == []


def mix(directory: Path) -> measure.MixedLoad:
    file = directory / "mix.toml"
    file.write_text(
        '[clients]\nprocesses = 2\n[[workload]]\nkind = "operation-mix"\n'
        'weights = { read = 1 }\nfiles = 5\nfile_sizes = { "4 KiB" = 1 }\n'
    )
    return measure.MixedLoad(str(file), seconds=0.1, warm_up=0.0)


def below(directory: Path) -> Path:
    made = directory / "measured"
    made.mkdir()
    return made


def test_what_comes_while_something_fails_comes_all_the_same() -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        contextlib.suppress(OSError),
        interruption.defer_signals(),
    ):
        signal.raise_signal(signal.SIGINT)
        raise OSError
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interruption_while_python_starts_leaves_no_traceback(tmp_path: Path) -> None:
    """What starts the command blocks the signal, as the server does for its jobs."""
    scenario = tmp_path / "unending.toml"
    scenario.write_text(UNENDING)
    command = [sys.executable, "-m", "headrace", "run", str(scenario)]
    for delay in (0.0, 0.05, 0.2):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        assert process.communicate()[1].startswith("interrupted")
        assert process.returncode == 130


INTERRUPT_AT = """
import os, signal, sys

class AtImport:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["INTERRUPT_AT"]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, AtImport())
"""
"""Interrupts the process when a module is first looked for."""
IMPORT_LATE = """
import sys

class AtImport:
    def find_spec(self, name, path=None, target=None):
        if name == "headrace.cli.results":
            import late

sys.meta_path.insert(0, AtImport())
"""
"""Imports a module before that of a command."""


@pytest.mark.parametrize("script", [False, True])
@pytest.mark.parametrize(
    "module", ["headrace.interruption", "headrace.cli", "threading", "headrace.cli.app", "typer"]
)
def test_an_interruption_during_an_import_leaves_no_traceback(
    tmp_path: Path, module: str, script: bool
) -> None:
    command = ["-m", "headrace"]
    if script:
        file = tmp_path / "headrace"
        file.write_text("import sys\nfrom headrace.cli import main\nsys.exit(main())\n")
        command = [str(file)]
    (tmp_path / "sitecustomize.py").write_text(INTERRUPT_AT)
    ended = subprocess.run(
        [sys.executable, *command, "--version"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path), "INTERRUPT_AT": module},
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "interrupted\n")


@pytest.mark.parametrize(
    "source",
    [
        'exec("raise KeyboardInterrupt")',
        """
class Interrupted:
    def __set_name__(self, *_):
        raise KeyboardInterrupt

class Made:
    field = Interrupted()
""",
    ],
    ids=["exec", "class"],
)
def test_an_interruption_within_a_text_or_a_class_is_one(tmp_path: Path, source: str) -> None:
    """Python itself handles these otherwise, at any import of a dataclass or a named tuple."""
    (tmp_path / "late.py").write_text(source)
    (tmp_path / "sitecustomize.py").write_text(IMPORT_LATE)
    ended = subprocess.run(
        [sys.executable, "-m", "headrace", "results", "list"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "interrupted\n")


def test_a_program_that_imports_the_package_keeps_its_handler() -> None:
    program = "import signal, headrace; print(signal.getsignal(signal.SIGINT).__name__)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.stdout == "default_int_handler\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_a_callback_is_not_lost(number: signal.Signals) -> None:
    class Finalised:
        def __del__(self) -> None:
            signal.raise_signal(number)

    def end(came: int, _frame: object) -> None:
        raise interruption.EndedBySignal(came)

    def work() -> int:
        Finalised()
        time.sleep(30)
        return 0

    before, hook = signal.getsignal(signal.SIGTERM), sys.unraisablehook
    signal.signal(signal.SIGTERM, end)
    started = time.monotonic()
    try:
        assert interruption.run_interruptible(work) == interruption.INTERRUPTED
    except interruption.EndedBySignal as error:
        assert error.status == 128 + number
    finally:
        signal.signal(signal.SIGTERM, before)
    assert time.monotonic() - started < 10
    assert sys.unraisablehook is hook
