"""Closed streams, full disks and Ctrl-C at any time."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import ROOT, Command, Ended

# A limit to the size of files makes writes fail as on a full disk.
LIMIT = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512)); "
RUN = "from headrace.cli import main; main()"


def shell(line: str, *arguments: object) -> Ended:
    return subprocess.run(
        ["sh", "-c", f'"$0" -m headrace "$@" {line}', sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=ROOT,
    )


@pytest.mark.parametrize("closed", [">&-", "<&-", "2>&-", ">&- 2>&- <&-"])
def test_closed_streams(closed: str, small: Path, tmp_path: Path) -> None:
    for arguments in (["run", small], ["explain", small], ["--help"], ["papers"], ["run", "-h"]):
        ended = shell(closed, *arguments)
        # What could not be printed is a failure, as on a full disk.
        status = 1 if ">&-" in closed.split() else 0
        told = "cannot write: standard output is closed\n" if closed == ">&-" else ""
        assert (ended.returncode, ended.stderr) == (status, told), arguments
    saved = tmp_path / "r.json"
    assert shell(closed, "run", small, "-o", saved).returncode == status
    assert saved.read_text().startswith("{")
    ended = shell(closed, "run", tmp_path / "none.toml")
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "SMALL", "--no-store", "--requests", "OUT"],
        ["run", "SMALL", "--no-store", "--playback", "OUT"],
        ["run", "SMALL", "--no-store", "-o", "OUT"],
        ["run", "SMALL", "--no-store", "--plot", "OUT"],
        ["net", "draw", "SMALL", "-o", "OUT"],
        ["sweep", "SMALL", "--vary", "clients.count=1,2,3", "--no-store", "-o", "OUT"],
        ["design", "init", "OUT"],
        ["trace", "synth", "OUT", "--to-format", "csv", "--segments", "100"],
    ],
)
def test_a_file_that_cannot_grow_is_told_in_one_line(
    arguments: list[str], small: Path, tmp_path: Path
) -> None:
    # SIGXFSZ is ignored by Python: the write fails.
    path = tmp_path / "out"
    named = {"SMALL": str(small), "OUT": str(path)}
    ended = subprocess.run(
        [sys.executable, "-c", LIMIT + RUN, *(named.get(it, it) for it in arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert ended.returncode in (1, 2)
    # Matplotlib may tell that it has no cache of fonts.
    (line,) = (it for it in ended.stderr.splitlines() if "font_manager" not in it)
    assert line.startswith(str(path)) and "ile too large" in line
    assert "internal error" not in ended.stderr
    assert "partial" not in ended.stderr
    assert not path.is_file()


INTERRUPTED_AT = (
    "import sys, os, signal\n"
    "class Finder:\n"
    "    def find_spec(self, name, path, target=None):\n"
    "        if name == sys.argv.at:\n"
    "            os.kill(os.getpid(), signal.SIGINT)\n"
    "class Arguments(list): at = ''\n"
    "sys.argv = Arguments(sys.argv); sys.argv.at = sys.argv.pop(1)\n"
    "sys.meta_path.insert(0, Finder())\n"
)
"""Ctrl-C at the first import of the module that is the first argument."""
PAPER = ROOT / "papers" / "pfssim" / "reproduce.py"


def test_ctrl_c_while_modules_are_imported(small: Path) -> None:
    for module in ("headrace.cli.app", "typer", "headrace._core", "polars"):
        ended = subprocess.run(
            [sys.executable, "-c", INTERRUPTED_AT + RUN, module, "run", str(small)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ended.returncode, ended.stderr) == (130, "interrupted\n"), module


def test_the_entry_module_imports_nothing_heavy() -> None:
    code = "import sys, headrace.cli; print(*sorted(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = ended.stdout.split()
    for module in ("headrace._core", "typer", "rich", "polars", "numpy"):
        assert module not in loaded


def test_papers_into_a_directory_that_cannot_be(headrace: Command) -> None:
    ended = headrace("papers", "pfssim", "--out", "/proc/x")
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "/proc" in ended.stderr


@pytest.mark.parametrize("whole_group", [True, False])
def test_ctrl_c_in_a_paper(whole_group: bool, tmp_path: Path) -> None:
    script = tmp_path / "papers" / "mine" / "reproduce.py"
    script.parent.mkdir(parents=True)
    script.write_text(
        "import os, pathlib, time\n"
        "pathlib.Path('pid.new').write_text(str(os.getpid()))\n"
        "os.rename('pid.new', 'pid')\n"
        "time.sleep(100)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "headrace", "papers", "mine"],
        cwd=tmp_path,
        env=os.environ | {"HEADRACE_TRUST": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    patience = time.monotonic() + 60
    while not (tmp_path / "pid").exists() and time.monotonic() < patience:
        time.sleep(0.02)
    if whole_group:
        os.killpg(process.pid, signal.SIGINT)
    else:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert (process.returncode, output, errors) == (130, "", "interrupted\n")


@pytest.mark.parametrize("module", ["matplotlib", "polars", "headrace._core"])
def test_ctrl_c_while_a_papers_script_imports(module: str) -> None:
    code = INTERRUPTED_AT + ("import runpy\nrunpy.run_path(sys.argv[1], run_name='__main__')\n")
    ended = subprocess.run(
        [sys.executable, "-c", code, module, str(PAPER)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "interrupted\n")


def test_ctrl_c_in_a_papers_script_run_by_itself(tmp_path: Path) -> None:
    # Its first step is where it comes.
    code = (
        "import os, signal, sys, runpy\n"
        "from headrace.report.paper import Paper\n"
        "Paper.step = lambda *_: os.kill(os.getpid(), signal.SIGINT)\n"
        "del sys.argv[0]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    command = [sys.executable, "-c", code, str(PAPER), "--out", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "interrupted\n")
