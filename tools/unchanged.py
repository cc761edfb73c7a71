"""Compare the results of two versions of Headrace, bit by bit.

    python tools/unchanged.py BASE                  # the working tree against revision BASE
    python tools/unchanged.py BASE --limit 600      # with the scenarios that take minutes
    python tools/unchanged.py BASE --papers         # and the papers
    python tools/unchanged.py BASE --faces          # instead of results, what users see of them

BASE is built once, in target/unchanged/REVISION. Both versions run the scenarios and papers
of BASE. Results are equal if their JSON documents are, without the fields of WALL_CLOCK
and the values of WALL_CLOCK_ROWS. The
working tree must have been built (`make build`); `make unchanged BASE=...` does that first.

The exit status is 0 if all results are equal, 1 if any differs, and 2 for a wrong call.

Not compared: designs, measurements, and cases that take longer than the limit with BASE.
The table names them.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import faces

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / "target" / "unchanged"
WALL_CLOCK = frozenset({"wall_seconds"})
"""Fields that depend on the machine's speed."""
WALL_CLOCK_ROWS = frozenset({"time to simulate 64 clients", "largest run: 512 clients, 32 servers"})
"""Rows of papers whose value does, by what they say it is of."""
SLOWER = 4
"""The working tree gets this multiple of the limit: it is not to be left out for its speed."""
SHOWN = 5
"""Differences of one case that are printed."""


@dataclass(frozen=True)
class Version:
    """A built version of Headrace.

    `python` is the directory of its package.
    """

    name: str
    python: Path


@dataclass(frozen=True)
class Case:
    """A scenario or a paper's script.

    `arguments` are those of the Python interpreter.
    """

    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """A case's document, or the reason why there is none."""

    document: str | None
    reason: str = ""
    timed_out: bool = False


@dataclass(frozen=True)
class Comparison:
    """The verdict on a case: equal, different or left out, and what there is to say of it."""

    case: Case
    verdict: str
    details: tuple[str, ...] = ()


def scenarios(source: Path) -> list[Case]:
    """Return the scenarios that a version ships."""
    command = ("-P", "-m", "headrace", "run", "--json", "--no-store", "--no-progress")
    files = sorted((source / "scenarios").glob("*.toml"))
    return [Case(f"scenarios/{file.name}", (*command, str(file))) for file in files]


def papers(source: Path) -> list[Case]:
    """Return the papers that a version ships."""
    command = ("-P", "-m", "headrace.cli.paper_script")
    scripts = sorted((source / "papers").glob("*/reproduce.py"))
    return [
        Case(f"papers/{script.parent.name}", (*command, str(script), "--json"))
        for script in scripts
    ]


def answer(case: Case, version: Version, limit: float) -> Answer:
    """Run a case with a version for at most `limit` seconds."""
    with tempfile.TemporaryDirectory(prefix="headrace-unchanged-") as folder:
        environment = {
            **os.environ,
            "PYTHONPATH": str(version.python),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HEADRACE_STORE": str(Path(folder) / "store"),
            # Schedulers in Python, of this repository.
            "HEADRACE_TRUST": str(ROOT),
        }
        try:
            done = subprocess.run(
                [sys.executable, *case.arguments],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=limit,
            )
        except subprocess.TimeoutExpired:
            return Answer(None, f"takes more than {limit:g} s", timed_out=True)
    # A paper exits with 1 if one of its statements does not hold.
    try:
        json.loads(done.stdout)
    except json.JSONDecodeError:
        lines = done.stderr.strip().splitlines() or ["no output"]
        return Answer(None, f"exit status {done.returncode}: {lines[-1]}")
    return Answer(done.stdout)


def compare(case: Case, base: Version, tree: Version, limit: float, cache: Path) -> Comparison:
    """Run a case with both versions. `cache` holds the documents of the base."""
    file = cache / f"{case.name}.json"
    if file.exists():
        before = Answer(file.read_text(encoding="utf-8"))
    else:
        before = answer(case, base, limit)
    if before.document is None and before.timed_out:
        return Comparison(case, "left out", (f"{before.reason} with {base.name}",))
    after = answer(case, tree, SLOWER * limit)
    if before.document is None:
        if before == after:
            return Comparison(case, "left out", (f"fails with both: {before.reason}",))
        now = "a document" if after.document is not None else after.reason
        return Comparison(case, "DIFFERENT", (f"{before.reason} → {now}",))
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(before.document, encoding="utf-8")
    if after.document is None:
        return Comparison(case, "DIFFERENT", (after.reason,))
    found = tuple(
        islice(differences(json.loads(before.document), json.loads(after.document)), SHOWN)
    )
    return Comparison(case, "DIFFERENT" if found else "equal", found)


def differences(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """Yield the differences of two documents, as `path: before → after`."""
    if isinstance(before, dict) and isinstance(after, dict):
        # The order of keys is a part of the document.
        if list(before) != list(after):
            yield f"{path or 'document'}: keys {list(before)} → {list(after)}"
            return
        ignored = WALL_CLOCK
        if before.get("what") in WALL_CLOCK_ROWS:
            ignored = ignored | {"ours"}
        for key in before:
            if key not in ignored:
                yield from differences(before[key], after[key], f"{path}.{key}" if path else key)
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield f"{path}: {len(before)} → {len(after)} elements"
            return
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{path}[{index}]")
    # JSON's numbers are written in full: equal texts are equal bits.
    elif json.dumps(before) != json.dumps(after):
        yield f"{path}: {_short(before)} → {_short(after)}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:60] + "…"


def built(revision: str) -> tuple[Version, Path]:
    """Build a revision unless it has been built. Returns it and the directory of its source.

    Raises ValueError if there is no such revision or it does not compile.
    """
    named = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"],
        capture_output=True,
        text=True,
    )
    if named.returncode != 0:
        raise ValueError(f"BASE={revision}: expected a revision of this repository, such as main")
    commit = named.stdout.strip()
    folder = CACHE / commit
    source = folder / "source"
    version = Version(f"{revision} ({commit[:8]})", source / "python")
    extension = source / "python" / "headrace" / "_core.abi3.so"
    if extension.exists():
        return version, source
    print(f"Building {version.name} in {source.relative_to(ROOT)}", file=sys.stderr)
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    archive = subprocess.Popen(["git", "-C", str(ROOT), "archive", commit], stdout=subprocess.PIPE)
    # Files get the time of now (-m): cargo compiles what is newer than its last build.
    unpacked = subprocess.run(["tar", "-xmC", str(source)], stdin=archive.stdout)
    if archive.wait() != 0 or unpacked.returncode != 0:
        raise ValueError(f"cannot unpack {version.name} into {source}")
    target = CACHE / "build"
    environment = {
        **os.environ,
        # Dependencies are compiled once for all revisions.
        "CARGO_TARGET_DIR": str(target),
        "PYO3_PYTHON": sys.executable,
        "PYO3_BUILD_EXTENSION_MODULE": "1",
    }
    command = ["cargo", "build", "--quiet", "--release", "--locked", "-p", "headrace-python"]
    if subprocess.run(command, cwd=source, env=environment).returncode != 0:
        raise ValueError(f"{version.name} does not compile")
    partial = extension.with_suffix(".partial")
    shutil.copyfile(target / "release" / "lib_core.so", partial)
    partial.rename(extension)
    return version, source


def compare_faces(
    base: Version, tree: Version, source: Path, cases: Mapping[str, Any], jobs: int
) -> list[Comparison]:
    """Compare what both versions show (faces.py): a comparison is of one text."""
    with (
        tempfile.TemporaryDirectory(prefix="headrace-faces-") as folder,
        ThreadPoolExecutor(jobs) as pool,
    ):
        # Both work below the same path, which outputs may have.
        for version, name in ((base, "before"), (tree, "after")):
            work = Path(folder) / "version"
            faces.write(faces.Shown(version.python, source), cases, work, pool)
            work.rename(Path(folder) / name)
        return [
            Comparison(Case(name, ()), "DIFFERENT" if lines else "equal", tuple(lines))
            for name, lines in faces.differences(
                Path(folder) / "before" / "faces", Path(folder) / "after" / "faces"
            )
        ]


def table(comparisons: Sequence[Comparison], shown: Sequence[Comparison]) -> Iterator[str]:
    """Yield the lines of some comparisons, and a last one with the counts of all."""
    width = max((len(it.case.name) for it in shown), default=0)
    for it in shown:
        first, *rest = it.details or ("",)
        yield f"{it.case.name:{width}}  {it.verdict:9}  {first}".rstrip()
        yield from (f"{'':{width}}  {'':9}  {line}" for line in rest)
    counts = [
        f"{sum(it.verdict == verdict for it in comparisons)} {verdict}"
        for verdict in ("equal", "DIFFERENT", "left out")
    ]
    yield f"{len(comparisons)} cases: {', '.join(counts)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare the working tree with a revision. Returns the exit status."""
    parser = argparse.ArgumentParser(description="Compare results of two versions.")
    parser.add_argument("base", metavar="BASE", help="revision to compare with")
    parser.add_argument(
        "--limit",
        type=float,
        default=20,
        metavar="SECONDS",
        help="leave out cases that take longer with BASE (20)",
    )
    parser.add_argument("--papers", action="store_true", help="compare the papers too")
    parser.add_argument(
        "--faces", action="store_true", help="compare help, output, files and pages instead"
    )
    parser.add_argument(
        "--only", nargs="+", metavar="NAME", help="cases whose names contain one of these"
    )
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="cases that run at a time"
    )
    options = parser.parse_args(arguments)
    try:
        base, source = built(options.base)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    tree = Version("the working tree", ROOT / "python")
    if options.faces:
        comparisons = compare_faces(base, tree, source, faces.all_cases(), options.jobs)
        changed = [it for it in comparisons if it.verdict != "equal"]
        print("\n".join(table(comparisons, changed)))
        return 1 if changed else 0
    cases = scenarios(source) + (papers(source) if options.papers else [])
    if options.only:
        cases = [case for case in cases if any(name in case.name for name in options.only)]
    if not cases:
        print("no case has such a name", file=sys.stderr)
        return 2
    cache = source.parent / "results"
    with ThreadPoolExecutor(options.jobs) as pool:
        comparisons = list(
            pool.map(lambda case: compare(case, base, tree, options.limit, cache), cases)
        )
    print("\n".join(table(comparisons, comparisons)))
    return 1 if any(it.verdict == "DIFFERENT" for it in comparisons) else 0


if __name__ == "__main__":
    sys.exit(main())
