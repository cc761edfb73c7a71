"""`headrace results`, and what `headrace run` keeps."""

import contextlib
import json
import os
import pty
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import headrace as hr
from conftest import Command
from test_cli_errors import refused
from test_cli_run import strict, timeless

pytestmark = pytest.mark.usefixtures("place")

IDENTIFIER = re.compile(r"in the store: ([0-9a-z]{14})\n")


def run(headrace: Command, small: Path, *more: object) -> str:
    """Runs a scenario; gives its identifier in the store."""
    ended = headrace("run", small, *more)
    assert (ended.returncode, ended.stderr) == (0, "")
    found = IDENTIFIER.match(ended.stdout)
    assert found, ended.stdout
    return found[1]


def listed(headrace: Command, *options: object) -> list[dict[str, Any]]:
    ended = headrace("results", "list", "--json", *options)
    assert (ended.returncode, ended.stderr) == (0, "")
    results: list[dict[str, Any]] = strict(ended.stdout)["results"]
    return results


def test_a_run_is_kept_found_and_run_again(headrace: Command, small: Path, tmp_path: Path) -> None:
    saved = tmp_path / "r.json"
    identifier = run(headrace, small, "--label", "disk=new", "--set", "run.seed=4", "-o", saved)
    small.unlink()
    (entry,) = listed(headrace, "--name", "small", "--label", "disk=new", "--kind", "simulated")
    document = json.loads(saved.read_text())
    assert entry["id"] == identifier
    assert (entry["seed"], entry["labels"]) == (4, {"disk": "new"})
    assert entry["system"] == document["host"]["system"]
    read = entry["figures"]["read"]
    assert read["throughput_bytes_per_s"] == document["throughput"]["read"]
    assert read["latency_p99_s"] == document["latency"]["read"]["p99"]
    shown = strict(headrace("results", "show", identifier[:10], "--json").stdout)
    assert set(shown["tables"]) == {"series", "latency_distribution", "server_series"}
    assert shown["document"].items() <= document.items()
    for command in (("run",), ("run", "--no-store")):
        again = headrace(*command, f"results:{identifier}", "--json")
        assert timeless(strict(again.stdout)) == timeless(shown["document"])
    assert len(listed(headrace)) == 2
    assert headrace("explain", "results:last").returncode == 0
    loaded = hr.load_result(f"results:{identifier}")
    assert loaded.document == shown["document"]
    assert loaded.series.equals(hr.load_result(saved).series)
    assert hr.load("results:last").name == "small"


def test_tables_tell_what_json_tells(headrace: Command, small: Path) -> None:
    identifier = run(headrace, small, "--label", "disk=[red]new[/red]")
    ended = headrace("results", "list")
    (entry,) = listed(headrace)
    throughput = entry["figures"]["write"]["throughput_bytes_per_s"]
    for part in (identifier, "small", "disk=[red]new[/red]", f" {1e-6 * throughput:.2f} "):
        assert part in ended.stdout
    shown = headrace("results", "show", "last").stdout
    ran = headrace("run", small, "--no-store").stdout
    for part in (identifier, "disk=[red]new[/red]", "table series", entry["version"]):
        assert part in shown
    assert ran[ran.index("Throughput and latency") :] in shown


def test_what_is_not_kept(headrace: Command, small: Path, place: Path) -> None:
    ended = headrace("run", small, "--no-store")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "in the store" not in ended.stdout
    assert headrace("results", "list").stdout == "No results match.\n"
    assert listed(headrace) == []
    assert not place.exists()


def test_results_are_handed_on(headrace: Command, small: Path, tmp_path: Path) -> None:
    saved, archive = tmp_path / "r.json", tmp_path / "results.zip"
    first = run(headrace, small, "-o", saved)
    second = run(headrace, small, "--set", "run.seed=2")
    ended = headrace("results", "export", first, "last", second, "-o", archive)
    assert ended.stdout == f"{archive}: 2 results\n"
    # The store has it from the run.
    there = headrace("results", "import", saved)
    assert there.stdout == f"{saved}: 0 results taken in, 1 there already\n  {first}\n"
    before = listed(headrace)
    assert headrace("results", "remove", first, "--yes").stdout == f"removed {first}\n"
    assert [entry["id"] for entry in listed(headrace)] == [second]
    ended = headrace("results", "import", archive)
    assert "1 result taken in, 1 there already" in ended.stdout
    assert listed(headrace) == before


def test_a_saved_result_is_taken_in_once(headrace: Command, small: Path, tmp_path: Path) -> None:
    saved, printed = tmp_path / "r.json", tmp_path / "printed.json"
    ended = headrace("run", small, "--no-store", "-o", saved, "--json")
    printed.write_text(ended.stdout)
    started = json.loads(saved.read_text())["environment"]["started"]
    for there, taken in enumerate((saved, saved, printed)):
        assert headrace("results", "import", taken).returncode == 0
        (entry,) = listed(headrace)
        assert entry["started"] == started, there
    # What was printed says no start, as files of earlier versions: that is when it was saved.
    os.utime(printed, (10**9, 10**9))
    assert headrace("results", "remove", "last", "--yes").returncode == 0
    assert headrace("results", "import", printed).returncode == 0
    (entry,) = listed(headrace)
    assert entry["started"] == "2001-09-09T01:46:40.000000Z"
    assert headrace("results", "remove", "last", "--yes").returncode == 0
    assert headrace("results", "import", saved).returncode == 0
    assert hr.load_result("results:last").series.equals(hr.load_result(saved).series)
    assert hr.load_result("results:last").document == strict(ended.stdout)


def test_measurements_are_kept_as_well(
    headrace: Command, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = tmp_path / "r.json"
    ended = headrace("bench", "run", small, tmp_path, "--label", "a=b", "-o", saved)
    assert ended.returncode == 0
    run(headrace, small)
    (entry,) = listed(headrace, "--kind", "measured")
    document = json.loads(saved.read_text())
    assert (
        entry["figures"]["read"]["operations_per_s"]
        == (document["operations"]["read"]["per_second"])
    )
    shown = headrace("results", "show", entry["id"]).stdout
    assert "Throughput and service time" in shown
    refused(headrace("results", "import", tmp_path / "none.json"), "none.json")
    assert f"0 results taken in, 1 there already\n  {entry['id']}" in (
        headrace("results", "import", saved).stdout
    )
    with pytest.raises(hr.store.StoreError, match="is measured: expected a simulated result"):
        hr.load_result(f"results:{entry['id']}")
    # Measured and simulated, side by side.
    compared = strict(headrace("results", "compare", entry["id"], "last", "--json").stdout)
    assert [it["kinds"] for it in compared["groups"]] == [["measured"], ["simulated"]]
    here = hr.store.open()
    monkeypatch.setenv("HEADRACE_STORE", str(tmp_path / "other"))
    assert headrace("results", "import", saved).returncode == 0
    there = hr.store.open()
    assert there.record("last").contents == here.record(entry["id"]).contents
    assert there.contents("last") != []
    for content in there.contents("last"):
        assert there.table("last", content.name).rows() == (
            here.table(entry["id"], content.name).rows()
        )


def test_a_document_that_lacks_what_is_shown(headrace: Command, small: Path, place: Path) -> None:
    """As those of other versions may."""
    run(headrace, small)
    document = hr.store.open().record("last").contents
    for key in ("stations", "bottleneck", "simulated_seconds"):
        del document[key]
    hr.store.open().add(document)
    ended = headrace("results", "show", "last")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "operations_per_s" in ended.stdout


def test_nothing_is_removed_unasked(headrace: Command, small: Path) -> None:
    identifier = run(headrace, small)
    refused(headrace("results", "remove", identifier), "--yes")
    refused(headrace("results", "remove", identifier, "zzz", "--yes"), '"zzz"')
    assert len(listed(headrace)) == 1


@pytest.mark.parametrize(("answer", "status", "left"), [("n", 1, 1), ("y", 0, 0)])
def test_a_person_is_asked(
    answer: str, status: int, left: int, headrace: Command, small: Path
) -> None:
    identifier = run(headrace, small)
    command = [sys.executable, "-m", "headrace", "results", "remove", identifier]
    terminal, inside = pty.openpty()
    process = subprocess.Popen(
        command, stdin=inside, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    os.close(inside)
    os.write(terminal, f"{answer}\n".encode())
    output, errors = process.communicate(timeout=60)
    os.close(terminal)
    assert process.returncode == status
    assert f"Remove 1 result: {identifier}?" in errors
    assert output.strip() == (f"removed {identifier}" if status == 0 else "")
    assert len(listed(headrace)) == left


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["show", "zzz"], ['"zzz"', "headrace results list"]),
        (
            ["list", "--kind", "imagined"],
            ['kind "imagined"', "one of simulated, measured, load-sweep"],
        ),
        (["list", "--label", "disk"], ['--label "disk"', "KEY=VALUE"]),
        (["list", "--since", "yesterday"], ['--since "yesterday"', "2026-11-01", '"7 d"']),
        (["list", "--limit", "0"], ["--limit"]),
        (["export", "last", "-o", "/none/x.zip"], ["/none"]),
        (["import", "/none.json"], ["/none.json"]),
    ],
)
def test_what_is_wrong_is_told(
    arguments: list[str], parts: list[str], headrace: Command, small: Path
) -> None:
    run(headrace, small)
    refused(headrace("results", *arguments), *parts)


def test_wrong_labels_are_told_before_the_run(headrace: Command, small: Path) -> None:
    # A run of hours: it must not begin.
    long = ["run", small, "--set", "workload.0.files=100000000"]
    refused(headrace(*long, "--label", "disk"), '--label "disk"', "KEY=VALUE")
    refused(headrace(*long, "--label", "a=b", "--label", "a=c"), '"a" is given twice')
    refused(headrace(*long, "--label", "a=b", "--no-store"), "--no-store")
    refused(headrace("run", "results:zzz"), '"zzz"', "headrace results list")


def test_a_store_that_cannot_be_is_a_warning(
    headrace: Command, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    for wrong in ("/proc/store", str(tmp_path / "file"), "mysql://host/database"):
        monkeypatch.setenv("HEADRACE_STORE", wrong)
        saved = tmp_path / "r.json"
        ended = headrace("run", small, "--json", "-o", saved)
        assert ended.returncode == 0
        assert strict(ended.stdout)["seed"] == 1
        assert json.loads(saved.read_text())["seed"] == 1
        assert ended.stderr.startswith("warning: the result is not in the store: ")
        assert ended.stderr.count("\n") == 1
        saved.unlink()


def test_the_store_is_where_it_is_said(
    headrace: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert headrace("results", "path").stdout == f"{tmp_path / 'store'}\n"
    monkeypatch.setenv("HEADRACE_STORE", "postgresql://me:secret@host/results")
    assert headrace("results", "path").stdout == "postgresql://me@host/results\n"
    monkeypatch.setenv("HEADRACE_STORE", "")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert headrace("results", "path").stdout == f"{tmp_path}/data/headrace/store\n"


def test_help_imports_no_database() -> None:
    code = (
        "import sys\n"
        "from headrace.cli.app import run\n"
        "run(['run', '--help'])\n"
        "print(*sorted(sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = ended.stdout.split("\n")[-2].split()
    assert "headrace.store.errors" in loaded
    for module in ("sqlalchemy", "alembic", "sqlite3", "polars", "platformdirs"):
        assert module not in loaded


def test_a_run_needs_no_sqlalchemy(small: Path, headrace: Command) -> None:
    run(headrace, small)
    code = (
        "import sys\n"
        "from headrace.cli.app import run\n"
        f"run(['run', {str(small)!r}])\n"
        "assert 'sqlite3' in sys.modules\n"
        "assert 'sqlalchemy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert len(listed(headrace)) == 2


DIES = (
    "import os, signal\n"
    "from headrace.store import catalogue\n"
    "catalogue.insert = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
    "from headrace.cli import main; main()"
)


def test_a_run_that_is_killed_in_between_breaks_nothing(
    headrace: Command, small: Path, place: Path
) -> None:
    for before in (0, 1):
        command = [sys.executable, "-c", DIES, "run", str(small)]
        ended = subprocess.run(command, capture_output=True, check=False)
        assert ended.returncode == -signal.SIGKILL
        assert len(listed(headrace)) == before
        run(headrace, small)
        assert len(list((place / "tables").iterdir())) == 2 * before + 2


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_several_runs_at_once(
    database: str,
    small: Path,
    headrace: Command,
    place: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first of them all make the catalogue."""
    if database == "postgresql":
        monkeypatch.setenv("HEADRACE_STORE", request.getfixturevalue("postgresql"))
    command = [sys.executable, "-m", "headrace", "run", str(small), "--json"]
    count = 6
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(count)
    ]
    for process in processes:
        output, errors = process.communicate(timeout=120)
        assert (process.returncode, errors) == (0, "")
        strict(output)
    results = listed(headrace)
    assert len({entry["id"] for entry in results}) == count
    for entry in results:
        assert hr.load_result(f"results:{entry['id']}").series.height > 0
    if database == "sqlite":
        with contextlib.closing(sqlite3.connect(place / "catalogue.sqlite")) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
