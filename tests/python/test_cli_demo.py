"""`headrace demo` and shell completion."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from command import command
from conftest import ROOT, Command


def test_the_demo_needs_no_repository(tmp_path: Path) -> None:
    ended = command("demo", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("\nplots: ") == 2
    plots = sorted((tmp_path / "headrace-demo").rglob("*.*"))
    by_kind = {kind: [it for it in plots if it.suffix == kind] for kind in (".png", ".svg")}
    assert {kind: len(them) for kind, them in by_kind.items()} == {".png": 12, ".svg": 12}
    assert list((tmp_path / "headrace-demo").glob(".*")) == []
    shown = ended.stdout.splitlines()[-1].split()
    again = command(*shown[1:], "--no-store", cwd=tmp_path)
    assert again.returncode == 0, again.stderr


def test_all_examples_are_copied_as_files(headrace: Command, tmp_path: Path) -> None:
    packaged = ROOT / "python" / "headrace" / "demo"
    ended = headrace("demo", "--copy", tmp_path / "scenarios")
    assert ended.returncode == 0, ended.stderr
    copies = [file for file in (tmp_path / "scenarios").rglob("*") if file.is_file()]
    assert len(copies) == len(list(packaged.rglob("*.toml"))) >= 30
    for file in copies:
        assert not file.is_symlink()
        name = file.relative_to(tmp_path / "scenarios")
        assert file.read_bytes() == (packaged / name).read_bytes()


def test_the_demo_keeps_a_changed_scenario(headrace: Command, tmp_path: Path) -> None:
    changed = tmp_path / "pfssim-sfq.toml"
    changed.write_text("# mine\n")
    ended = headrace("demo", "--plot", tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"{changed}: exists and differs")
    assert changed.read_text() == "# mine\n"


def test_the_examples_of_the_repository_are_the_packaged_ones() -> None:
    demo = ROOT / "python" / "headrace" / "demo"
    for packaged in demo.rglob("*.toml"):
        assert (ROOT / "scenarios" / packaged.relative_to(demo)).resolve() == packaged


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("headrace be", ["bench"]),
        ("headrace bench m", ["mix", "mdtest", "meta"]),
        ("headrace run --plo", ["--plot"]),
    ],
)
def test_completion(typed: str, offered: list[str], tmp_path: Path) -> None:
    asked = {
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - 1),
        "_HEADRACE_COMPLETE": "complete_bash",
    }
    ended = command(env=os.environ | asked, cwd=tmp_path)
    assert sorted(ended.stdout.split()) == sorted(offered)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_shown_and_installed(shell: str, tmp_path: Path) -> None:
    # Tests may run without a shell to detect; Typer then takes its name as an argument.
    environment = os.environ | {
        "HOME": str(tmp_path),
        "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
    }

    def headrace(option: str) -> str:
        ended = subprocess.run(
            [sys.executable, "-m", "headrace", option, shell],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return ended.stdout

    assert "_HEADRACE_COMPLETE" in headrace("--show-completion")
    assert headrace("--install-completion").startswith(f"{shell} completion installed in ")
