"""Code of the documentation runs, and its outputs are those that the pages show.

Nothing is compared that depends on the machine.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

DOCS = ROOT / "docs"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"Save this as `([^`]+)`.*?^```toml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VARYING = re.compile(r"\bin \S+ m?s\b|\N{HORIZONTAL ELLIPSIS}")
"""The time that a simulation takes, and the mark of omissions."""
FIGURE = re.compile(r"(?<![\w.,-])(?:\d+\.\d+|\d{1,3}(?:,\d{3})+)(?![\w.])")
"""A figure with decimals, or of four digits or more."""
DERIVED: dict[str, set[str]] = {
    "darshan": {"0.49", "10.7", "73.7", "77,222"},
    "net": {"37.6"},
    "simulate": {"0.5", "12.4", "14.1", "22.1", "27.8", "3,600", "4,580", "68.72"},
}
"""Figures in the text that a reader computes from others, or that are inputs."""
RULE = set("\N{BOX DRAWINGS LIGHT HORIZONTAL} ")
MEASURING = ("strace", "bench", "tar.toml")
"""Words of commands whose figures depend on the machine."""
OTHER_OUTPUT = ("slow-target", "checkpoint.toml:13", "tape.toml:24")
"""Words of outputs of commands that the page only describes."""
SETUP = {
    "how-to/design-solve.md": "headrace design init --example lab lab.toml",
    "how-to/work-with-traces.md": "headrace trace convert traces/copy.strace app.parquet",
}
"""Commands that write the files of a page's Python code."""
SMALLER = {"budget=120": "budget=5"}
CONTINUED = ("how-to/notebooks.md", "reference/benchmark-results.md", "tutorials/net.md")
"""Pages whose Python code continues other commands."""
NEEDS_NAMES = "cache = net.store("
"""Start of a block that continues another."""


def blocks(page: Path) -> list[tuple[str, str]]:
    return FENCE.findall(page.read_text(encoding="utf-8"))


def python_of(page: Path) -> str:
    parts = [code for language, code in blocks(page) if language == "python"]
    return "\n".join(part for part in parts if not part.startswith(NEEDS_NAMES))


PAGES = [
    page
    for page in sorted([*DOCS.rglob("*.md"), ROOT / "README.md"])
    if python_of(page) and not str(page).endswith(CONTINUED)
]


def run(code: str, place: Path, *, is_python: bool) -> str:
    """Run code of a page in a directory, and return its output."""
    command = [sys.executable, "-c", code] if is_python else ["bash", "-ec", code]
    programs = place / "bin"
    if not programs.exists():
        programs.mkdir()
        for name, module in (("headrace", "-m headrace"), ("python3", "")):
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec {sys.executable} {module} "$@"\n')
            program.chmod(0o755)
        (place / "scenarios").symlink_to(ROOT / "scenarios")
        (place / "traces").symlink_to(ROOT / "tests" / "data" / "traces")
    environment = {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HEADRACE_STORE": str(place / "store"),
        "COLUMNS": "200",
    }
    ended = subprocess.run(
        command, cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, f"{code}: {ended.stderr}"
    return ended.stdout + ended.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_code_runs(page: Path, tmp_path: Path) -> None:
    code = python_of(page)
    for full, small in SMALLER.items():
        code = code.replace(full, small)
    if setup := SETUP.get(str(page.relative_to(DOCS) if page.is_relative_to(DOCS) else page)):
        run(setup, tmp_path, is_python=False)
    run(code, tmp_path, is_python=True)


def is_shown(line: str, output: str) -> bool:
    """Return whether a line of the output has the words of a shortened line in their order."""
    for candidate in output.splitlines():
        words = iter(VARYING.sub("", candidate).split())
        if all(word in words for word in VARYING.sub("", line).split()):
            return True
    return False


@pytest.mark.parametrize("name", ["darshan", "net", "simulate"])
def test_tutorials_show_the_output_of_their_commands(name: str, tmp_path: Path) -> None:
    if name == "darshan":
        pytest.importorskip("darshan")
    page = DOCS / "tutorials" / f"{name}.md"
    text = page.read_text(encoding="utf-8")
    for file, contents in FILE.findall(text):
        (tmp_path / file).write_text(contents, encoding="utf-8")
    output = ""
    shown = [text]
    for language, code in blocks(page):
        if language in ("sh", "python") and not any(word in code for word in MEASURING):
            output = run(code, tmp_path, is_python=language == "python")
            shown.append(output)
        elif language == "text" and not any(word in code for word in OTHER_OUTPUT):
            lines = [line for line in code.splitlines() if not set(line) <= RULE]
            assert [line for line in lines if not is_shown(line, output)] == []
    outputs = re.sub(r"\s", " ", "\n".join(shown[1:]))
    stated = set(FIGURE.findall(FENCE.sub("", text))) - DERIVED[name]
    assert {figure for figure in stated if figure not in outputs} == set()
