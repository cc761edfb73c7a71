"""What a version of Headrace shows: help texts, output at three widths, files and pages.

`tools/unchanged.py --faces` compares those of two versions. faces.toml has the commands and pages.
The documents in tests/data/documents are shown by each version, so that nothing is simulated or
measured for them.
"""

from __future__ import annotations

import difflib
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = ROOT / "tests" / "data" / "documents"
CASES = Path(__file__).with_suffix(".toml")
WIDTHS = (60, 100, 200)
HELP_WIDTH = 100
LONGEST_S = 120.0
"""Longest time of one command."""
TEXTS = frozenset({".csv", ".html", ".json", ".md", ".svg", ".toml", ".txt", ".xml"})
"""Files that are compared. Others, such as PNG, are only listed."""
SHOWN = 8
"""Lines of a difference that are printed."""
COMMANDS = re.compile(r"^Commands:\n((?:  .*\n?)+)", re.MULTILINE)
ELEMENTS = re.compile(r"parseElements\(String\.raw`(.*?)`\)", re.DOTALL)
"""The elements of a page, as JSON."""
VARYING = (
    # Time that a simulation took.
    (
        re.compile(
            r"(simulated in|runs in|runs,|wall_seconds\D+|took) ?[\d.,]+(e-\d+)?"
            r"( (ns|us|µs|ms|s|min|h)\b)?"
        ),
        r"\1 …",
    ),
    (re.compile(r"(in the store:) \w+"), r"\1 …"),
    # Identifiers of pages and of what is uploaded, and versions of files in their addresses.
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "…"),
    (re.compile(r"\b(c|time=|v=)\d{6,}\b"), r"\1…"),
    (re.compile(r"20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(\+00:00|Z)?"), "…"),
)
"""Text that differs between two runs of one version, and its replacement."""


@dataclass(frozen=True)
class Shown:
    """A version of Headrace, and the directory of files that its commands read."""

    python: Path
    inputs: Path

    def environment(self, folder: Path, width: int) -> dict[str, str]:
        """Return the environment of a command whose store is in a folder."""
        # NiceGUI would take the server for a test of its own.
        own = {key: value for key, value in os.environ.items() if key != "PYTEST_CURRENT_TEST"}
        return {
            **own,
            "PYTHONPATH": str(self.python),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HEADRACE_STORE": str(folder / "store"),
            "HEADRACE_TRUST": str(self.inputs),
            "COLUMNS": str(width),
            "NO_COLOR": "1",
            "TZ": "UTC",
        }

    def output(self, words: Sequence[str], folder: Path, width: int) -> str:
        """Run a command in a folder, and return its exit status and output."""
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-m", "headrace", *words],
                cwd=folder,
                env=self.environment(folder, width),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=LONGEST_S,
            )
        except subprocess.TimeoutExpired:
            return f"takes more than {LONGEST_S:g} s"
        return f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"


def all_cases() -> dict[str, Any]:
    """Return the commands, pages and documents of faces.toml."""
    cases = tomllib.loads(CASES.read_text(encoding="utf-8"))
    return cases | {
        "document": sorted(file for file in DOCUMENTS.iterdir() if file.suffix != ".md")
    }


def write(version: Shown, cases: Mapping[str, Any], folder: Path, pool: Executor) -> None:
    """Write faces of a version as text files into a folder.

    Args:
        version: The version.
        cases: As `all_cases` returns them.
        folder: New folder, in which `faces` has the texts.
        pool: Where commands run.
    """
    work = folder / "work"
    faces = folder / "faces"
    work.mkdir(parents=True)
    jobs = [
        pool.submit(_command, version, case, width, work / f"{case['name']} {width}", faces)
        for case in cases["command"]
        for width in WIDTHS
    ]
    jobs += [pool.submit(_help, version, command, work, faces) for command in cases["help"]]
    jobs.append(pool.submit(_stored, version, cases, work / "stored", faces))
    for job in jobs:
        job.result()


def _command(version: Shown, case: Mapping[str, Any], width: int, work: Path, faces: Path) -> None:
    """Run a command of faces.toml at one width, and keep its output and its files."""
    out = _with_inputs(version, work)
    words = shlex.split(case["line"])
    output = version.output(words, work, width)
    varying = [re.compile(pattern) for pattern in case.get("varying", ())]
    _write(faces / case["name"] / f"{width}.txt", output, work, varying=varying)
    if width == WIDTHS[0]:
        _keep_files(out, faces / case["name"], work, varying)


def _with_inputs(version: Shown, work: Path) -> Path:
    """Make a working directory with the inputs of faces.toml, and return that for outputs."""
    out = work / "out"
    out.mkdir(parents=True)
    for name in ("scenarios", "examples", "docs"):
        if (version.inputs / name).exists():
            (work / name).symlink_to(version.inputs / name)
    (work / "data").symlink_to(ROOT / "tests" / "data")
    return out


def _keep_files(out: Path, faces: Path, work: Path, varying: Sequence[re.Pattern[str]]) -> None:
    for file in sorted(out.rglob("*")):
        if file.is_file():
            is_text = file.suffix in TEXTS
            text = file.read_text(encoding="utf-8") if is_text else "a file\n"
            name = f"{file.relative_to(out)}.txt"
            _write(faces / "files" / name, text, work, varying=varying)


def _help(version: Shown, command: str, folder: Path, faces: Path) -> None:
    """Keep the help of a command, and of all below it."""

    def walk(words: tuple[str, ...]) -> None:
        output = version.output((*words, "--help"), folder, HELP_WIDTH)
        _write(faces / "help" / f"{' '.join(('headrace', *words))}.txt", output, folder)
        if commands := COMMANDS.search(output):
            for line in commands.group(1).splitlines():
                if name := re.match(r"  (\S+)", line):
                    walk((*words, name.group(1)))

    walk(tuple(command.split()))


def _stored(version: Shown, cases: Mapping[str, Any], work: Path, faces: Path) -> None:
    """Keep what is shown of stored results: by commands, and by pages."""
    out = _with_inputs(version, work)
    names: dict[str, str] = {}
    for document in cases["document"]:
        version.output(("results", "import", str(document)), work, HELP_WIDTH)
        listed = version.output(("results", "list", "--json"), work, HELP_WIDTH)
        entries = json.loads(listed.split("\n", 1)[1])["results"]
        (identifier,) = {entry["id"] for entry in entries} - set(names)
        names[identifier] = document.stem
    for identifier, name in names.items():
        here = faces / "results" / name
        for width in WIDTHS:
            output = version.output(("results", "show", identifier), work, width)
            _write(here / f"{width}.txt", output, work, names)
        csv = out / f"{name}.csv"
        output = version.output(("results", "export", identifier, "-o", str(csv)), work, HELP_WIDTH)
        _write(here / "csv.txt", csv.read_text() if csv.exists() else output, work, names)
    with _server(version, work) as url:
        addresses = [*cases["page"], *(f"/results/{identifier}" for identifier in names)]
        for address in addresses:
            face = _named(address, names).strip("/").replace("/", " ") or "start"
            _write(faces / "pages" / f"{face}.txt", _elements(_page(url + address)), work, names)


def _page(address: str) -> str:
    """Return a page, or its status if there is none."""
    try:
        with urllib.request.urlopen(address, timeout=LONGEST_S) as answer:
            text: str = answer.read().decode()
    except urllib.error.HTTPError as error:
        return f"status {error.code}"
    return text


def _elements(page: str) -> str:
    """Return the elements of a page as lines of JSON; of what is no page, its text."""
    found = ELEMENTS.search(page)
    if found is None:
        return page
    unescaped = found.group(1)
    for escape, character in (("&#36;", "$"), ("&#96;", "`"), ("&lt;", "<"), ("&gt;", ">")):
        unescaped = unescaped.replace(escape, character)
    try:
        elements = json.loads(unescaped.replace("&amp;", "&"))
    except json.JSONDecodeError:
        return unescaped
    return json.dumps(_nested(elements, "0"), indent=1, ensure_ascii=False)


def _nested(elements: Mapping[str, Any], number: str) -> dict[str, Any]:
    """Return an element with its children in place of their numbers, which differ from run to run.

    Omitted are listeners of events that the library adds, and what is empty.
    """
    element = dict(elements[number])
    children = element.pop("children", [])
    events = sorted(it["type"] for it in element.pop("events", []))
    slots = {
        name: slot | {"ids": [_nested(elements, str(it)) for it in slot.get("ids", [])]}
        for name, slot in element.pop("slots", {}).items()
    }
    whole = element | {
        "events": events,
        "slots": slots,
        "children": [_nested(elements, str(it)) for it in children],
    }
    return {key: value for key, value in whole.items() if value not in (None, [], {})}


@contextmanager
def _server(version: Shown, work: Path) -> Iterator[str]:
    """Serve the pages, and yield their address."""
    words = ("serve", "start", "--port=0", "--no-login", "--no-monitor", f"--data={work / 'serve'}")
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "headrace", *words, f"--directory={work / 'out'}"],
        cwd=work,
        env=version.environment(work, HELP_WIDTH),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        lines = iter(process.stdout.readline, "")
        address = next((line for line in lines if line.startswith("http")), None)
        if address is None:
            raise RuntimeError(f"{version.python}: the server has ended")
        url = address.split("?")[0].strip().rstrip("/")
        while process.poll() is None:
            # It prints the address before it listens.
            with suppress(urllib.error.URLError), urllib.request.urlopen(url):
                break
            time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(60)


def _write(
    file: Path,
    text: str,
    work: Path,
    names: Mapping[str, str] | None = None,
    varying: Sequence[re.Pattern[str]] = (),
) -> None:
    """Write a face, without what differs between two runs."""
    file.parent.mkdir(parents=True, exist_ok=True)
    plain = text.replace(str(work), "…")
    for pattern, replacement in (*VARYING, *((pattern, "…") for pattern in varying)):
        plain = pattern.sub(replacement, plain)
    plain = _named(plain, names or {})
    lines = [f"{line.rstrip()}\n" for line in plain.splitlines()]
    file.write_text("".join(lines), encoding="utf-8")


def _named(text: str, names: Mapping[str, str]) -> str:
    """Return a text with the names of results in place of their identifiers."""
    for identifier, name in names.items():
        text = text.replace(identifier, name)
    return text


def differences(before: Path, after: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each face of two folders, with its differences."""
    files = {
        file.relative_to(folder) for folder in (before, after) for file in folder.rglob("*.txt")
    }
    for name in sorted(files):
        one, other = (_lines(folder / name) for folder in (before, after))
        changed = difflib.unified_diff(one, other, n=0, lineterm="")
        lines = [line[:160] for line in changed if not line.startswith(("---", "+++", "@@"))]
        more = [f"and {len(lines) - SHOWN} more lines"] if len(lines) > SHOWN else []
        yield str(name), list(itertools.islice(lines, SHOWN)) + more


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []
