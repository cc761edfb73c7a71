"""Habits of a shell: pipes, `-`, narrow terminals, and terminals with few characters."""

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from command import command
from conftest import MIX, ROOT, Command
from headrace.cli import SIMILAR_CHARACTERS, _similar_character
from headrace.document_io import LARGEST_STREAM

HEADRACE = '"$0" -m headrace'


def shell(
    line: str, *arguments: object, content: str = "", env: dict[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    """Run a line of bash, in which `$0` is Python and `$1` the first argument."""
    return subprocess.run(
        ["bash", "-c", line, sys.executable, *map(str, arguments)],
        input=content,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=os.environ | (env or {}),
    )


@pytest.mark.parametrize(
    "line",
    [
        f"{HEADRACE} run - --json --no-store < $1",
        f"{HEADRACE} run /dev/stdin --json --no-store < $1",
        f"cat $1 | {HEADRACE} run /dev/stdin --json --no-store",
        f"{HEADRACE} run <(cat $1) --json --no-store",
        f"{HEADRACE} run - -o - --no-store < $1",
        f"{HEADRACE} run $1 -o - --no-store | {HEADRACE} run - --json --no-store",
        f"mkfifo $1.pipe; cat $1 > $1.pipe & {HEADRACE} run $1.pipe --json --no-store",
    ],
)
def test_a_scenario_from_a_pipe(line: str, small: Path, headrace: Command) -> None:
    piped = shell(line, small)
    assert (piped.returncode, piped.stderr) == (0, "")
    named = headrace("run", small, "--json", "--no-store")
    assert json.loads(piped.stdout)["throughput"] == json.loads(named.stdout)["throughput"]


@pytest.mark.parametrize(
    "arguments",
    [
        "explain -",
        "sweep - --vary clients.count=2,4 --no-store",
        "net draw - -o -",
        "bench run - $2 --time 0.1 --no-store",
        "bench mix $2 --workload - --rates 100 --time 0.05 --warm-up 0 --no-store",
    ],
)
def test_commands_read_standard_input(arguments: str, small: Path, tmp_path: Path) -> None:
    text = f'name = "mix"\n{MIX}' if "mix" in arguments else small.read_text()
    ended = shell(f"{HEADRACE} {arguments}", small, tmp_path, content=text)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout


def test_errors_name_standard_input(small: Path) -> None:
    ended = shell(f"{HEADRACE} run -", content="clients = 3\n")
    assert ended.returncode == 2
    assert ended.stderr.startswith("standard input:1:11: clients = 3: expected")
    ended = shell(f"{HEADRACE} run <(echo clients = 3)")
    assert ended.returncode == 2 and ended.stderr.startswith("pipe "), ended.stderr
    ended = shell(f"{HEADRACE} run /dev/zero")
    assert ended.returncode == 2 and ended.stderr.count("\n") == 1
    assert f"at most {LARGEST_STREAM >> 20} MiB" in ended.stderr


def test_a_worksheet_from_standard_input(tmp_path: Path, headrace: Command) -> None:
    assert headrace("design", "init", tmp_path / "w.toml").returncode == 0
    text = (tmp_path / "w.toml").read_text()
    piped = shell(f"{HEADRACE} design check -", content=text)
    named = headrace("design", "check", tmp_path / "w.toml")
    assert piped.returncode == named.returncode
    assert piped.stdout == named.stdout.replace("w: valid", "standard input: valid", 1)


def test_results_go_through_a_pipe(small: Path, headrace: Command, place: Path) -> None:
    assert headrace("run", small).returncode == 0
    archive = subprocess.run(
        [sys.executable, "-m", "headrace", "results", "export", "last", "-o", "-"],
        capture_output=True,
        check=True,
    ).stdout
    with zipfile.ZipFile(io.BytesIO(archive)) as there:
        assert "headrace-results.json" in there.namelist()
    moved = shell(
        f"{HEADRACE} results export last -o - | HEADRACE_STORE=$1 {HEADRACE} results import -",
        place.parent / "other",
    )
    assert (moved.returncode, moved.stderr) == (0, "")
    assert "1 result taken in" in moved.stdout
    printed = shell(
        f"{HEADRACE} run $2 -o - --no-store | HEADRACE_STORE=$1 {HEADRACE} results import -",
        place.parent / "third",
        small,
    )
    assert (printed.returncode, printed.stderr) == (0, ""), printed.stderr
    table = headrace("results", "export", "last", "-o", "-", "--format", "csv")
    assert table.stdout.startswith("id,kind,name,") and table.stderr == ""
    refused = headrace("results", "export", "last", "-o", place.parent / "x.zip", "--format", "csv")
    assert refused.returncode == 2 and "the output is CSV" in refused.stderr


def test_tables_obey_columns(small: Path) -> None:
    narrow = shell(f"{HEADRACE} run $1 --no-store", small, env={"COLUMNS": "60"})
    assert max(map(len, narrow.stdout.splitlines())) <= 60
    wide = shell(f"{HEADRACE} run $1 --no-store", small)
    assert max(map(len, wide.stdout.splitlines())) > 100


NARROW = 60
"""COLUMNS of the next test."""


@pytest.mark.parametrize(
    "arguments",
    [
        "bench clean DIR",
        "bench mix DIR --workload MIX --rates 100,200 --time 0.05 --warm-up 0 --no-store",
        "bench quick DIR --file-size 16MiB --time 0.05 --no-store",
        "bench run SCENARIO DIR --time 0.1 --no-store",
        "design capacity --disks 12 --nodes 4 --capacity 4TB --level raid6",
        "design catalogue",
        "design check WORKSHEET",
        "design cost --nodes 4 --node-price 4000 --disks 12 --capacity 4TB --disk-price 120"
        " --level raid6",
        "design growth --usable 20TB --growth 40% --years 5 --unit 16TB --node-price 3500"
        " --disks-price 3000",
        "design power --nodes 10 --amperes 5 --max-amperes 8 --voltage 120 --power-factor 0.9",
        "design recommend WORKSHEET",
        "design reliability --level raid6 --disks 8 --mttf 1000000h --mttr 24h",
        "design spares --disks 48 --shelves 3 --mttf 1000000h --restock 14d --probability 0.99",
        "net check NET --state-space",
        "net run NET",
        "optimise SCENARIO --vary clients.count=2,4 --vary layout.unit=64KiB,128KiB"
        " --maximise throughput",
        "presets",
        "results check",
        "results list",
        "results show last",
        "run SCENARIO --no-store",
        "sweep SCENARIO --vary clients.count=2,4 --vary layout.unit=64KiB,128KiB --no-store",
        "trace findings TRACE",
        "trace info --full TRACE",
        "whatif SCENARIO",
    ],
)
def test_every_table_obeys_columns(
    arguments: str, small: Path, tmp_path: Path, place: Path
) -> None:
    scenario, mix = tmp_path / "long.toml", tmp_path / "mix.toml"
    name = "a long name of a scenario " * 3
    scenario.write_text(small.read_text().replace('name = "small"', f'name = "{name}"'))
    mix.write_text(f'name = "mix"\n{MIX}')
    trace = tmp_path / "trace.csv"
    places = {
        "DIR": tmp_path,
        "MIX": mix,
        "NET": ROOT / "scenarios/nets/philosophers.toml",
        "SCENARIO": scenario,
        "TRACE": trace,
        "WORKSHEET": ROOT / "scenarios/design/hpc.toml",
    }
    if "TRACE" in arguments:
        command("trace", "synth", trace)
    if "results" in arguments:
        command("run", scenario, "--label", "purpose=a long text of a label")
    words = [places.get(word, word) for word in arguments.split()]
    ended = command(*words, env=os.environ | {"COLUMNS": str(NARROW)})
    assert ended.returncode == ("--state-space" in words), ended.stderr
    lines = ended.stdout.splitlines()
    assert lines and [line for line in lines if len(line) > NARROW] == []


@pytest.mark.parametrize("arguments", ["run $1 --no-store", "presets", "explain $1", "run --help"])
def test_terminals_with_few_characters(arguments: str, small: Path) -> None:
    few = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for env in ({"LC_ALL": "C"}, few, few | {"PYTHONIOENCODING": "ascii"}):
        ended = shell(f"{HEADRACE} {arguments}", small, env=env)
        assert (ended.returncode, ended.stderr) == (0, "")
        assert ended.stdout.isascii() and "?" not in ended.stdout.replace("??", "")


@pytest.mark.parametrize(
    ("locale", "is_ascii"),
    [
        ("", True),
        ("LANG=C", True),
        ("LANG=POSIX", True),
        ("LC_CTYPE=C LANG=C.UTF-8", True),
        ("LC_ALL=POSIX LC_CTYPE=C.UTF-8 LANG=C.UTF-8", True),
        ("LC_ALL= LC_CTYPE= LANG=C", True),
        ("PYTHONUTF8=0 LANG=C", True),
        ("LANG=C.UTF-8", False),
        ("LANG=en_US.UTF-8", False),
        ("LC_CTYPE=C.UTF-8 LANG=C", False),
        ("LC_ALL=C.UTF-8 LANG=C", False),
        ("LC_ALL=C PYTHONUTF8=1", False),
        ("LC_ALL=C PYTHONIOENCODING=utf-8", False),
    ],
)
def test_locales(locale: str, is_ascii: bool, small: Path) -> None:
    line = f"env -u LC_ALL -u LC_CTYPE -u LANG {locale} {HEADRACE} run $1 --no-store"
    ended = shell(line, small)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.isascii() == is_ascii
    assert ("-" if is_ascii else "─") * 20 in ended.stdout


@pytest.mark.parametrize("form", ["--toml", "--json"])
def test_documents_are_utf8_in_every_locale(form: str, tmp_path: Path) -> None:
    ascii_locale = {"LC_ALL": "C"}
    catalogue = tmp_path / "catalogue.toml"
    shipped = shell(f"{HEADRACE} design catalogue --toml", env=ascii_locale)
    text = shipped.stdout.replace('name = "example 2026"', 'name = "Ångström µ"')
    catalogue.write_text(text, encoding="utf-8")
    ended = shell(f"{HEADRACE} design catalogue $1 {form}", catalogue, env=ascii_locale)
    assert ended.returncode == 0, ended.stderr
    assert "Ångström µ" in ended.stdout


def test_similar_characters() -> None:
    assert "".join(map(_similar_character, "12 µs ± 1 é")) == "12 us +- 1 e"
    assert all(it.isascii() for it in SIMILAR_CHARACTERS.values())


def test_a_reader_that_has_gone(small: Path) -> None:
    gone = shell(f"{HEADRACE} explain $1 | true; echo ${{PIPESTATUS[0]}} >&2", small)
    assert gone.stderr in ("0\n", "1\n")
