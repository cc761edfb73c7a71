"""Options of the command line: former words, forms of values, the table of the reference."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer.main

from command import command
from conftest import MIX, ROOT, Command
from headrace.cli.app import app
from headrace.cli.former_options import FORMER
from headrace.commands.values import span

TYPES = re.compile(
    r"<(?i:float|int|str|bool|path|file|directory|list)\b|\b(?:FLOAT|INTEGER|RANGE)\b"
)


def commands(group: Any, path: tuple[str, ...] = ()) -> dict[str, Any]:
    inner = getattr(group, "commands", None)
    if not inner:
        return {" ".join(path): group}
    return {name: it for word in inner for name, it in commands(inner[word], (*path, word)).items()}


COMMANDS = commands(typer.main.get_command(app))


def words(command: Any) -> set[str]:
    return {word for it in command.params for word in (*it.opts, *it.secondary_opts)}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_no_types(name: str) -> None:
    command = COMMANDS[name]
    context = command.context_class(command, info_name=name)
    assert TYPES.findall(command.get_help(context)) == []
    for option in command.params:
        if option.param_type_name == "option" and option.metavar is None:
            assert option.is_flag or option.type_descriptor.choices, option.opts


def test_former_words_are_those_of_present_options() -> None:
    for name, renamed in FORMER.items():
        present = words(COMMANDS[name])
        assert renamed and not present & renamed.keys() and present >= set(renamed.values()), name


@pytest.mark.parametrize("name", FORMER)
def test_help_does_not_show_former_words(name: str, headrace: Command) -> None:
    shown = re.findall(r"(?<=\s)--[a-z-]+", headrace(*name.split(), "--help").stdout)
    assert not FORMER[name].keys() & set(shown)


def test_a_former_word_means_the_present_one(tmp_path: Path, headrace: Command) -> None:
    file = tmp_path / "mix.toml"
    file.write_text(f'name = "mix"\n{MIX}')
    common = ("bench", "mix", tmp_path, "--workload", file, "--rates", "100", "--no-store")
    ended = headrace(*common, "--time", "0.05", "--warm-up=0", "--repeats=2", "--repeats", "1")
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("headrace: --repeats is now --repetitions\n") == 1
    ended = headrace(*common, "--repeats", "0")
    assert ended.returncode == 2 and "'--repetitions'" in ended.stderr


def test_a_value_and_a_program_may_look_like_a_former_word(headrace: Command) -> None:
    ended = headrace("serve", "user", "list", "--data-directory", "--data")
    assert "is now" not in ended.stderr
    ended = headrace("profile", "record", "--pid", "1", "--", "true", "--seconds", "3")
    assert ended.returncode == 2 and "is now" not in ended.stderr


@pytest.mark.parametrize(
    ("text", "seconds"), [("30", 30), ("30 s", 30), ("5 min", 300), ("0.2 ms", 2e-4), ("1e2", 100)]
)
def test_times_have_one_grammar(text: str, seconds: float) -> None:
    assert span(0.0).read("--time", text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["soon", "nan", "inf", "-1", "5 furlongs", "", "70 s"])
def test_wrong_times_are_refused(text: str, headrace: Command) -> None:
    ended = headrace("agent", "start", "--interval", text)
    assert ended.returncode == 2
    assert f"'--interval': \"{text}\": expected" in ended.stderr and ended.stderr.count("\n") == 1


def test_seed_and_replications_of_a_run(small: Path, headrace: Command) -> None:
    given = headrace("run", small, "--seed", 7, "--replications", 2, "--json", "--no-store")
    fields = ("--set", "run.seed=7", "--set", "run.replications=2")
    assert re.sub(r'"wall[^,]*,', "", given.stdout) != "" and given.returncode == 0
    same = headrace("run", small, *fields, "--json", "--no-store")
    pattern = r'"throughput": [^,]*'
    assert re.findall(pattern, given.stdout) == re.findall(pattern, same.stdout) != []


def test_the_table_of_options_is_current() -> None:
    ended = subprocess.run(
        [sys.executable, ROOT / "tools/option_table.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (0, ""), ended.stdout


def completed(line: str, **environment: str) -> list[str]:
    """What bash offers for the last word of a line, as the installed function asks for it."""
    asked = {"_HEADRACE_COMPLETE": "complete_bash", "COMP_WORDS": line}
    ended = command(env=os.environ | asked | {"COMP_CWORD": str(line.count(" "))} | environment)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout.split()


def test_completion_of_words_from_tables() -> None:
    assert completed("headrace run x.toml --set run.st") == [
        "run.stop.confidence", "run.stop.precision", "run.stop.requests", "run.stop.time",
    ]  # fmt: skip
    assert "layout.unit" in completed("headrace sweep x.toml --vary layout.")
    assert completed("headrace optimise x.toml --on da") == ["dask"]
    assert "latency_p99" in completed("headrace sweep x.toml --figure latency")
    assert "lustre" in completed("headrace trace workload x --system l")
    assert "mpfs-benchmark" in completed("headrace bench mix /tmp --workload m")
    assert completed("headrace bench mix /tmp --calls io") == ["io-uring"]
    assert completed("headrace bench run x /tmp --rep") == ["--repetitions"]
    assert completed("headrace design check x --set ") == []


def test_completion_of_results(small: Path, headrace: Command, place: Path) -> None:
    assert completed("headrace results show ") == []
    assert headrace("run", small).returncode == 0
    last, identifier = completed("headrace results show ")
    assert last == "last" and headrace("results", "show", identifier).returncode == 0
    assert completed(f"headrace results show {identifier[:5]}") == [identifier]
    assert completed("headrace run res") == ["results:last", f"results:{identifier}"]
    # The shell completes names of files.
    assert completed("headrace run ") == []


def test_completion_without_a_readable_store(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    damaged.mkdir()
    (damaged / "catalogue.sqlite").write_text("no database")
    for store in (__file__, str(damaged), "postgresql://nowhere.invalid/x", "ftp://x"):
        assert completed("headrace results show ", HEADRACE_STORE=store) == []


def test_former_words_are_not_proposed(headrace: Command) -> None:
    result = headrace("whatif", "x.toml", "--b", "2")
    assert result.returncode == 2
    assert "--by" not in result.stderr
