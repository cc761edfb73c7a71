"""Code that scenarios name is executed only if somebody trusts it."""

import os
import pty
import py_compile
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import headrace as hr
from command import command
from conftest import ROOT
from headrace.lab.benchmark import HEADRACE
from headrace.simulate.trust import list_of_trusted

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

CODE = """import headrace

open({was_run!r}, "w").close()


class Mine(headrace.Scheduler):
    def job_arrival(self, job):
        self.dispatch(job)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scenario and its scheduler, which leaves a file when it is executed; nothing is trusted."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("HEADRACE_STORE", str(tmp_path / "store"))
    made = tmp_path / "scenario"
    made.mkdir()
    (made / "s.toml").write_text(SCENARIO)
    (made / "mine.py").write_text(CODE.format(was_run=str(made / "was-run")))
    return made


def was_run(folder: Path) -> bool:
    """Whether the code was executed since this was asked last."""
    mark = folder / "was-run"
    found = mark.exists()
    mark.unlink(missing_ok=True)
    return found


def refused(folder: Path, *arguments: object, cwd: Path | None = None) -> str:
    """What a command that must not execute the code says."""
    ended = command(*arguments, cwd=cwd)
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert len(ended.stderr.splitlines()) == 1 and not was_run(folder)
    return ended.stderr


def test_no_command_executes_code_that_nobody_trusts(folder: Path, tmp_path: Path) -> None:
    file, code = folder / "s.toml", folder / "mine.py"
    for arguments in (
        ("run", file),
        ("whatif", file),
        ("net", file, "--load", "-o", tmp_path / "net.svg"),
    ):
        said = refused(folder, *arguments)
        assert f"{code} (SHA-256 " in said and f"--trust {code}" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("run",),
        ("whatif",),
        ("sweep", "--vary", "clients.count=1,2"),
        ("optimise", "--vary", "clients.count=1..2", "--maximise", "throughput", "--trials", 2),
    ],
    ids=lambda arguments: str(arguments[0]),
)
def test_where_code_is_refused_no_trust_helps(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[object, ...]
) -> None:
    """As in the jobs of a server."""
    monkeypatch.setenv("HEADRACE_CODE", "refused")
    monkeypatch.setenv("HEADRACE_TRUST", str(folder))
    name, *options = arguments
    assert "Mine is a class in Python" in refused(folder, name, folder / "s.toml", *options)


def test_a_result_that_was_imported_executes_nothing_of_the_directory(
    folder: Path, tmp_path: Path
) -> None:
    result = hr.run(hr.load(folder / "s.toml"), trust=True)
    identifier = result.keep()
    assert was_run(folder)
    text = result.document["scenario"]["toml"]
    assert f'folder = "{folder}"' in text
    refused(folder, "run", f"results:{identifier}")
    # One that names no folder takes the current directory's.
    (tmp_path / "saved.toml").write_text(text.replace(f'folder = "{folder}"\n', ""))
    shutil.copy(folder / "mine.py", tmp_path)
    refused(folder, "run", "saved.toml", cwd=tmp_path)


def test_a_file_is_asked_about_once(folder: Path) -> None:
    file, code = folder / "s.toml", folder / "mine.py"
    assert command("run", file, "--trust", code).returncode == 0 and was_run(folder)
    assert command("run", file).returncode == 0 and was_run(folder)
    (line,) = list_of_trusted().read_text().splitlines()
    assert line.endswith(f"  {code}") and len(line.split()[0]) == 64
    # It is trusted as it was.
    code.write_text(code.read_text() + "# changed\n")
    refused(folder, "run", file)
    list_of_trusted().write_text("")
    code.write_text(code.read_text().removesuffix("# changed\n"))
    refused(folder, "run", file)


def test_a_file_to_trust_that_is_not_there_is_named(folder: Path) -> None:
    assert "none.py" in refused(folder, "run", folder / "s.toml", "--trust", folder / "none.py")


def test_directories_can_be_trusted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADRACE_TRUST", f"/nowhere:{folder.parent}")
    assert command("run", folder / "s.toml").returncode == 0 and was_run(folder)
    assert not list_of_trusted().exists()
    monkeypatch.setenv("HEADRACE_TRUST", f"/nowhere:{folder}-other:")
    refused(folder, "run", folder / "s.toml")


def test_programs_trust_for_one_call(folder: Path) -> None:
    scenario = hr.load(folder / "s.toml")
    for work in (
        lambda: hr.run(scenario),
        lambda: hr.sweep(scenario, {"clients.count": [1, 2]}),
        lambda: hr.whatif(scenario, only=["servers.count"]),
    ):
        with pytest.raises(hr.ScenarioError, match=r"trust=True in Python") as raised:
            work()
        assert raised.value.line == 13 and not was_run(folder)
    result = hr.run(scenario, trust=True)
    assert was_run(folder)
    with pytest.raises(hr.ScenarioError, match="it is not trusted yet"):
        result.rerun()
    assert not was_run(folder)
    result.rerun(trust=True)
    assert not hr.sweep(scenario, {"clients.count": [1, 2]}, trust=True).failed
    assert hr.whatif(scenario, only=["servers.count"], trust=True).frame.height == 1
    assert not list_of_trusted().exists()


def test_what_a_trusted_file_imports_must_be_trusted_too(folder: Path) -> None:
    code, beside = folder / "mine.py", folder / "beside.py"
    beside.write_text(code.read_text())
    code.write_text("from beside import Mine\n")
    said = refused(folder, "run", folder / "s.toml", "--trust", code)
    assert f"{beside} (SHA-256 " in said
    # Modules of Python that were not imported yet, and are looked for in the folder first.
    (folder / "antigravity.py").write_text(beside.read_text())
    code.write_text("import antigravity\n")
    assert "antigravity.py" in refused(folder, "run", folder / "s.toml", "--trust", code)
    code.write_text("from beside import Mine\n")
    both = ("--trust", code, "--trust", beside)
    assert command("run", folder / "s.toml", *both).returncode == 0 and was_run(folder)


def test_compiled_code_beside_a_trusted_file_is_not_executed(folder: Path) -> None:
    code = folder / "mine.py"
    honest = CODE.replace('open({was_run!r}, "w").close()', "#" * 200)
    evil = code.read_text()
    # As long as the other, and as old: what a compiled file is recognised by.
    size = max(len(honest), len(evil)) + 1
    code.write_text(evil.ljust(size, "\n"))
    os.utime(code, (1e9, 1e9))
    compiled = py_compile.compile(str(code), doraise=True)
    assert compiled is not None and Path(compiled).exists()
    code.write_text(honest.ljust(size, "\n"))
    os.utime(code, (1e9, 1e9))
    assert command("run", folder / "s.toml", "--trust", code).returncode == 0
    assert not was_run(folder)


@pytest.mark.parametrize("answer", ["y", "n"])
def test_on_a_terminal_it_is_asked(folder: Path, answer: str) -> None:
    controller, terminal = pty.openpty()
    words = [sys.executable, "-m", "headrace", "run", str(folder / "s.toml"), "--no-progress"]
    asked = ""
    with subprocess.Popen(
        words, stdin=terminal, stderr=terminal, stdout=subprocess.PIPE, text=True
    ) as process:
        os.close(terminal)
        while "[y/N]" not in asked:
            try:
                asked += os.read(controller, 4096).decode()
            except OSError:
                pytest.fail(f"it ended without a question: {asked}")
        os.write(controller, f"{answer}\n".encode())
        assert process.stdout is not None
        process.stdout.read()
        status = process.wait(60)
    os.close(controller)
    flat = " ".join(asked.split())
    assert str(folder / "mine.py") in flat and "SHA-256" in flat
    assert (status, was_run(folder)) == ((0, True) if answer == "y" else (2, False))
    assert list_of_trusted().exists() == (answer == "y")


def test_papers_of_other_repositories_are_not_executed(folder: Path) -> None:
    """A script in the current directory, by the name of a paper."""
    script = folder / "papers" / "mine" / "reproduce.py"
    script.parent.mkdir(parents=True)
    script.write_text((folder / "mine.py").read_text())
    ended = command("papers", "mine", cwd=folder)
    assert ended.returncode == 2 and not was_run(folder)


def test_the_shipped_scheduler_runs_with_trust(folder: Path) -> None:
    """The example of docs/tutorials/own-scheduler.md."""
    file = ROOT / "scenarios" / "schedulers-two-groups.toml"
    own = ("--set", "scheduler.python=shortest:ShortestFirst")
    begun = time.monotonic()
    assert command("run", file, *own).returncode == 2
    code = ROOT / "scenarios" / "shortest.py"
    ended = command("run", file, *own, "--trust", code)
    assert ended.returncode == 0, f"{ended.stderr} after {time.monotonic() - begun:.0f} s"


def test_commands_that_commands_start_import_nothing_of_the_current_directory(
    folder: Path,
) -> None:
    """`headrace lab bench` runs as root, perhaps in another user's directory."""
    for name in ("typer.py", "polars.py", "platformdirs.py"):
        shutil.copy(folder / "mine.py", folder / name)
    ended = subprocess.run([*HEADRACE, "presets"], cwd=folder, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert not was_run(folder)
