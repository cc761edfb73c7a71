"""Code of the documentation runs, and its outputs are those that the pages show.

Of outputs that depend on the machine, the names of lines and columns are compared.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import ROOT

DOCS = ROOT / "docs"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"Save this as `([^`]+)`.*?^```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VARYING = re.compile(r"\bin \S+ m?s\b|\N{HORIZONTAL ELLIPSIS}|^\.\.\.$")
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
PROMPT = re.compile(r"\d\S* \w+> (.*)")
"""Prompt of `headrace net play`, and the input."""
OF_MACHINE = {
    "measure": r"^(Cut-off|Knee|MB/s|Note|Processors|processors)|no$",
    "profile": r"^(\d |copy: |program|nothing|Advice|level|parallel-|threads|larger-|machine)",
    "twin": r"^(Note|are uncertain)",
}
"""Tutorials whose figures depend on the machine, and lines that depend on it altogether."""
QUANTITY = re.compile(r"\S*\d\S*(?: \S{1,5}(?= |$))?")
"""A number and its unit, which depends on the amount."""
MEASURING = ("strace", "bench", "tar.toml")
"""Words of commands whose figures depend on the machine, in the other tutorials."""
OTHER_OUTPUT = ("slow-target", "checkpoint.toml:13", "tape.toml:24", "ferry.cpn", "5 kVA")
"""Words of outputs of commands that the page only describes."""
SKIPPED = {
    "optimise": "the search takes a minute of processor time",
    "serve-a-team": "the text is the file of another server",
}
"""How-to pages whose outputs are not compared."""
FAILING = ("budget.initial=",)
"""Words of commands whose exit status is not 0."""
SETUP = {
    "how-to/design-solve.md": "headrace design init --example lab lab.toml",
    "how-to/work-with-traces.md": "headrace trace convert traces/copy.strace app.parquet",
    "reference/benchmark-results.md": (
        "headrace bench mix . --rates 400 --time '0.2 s' --space '1 GB' --set workload.0.files=100"
    ),
}
"""Commands that write the files of a page's Python code."""
CONTINUES = {
    "how-to/notebooks.md": """
import headrace as hr
from headrace import measure
scenario = "scenarios/striped-read.toml"
result = hr.run(scenario)
sweep = hr.sweep(scenario, {"clients.count": "2..4"}, sensitivity="sobol", samples=2)
gains = hr.whatif(scenario, only=["layout.unit"])
measurement = measure.measure(measure.load("[[workload]]\\nfiles = 1\\nblock = '1 MiB'\\n"), ".")
"""
}
"""Code that the Python code of a page continues."""
REPLACED = {
    "budget=120": "budget=5",
    '"1m823k0x"': '"last"',
    "headrace bench /tmp": "headrace bench . --time '0.2 s' --file-size '16 MiB'",
    "headrace bench mix /tmp": "headrace bench mix . --rates 100,200",
    "files=2000 --time 5": "files=100 --time '0.2 s'",
    ".toml /tmp": ".toml .",
    "cd /mnt/storage\n": "",
    "head -c 1G": "head -c 64M",
    "headrace twin /tmp --repetitions 2 -o twin.json": (
        "cp tests/data/twins/ext4-150.json twin.json; headrace twin --again twin.json"
    ),
    "-o lab.design\n": (
        "-o lab.design\nsed -E 's|<sup>[^/]*</a></sup>||g; s|<[^>]*>| |g' lab.design/report.html\n"
    ),
    "headrace design solve lab.toml": "headrace design solve lab.toml --time-limit '20 min'",
    "headrace calibrate /tmp -o": "cp papers/nguyen-local/present/machine.toml",
}
"""Parts of commands that take long, depend on the load, or name a place, with others."""
CONTINUED = "tutorials/net.md"
"""Page whose Python code continues commands; they run with its outputs."""
NEEDS_NAMES = "cache = net.store("
"""Start of a block that continues another."""
IDENTIFIER = re.compile(r"\bID\b|\b1m[a-z0-9]{6}\b")
RESULT = """result() {
    headrace results list --json |
        python3 -c "import json, sys; print(json.load(sys.stdin)['results'][$1]['id'])"
}
"""
"""Function of the shell for the identifier of a result, 0 for the newest."""


def blocks(page: Path) -> list[tuple[str, str]]:
    return FENCE.findall(page.read_text(encoding="utf-8"))


def python_of(page: Path) -> str:
    parts = [code for language, code in blocks(page) if language == "python"]
    return "\n".join(part for part in parts if not part.startswith(NEEDS_NAMES))


def named(page: Path) -> str:
    return str(page.relative_to(DOCS if page.is_relative_to(DOCS) else ROOT))


PAGES = [
    page
    for page in sorted([*DOCS.rglob("*.md"), ROOT / "README.md"])
    if python_of(page) and named(page) != CONTINUED
]


@dataclass
class Step:
    """Code of a page, and the outputs that the page shows directly behind it."""

    language: str
    code: str
    shown: list[str]


def steps_of(page: Path) -> list[Step]:
    steps: list[Step] = []
    is_behind = False
    for language, text in blocks(page):
        if language == "console" or text.startswith("$ "):
            steps.append(session(text))
            is_behind = True
        elif language in ("sh", "python"):
            steps.append(Step(language, text, []))
            is_behind = True
        elif language == "text" and is_behind:
            if not any(word in text for word in OTHER_OUTPUT):
                steps[-1].shown.append(text)
        else:
            is_behind = False
    return steps


def session(text: str) -> Step:
    """Return the commands of a terminal session, with its inputs, and its output."""
    lines = text.splitlines()
    code = "\n".join(line[2:] for line in lines if line.startswith("$ "))
    inputs = [match[1] for line in lines if (match := PROMPT.fullmatch(line))]
    if inputs:
        code = f"printf '%s\\n' {' '.join(map(repr, inputs))} | {code}"
    others = [line for line in lines if not line.startswith("$ ") and not PROMPT.fullmatch(line)]
    # The line before the first prompt is for terminals.
    shown = "\n".join(others[bool(inputs) :])
    return Step("sh", code, [shown] if shown else [])


def run(code: str, place: Path, *, is_python: bool) -> str:
    """Run code of a page in a directory, and return its output."""
    for full, small in REPLACED.items():
        code = code.replace(full, small)
    if not is_python and "results compare" in code:
        base, other = IDENTIFIER.findall(code)
        code = RESULT + code.replace(f"{base} {other}", '"$(result 1)" "$(result 0)"')
    command = [sys.executable, "-c", code] if is_python else ["bash", "-ec", code]
    programs = place / "bin"
    if not programs.exists():
        programs.mkdir()
        for name, module in (("headrace", "-m headrace"), ("python3", "")):
            program = programs / name
            program.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
            program.chmod(0o755)
        for name in ("papers", "scenarios", "tests"):
            (place / name).symlink_to(ROOT / name)
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
    is_failing = any(word in code for word in FAILING)
    assert is_failing or ended.returncode == 0, f"{code}: {ended.stdout}{ended.stderr}"
    return ended.stdout + ended.stderr


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_python_code_runs(page: Path, tmp_path: Path) -> None:
    if setup := SETUP.get(named(page)):
        run(setup, tmp_path, is_python=False)
    run(CONTINUES.get(named(page), "") + python_of(page), tmp_path, is_python=True)


def missing(shown: str, output: str) -> list[str]:
    """Return lines of a page whose words no line of the output has in their order."""
    candidates = [VARYING.sub("", line).split() for line in output.splitlines()]

    def is_there(line: str) -> bool:
        words = VARYING.sub("", line).split()
        for candidate in map(iter, candidates):
            if all(word in candidate for word in words):
                return True
        return not words

    return [line for line in shown.splitlines() if not set(line) <= RULE and not is_there(line)]


@pytest.mark.parametrize("name", sorted({one.stem for one in DOCS.glob("tutorials/*.md")}))
def test_tutorials_show_the_output_of_their_commands(name: str, tmp_path: Path) -> None:
    if name == "darshan":
        pytest.importorskip("darshan")
    page = DOCS / "tutorials" / f"{name}.md"
    text = page.read_text(encoding="utf-8")
    for file, contents in FILE.findall(text):
        (tmp_path / file).write_text(contents, encoding="utf-8")
    outputs = ""
    for step in steps_of(page):
        if name not in OF_MACHINE and any(word in step.code for word in MEASURING):
            continue
        output = run(step.code, tmp_path, is_python=step.language == "python")
        outputs += output
        for shown in step.shown:
            if name in OF_MACHINE:
                lines = [line.strip() for line in shown.splitlines()]
                same = (line for line in lines if not re.search(OF_MACHINE[name], line))
                shown = "\n".join(QUANTITY.sub("", line) for line in same)
            assert missing(shown, output) == []
    if name in OF_MACHINE:
        assert re.search(r"examples? (comes )?from (a|one) (busy )?virtual machine", text)
        return
    stated = set(FIGURE.findall(FENCE.sub("", text))) - DERIVED.get(name, set())
    outputs = re.sub(r"\s", " ", outputs)
    assert {figure for figure in stated if figure not in outputs} == set()


HOW_TOS = [
    page
    for page in sorted(DOCS.glob("how-to/*.md"))
    if page.stem not in SKIPPED and any(step.shown for step in steps_of(page))
]


@pytest.mark.parametrize("page", HOW_TOS, ids=lambda page: page.stem)
def test_how_to_pages_show_the_output_of_their_commands(page: Path, tmp_path: Path) -> None:
    for step in steps_of(page):
        if step.shown:
            output = run(step.code, tmp_path, is_python=False)
            assert missing("\n".join(step.shown), output) == []
