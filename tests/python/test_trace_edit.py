"""Traces that are cut, scaled and anonymised: properties of any trace, and the real commands."""

import csv
import json
import os
import tempfile
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command import command
from headrace._core import TRACE_OPERATIONS
from headrace.trace import (
    Selection,
    anonymise_trace,
    cut_trace,
    factor,
    frame,
    open_trace,
    scale_trace,
)

TRACES = Path(__file__).parents[1] / "data" / "traces"
HEADER = ["time", "process", "operation", "file", "offset", "size", "duration", "flags", "other"]

component = st.text(
    st.characters(codec="utf-8", exclude_characters="/\0"),
    min_size=1,
    max_size=6,
).filter(lambda it: it not in (".", ".."))
names = st.lists(component, min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))
record = st.tuples(
    st.integers(0, 10**12),
    st.sampled_from(["1", "2", "main thread"]),
    st.sampled_from([it for it in TRACE_OPERATIONS if it not in ("link", "rename", "symlink")]),
    names,
    st.integers(0, 2**40),
    st.integers(0, 2**30),
    st.integers(0, 10**9),
)
traces = st.lists(record, min_size=1, max_size=30).map(lambda them: sorted(them))


def _written(folder: str, rows: list[tuple[int, str, str, str, int, int, int]]) -> Path:
    path = Path(folder) / "in.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        file.write(",".join(HEADER) + "\n")
        # Quoted: csv does not see that a carriage return needs it.
        out = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        for time, process, operation, name, offset, size, duration in rows:
            seconds = [f"{it // 10**9}.{it % 10**9:09}" for it in (time, duration)]
            out.writerow([seconds[0], process, operation, name, offset, size, seconds[1], "", ""])
    return path


@settings(max_examples=30)
@given(traces, st.integers(0, 1000), st.integers(1, 1000))
def test_a_cut_keeps_what_starts_within_it(
    rows: list[tuple[int, str, str, str, int, int, int]], begin: int, length: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source, target = _written(folder, rows), Path(folder) / "out.csv"
        whole = frame(open_trace(source))
        made, left_out = cut_trace(source, target, Selection(begin, begin + length))
        kept = frame(open_trace(target))
        assert made.records + left_out == whole.height
        within = pl.col("time_ns").is_between(begin * 10**9, (begin + length) * 10**9, "left")
        expected = whole.filter(within).with_columns(pl.col("time_ns") - begin * 10**9)
        assert kept.equals(expected)


@settings(max_examples=30)
@given(traces, st.sampled_from(["1", "2", "main*", "*"]), st.sampled_from(TRACE_OPERATIONS))
def test_cuts_by_process_and_operation_divide_a_trace(
    rows: list[tuple[int, str, str, str, int, int, int]], process: str, operation: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source, target = _written(folder, rows), Path(folder) / "out.parquet"
        whole = frame(open_trace(source))
        cut_trace(source, target, Selection(processes=(process,), operations=(operation,)))
        kept = frame(open_trace(target))
        chosen = whole.filter(
            (pl.col("operation") == operation)
            & (pl.lit(process == "*") | pl.col("process").str.starts_with(process.rstrip("*")))
        )
        assert kept.equals(chosen)


def test_a_cut_by_file_keeps_renames_from_and_to_it(tmp_path: Path) -> None:
    source = TRACES / "git.strace"
    whole = frame(open_trace(source))
    cut_trace(source, tmp_path / "out.csv", Selection(files=("*/HEAD*",)))
    kept = frame(open_trace(tmp_path / "out.csv"))
    matches = pl.any_horizontal(pl.col("file", "other").str.contains("/HEAD"))
    assert kept.equals(whole.filter(matches))
    assert kept.filter(pl.col("operation") == "rename").height


@settings(max_examples=30)
@given(traces, st.sampled_from(["1/2", "3", "0.1", "1"]), st.sampled_from(["1/3", "2", "1.5"]))
def test_scaling_keeps_counts_order_and_consecutive_requests(
    rows: list[tuple[int, str, str, str, int, int, int]], time: str, size: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source, target = _written(folder, rows), Path(folder) / "out.csv"
        before = frame(open_trace(source))
        scale_trace(source, target, time=factor(time), size=factor(size))
        after = frame(open_trace(target))
        same = ["process", "operation", "file", "duration_ns", "flags", "other"]
        assert after.select(same).equals(before.select(same))
        for old, new in zip(before.rows(named=True), after.rows(named=True), strict=True):
            assert new["time_ns"] == int(old["time_ns"] * Fraction(time))
            assert new["offset"] == int(old["offset"] * Fraction(size))
            end = int((old["offset"] + old["size"]) * Fraction(size))
            moves = old["operation"] in ("read", "write") and old["size"] > 0
            assert new["size"] == max(end - new["offset"], int(moves))


def test_numbers_near_the_largest_do_not_wrap(tmp_path: Path) -> None:
    most = 2**64 - 1
    rows = [(0, "1", "lock", "/a", 2**63, most - 2**63, 0), (1, "1", "read", "/a", most, 0, 0)]
    source = _written(str(tmp_path), rows)
    scale_trace(source, tmp_path / "out.csv", size=Fraction(3))
    after = frame(open_trace(tmp_path / "out.csv"))
    assert after["offset"].to_list() == [most, most]
    scale_trace(source, tmp_path / "half.csv", size=Fraction(1, 2))
    assert frame(open_trace(tmp_path / "half.csv"))["offset"].to_list() == [2**62, most // 2]


@pytest.mark.parametrize("shared", [False, True])
def test_copies_have_names_of_their_own(tmp_path: Path, shared: bool) -> None:
    source = TRACES / "git.strace"
    before = frame(open_trace(source))
    scale_trace(source, tmp_path / "out.parquet", copies=3, shared=shared)
    after = frame(open_trace(tmp_path / "out.parquet"))
    assert after.height == 3 * before.height
    processes, files = before["process"].n_unique(), before["file"].n_unique()
    assert after["process"].n_unique() == 3 * processes
    assert after["file"].n_unique() == (files if shared else 3 * files)
    second = after.filter(pl.col("process").str.ends_with("+1"))
    prefix = "" if shared else "/copy-1"
    unnamed = second.with_columns(
        pl.col("process").str.strip_suffix("+1"),
        pl.col("file", "other").str.strip_prefix(prefix),
    )
    # Relative names get no leading /.
    unnamed = unnamed.with_columns(pl.col("file", "other").str.strip_prefix("copy-1/"))
    assert unnamed.equals(before)
    assert after.filter(~pl.col("process").str.contains(r"\+")).equals(before)


@settings(max_examples=30)
@given(traces, st.booleans())
def test_anonymous_names_keep_the_tree(
    rows: list[tuple[int, str, str, str, int, int, int]], keep_extensions: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source, target = _written(folder, rows), Path(folder) / "out.csv"
        before = frame(open_trace(source))
        anonymise_trace(source, target, "key", keep_extensions=keep_extensions)
        after = frame(open_trace(target))
        hidden = ["process", "file"]
        assert after.drop(hidden).equals(before.drop(hidden))
        for column in hidden:
            pairs = set(zip(before[column], after[column], strict=True))
            # One new name for each old one, and the reverse.
            assert len(pairs) == before[column].n_unique() == after[column].n_unique()
        new = {
            old: made
            for before_name, after_name in zip(before["file"], after["file"], strict=True)
            for old, made in zip(before_name.split("/"), after_name.split("/"), strict=True)
        }
        assert len(set(new.values())) == len(new)


def test_the_same_key_gives_the_same_names(tmp_path: Path) -> None:
    source = TRACES / "untar.strace"
    made = [tmp_path / f"{number}.csv" for number in range(3)]
    for target, key in zip(made, ("one", "one", "two"), strict=True):
        anonymise_trace(source, target, key, keep_extensions=True)
    assert made[0].read_bytes() == made[1].read_bytes() != made[2].read_bytes()
    extensions = [Path(it).suffix for it in frame(open_trace(made[0]))["file"]]
    assert extensions == [Path(it).suffix for it in frame(open_trace(source))["file"]]
    text = made[0].read_text()
    assert not any(word in text for word in ("src", "sources", "/usr", "libc"))


def test_skipped_lines_of_an_anonymous_trace_have_no_texts(tmp_path: Path) -> None:
    done = command(
        *("trace", "anonymise", TRACES / "tar.strace", tmp_path / "out.csv", "--key", "k", "--json")
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["records"] == 464
    assert document["skipped"]
    assert {it["text"] for kind in document["skipped"] for it in kind["examples"]} == {""}


def test_a_key_may_come_from_the_environment(tmp_path: Path) -> None:
    source = TRACES / "log.csv"
    command("trace", "anonymise", source, tmp_path / "a.csv", "--key", "secret")
    environment = {**os.environ, "HEADRACE_TRACE_KEY": "secret"}
    command("trace", "anonymise", source, tmp_path / "b.csv", env=environment)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_convert_and_import_are_the_same(tmp_path: Path) -> None:
    for verb in ("convert", "import"):
        done = command("trace", verb, TRACES / "tar.strace", tmp_path / f"{verb}.csv", "--json")
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        assert document["records"] == 464
        assert {it["name"] for it in document["skipped"]} >= {"mmap"}
    assert (tmp_path / "convert.csv").read_bytes() == (tmp_path / "import.csv").read_bytes()


@pytest.mark.parametrize("timed", [False, True])
def test_a_replay_makes_the_calls_and_leaves_nothing(tmp_path: Path, timed: bool) -> None:
    options = ["--timed", "--time-factor", "0.5"] if timed else []
    done = command("trace", "replay", TRACES / "sqlite.strace", tmp_path, "--json", *options)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["kind"] == "measured"
    recorded = frame(open_trace(TRACES / "sqlite.strace"))
    syncs = recorded.filter(pl.col("operation") == "sync").height
    assert document["operations"]["sync"]["count"] == syncs
    assert list(tmp_path.iterdir()) == []


UNTIMED = 'read(3</a>, "", 10) = 10\n'


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["cut", "{log}", "{out}"], "no condition is given: expected --from"),
        (["cut", "{log}", "{out}", "--from", "2", "--to", "1"], "--to 1.0: expected more than"),
        (["cut", "{log}", "{out}", "--from", "-1"], '"-1": expected 0 s to'),
        (["cut", "{log}", "{out}", "--from", "nan"], '"nan": expected a time such as'),
        (["cut", "{log}", "{out}", "--operations", "reed"], 'operation "reed": expected one of'),
        (["cut", "{log}", "{log}", "--to", "1"], "is the source itself: expected another file"),
        (["cut", "{untimed}", "{out}", "--to", "1"], "the trace has no times"),
        (["scale", "{untimed}", "{out}", "--time-factor", "2"], "the trace has no times"),
        (
            ["scale", "{log}", "{out}", "--time-factor", "0"],
            '--time-factor "0": expected a positive number',
        ),
        (
            ["scale", "{log}", "{out}", "--size-factor", "x"],
            '--size-factor "x": expected a number such as',
        ),
        (
            ["scale", "{log}", "{out}", "--size-factor", "1/0"],
            '--size-factor "1/0": expected a number such as',
        ),
        (["scale", "{log}", "{out}", "--process-copies", "0"], "--process-copies 0: expected 1 to"),
        (["anonymise", "{log}", "{out}", "--key", ""], "the key is empty"),
        (["convert", "{log}", "{out}.xyz"], "expected"),
        (
            [
                "replay",
                str(TRACES / "sqlite.strace"),
                "{folder}",
                "--timed",
                "--time-factor",
                "inf",
            ],
            "--time-factor inf: expected a finite factor",
        ),
        (["replay", "-", "{folder}"], "expected a file"),
        (["replay", "{folder}/none", "{folder}"], "no such file or directory"),
        (["replay", "{untimed}", "{folder}", "--timed"], "time"),
        (
            ["replay", "{log}", "{folder}", "--time-factor", "2"],
            "--time-factor 2.0: expected --timed with it",
        ),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, arguments: list[str], problem: str) -> None:
    untimed = tmp_path / "untimed.strace"
    untimed.write_text(UNTIMED)
    names = {
        "log": TRACES / "log.csv",
        "untimed": untimed,
        "out": tmp_path / "out.csv",
        "folder": tmp_path,
    }
    done = command("trace", *(it.format(**names) for it in arguments))
    assert done.returncode == 2
    assert done.stdout == ""
    assert problem in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert sorted(it.name for it in tmp_path.iterdir()) == ["untimed.strace"]
