"""Micro-benchmarks: points in turn, medians over repeats."""

import io
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.console import Console

import headrace as hr
from command import command, without_need
from headrace.commands.sizes import counts, size, sizes
from headrace.kinds import blocks
from headrace.measure import micro
from headrace.measure.micro.study import Figure
from headrace.quantities import short_size
from headrace.render.terminal import rendered


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return command("bench", *arguments)


SMALL = 256 << 10
STUDIES = [
    micro.sweep([SMALL], [4096, SMALL]),
    micro.blocks(SMALL, [4096, 65536]),
    micro.clients([1, 3], SMALL, 65536),
    micro.metadata([1, 2], 20, size=100),
    micro.disk(SMALL, seeks=10, names=20),
    micro.copy_file(SMALL, 65536),
]


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_every_byte_of_every_point_is_measured_in_each_repeat(
    study: micro.Study, tmp_path: Path
) -> None:
    result = micro.run_study(study, tmp_path, repeats=2)
    tests = sum(len(point.tests) for point in study.points)
    assert result.rows.height == 2 * tests
    assert len(result.document["summary"]) == tests
    for row in result.rows.iter_rows(named=True):
        assert row["seconds"] > 0
        assert row["operations"] > 0
        if row["unit"] == "throughput":
            processes = row.get("processes", 1)
            assert row["bytes"] == SMALL * processes, row
    for it in result.document["summary"]:
        assert it["least"] <= it["median"] <= it["most"]
        assert it["repeats"] == 2
    assert list(tmp_path.iterdir()) == []
    json.dumps(result.document, allow_nan=False)


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_every_point_can_be_simulated_as_it_was_measured(study: micro.Study) -> None:
    machine = 'system = "ext4"\n[machine.memory]\nsize = "64 MiB"\n[machine.device]\n'
    device = 'read_rate = "100 MB/s"\nwrite_rate = "100 MB/s"\n'
    for point in study.points[:4]:
        result = hr.run(hr.load(machine + device + point.scenario))
        moved = result.document["operations"]
        for test in point.tests:
            assert test.operation in moved


def test_a_throughput_is_over_the_slowest_process_and_the_sync_behind_it(tmp_path: Path) -> None:
    point = micro.clients([2], SMALL, 65536).points[0]
    assert point.tests == [Figure("write", 0, "write", until=(1, "sync"))]


def test_what_memory_may_have_answered_is_marked(tmp_path: Path) -> None:
    result = micro.run_study(micro.sweep([SMALL], [65536]), tmp_path, repeats=1)
    assert all(it["in_memory"] for it in result.document["summary"])
    cold = micro.run_study(micro.blocks(SMALL, [65536]), tmp_path, repeats=1)
    assert not any(it["in_memory"] for it in cold.document["summary"])


def test_the_command_prints_draws_and_keeps(tmp_path: Path) -> None:
    below, plots = tmp_path / "below", tmp_path / "plots"
    below.mkdir()
    arguments = ["--file-size", "256k", "--block-sizes", "4k-16k", "--repetitions", "1"]
    done = bench("blocks", str(below), *arguments, "--json", "--plot", str(plots))
    assert (done.returncode, without_need(done.stderr)) == (0, "")
    document = json.loads(done.stdout)
    assert [it["block"] for it in document["summary"] if it["test"] == "read"] == [
        4096,
        8192,
        16384,
    ]
    assert (plots / "blocks.png").stat().st_size > 10_000
    kept = hr.store.open().list(name="bench blocks")
    assert kept.height >= 1
    table = bench(
        "sweep", str(below), "--file-sizes", "64k", "--block-sizes", "4k,64k", "--repetitions", "1"
    )
    assert "strided read MB/s" in table.stdout and "*" in table.stdout
    assert list(below.iterdir()) == []


def test_what_has_no_effect_on_a_copy_is_refused(tmp_path: Path) -> None:
    for arguments, expected in (
        (["--files", "3"], "--files: needs --tree"),
        (["--size-set", "small"], "--size-set: needs --tree"),
        (["--tree", "--file-size", "1 MiB"], "expected --size-set in its place"),
    ):
        done = bench("copy", str(tmp_path), *arguments)
        assert done.returncode == 2 and expected in done.stderr
        assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_bad_sizes_are_one_clear_error(tmp_path: Path) -> None:
    for argument in (
        ["--file-size", "64 furlongs"],
        ["--block-sizes", "8m-4k"],
        ["--repetitions", "0"],
    ):
        done = bench("blocks", str(tmp_path), *argument)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1, done.stderr


def test_sizes_and_counts_on_the_command_line() -> None:
    assert size("64 KiB") == size("64k") == 65536
    assert size("1 GB") == 10**9
    assert sizes("4k-16k,1m") == [4096, 8192, 16384, 1 << 20]
    assert counts("1-8,6") == [1, 2, 4, 8, 6]
    wrong: list[Any] = [(size, "0"), (size, "-1"), (sizes, ""), (counts, "0"), (counts, "8-1")]
    for parse, text in wrong:
        with pytest.raises(typer.BadParameter):
            parse(text)


def test_a_tree_is_copied_file_by_file(tmp_path: Path) -> None:
    done = bench(
        *("copy", str(tmp_path), "--tree", "--directories", "2", "--files", "20"),
        *("--size-set", "small", "--repetitions", "1", "--no-store", "--json"),
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    tests = {it["test"]: it for it in document["summary"]}
    assert set(tests) == {"copy", "files"}
    assert all(it["median"] > 0 for it in tests.values())
    assert list(tmp_path.iterdir()) == []


def test_a_tree_is_simulated_as_it_is_measured(tmp_path: Path) -> None:
    study = micro.copy_tree(2, 20, "small", 131072)
    (point,) = study.points
    measured = hr.measure.measure(hr.measure.load(point.scenario), tmp_path).document
    machine = 'system = "ext4"\n[machine.memory]\nsize = "64 MiB"\n[machine.device]\n'
    device = 'read_rate = "100 MB/s"\nwrite_rate = "100 MB/s"\n'
    simulated = hr.run(hr.load(machine + device + point.scenario)).document
    assert measured["operations"]["write"]["bytes"] == measured["operations"]["read"]["bytes"]
    for operation in ("read", "write"):
        ours, theirs = (it["operations"][operation] for it in (measured, simulated))
        assert (ours["count"], ours["bytes"]) == (theirs["count"], theirs["bytes"])
    # What a simulation does not tell apart costs the same there.
    assert simulated["operations"]["create"]["count"] == 40
    assert simulated["operations"]["mkdir"]["count"] == 2


def test_characters_are_written_and_read_one_by_one() -> None:
    write, read = micro.disk(SMALL).points[:2]
    for point in (write, read):
        assert 'transfer = "1 B"' in point.scenario
        assert 'io.interface = "library"' in point.scenario


def test_a_study_of_one_point_has_a_row_for_each_figure(tmp_path: Path) -> None:
    result = micro.run_study(micro.disk(64 << 10, seeks=10, names=20), tmp_path, repeats=1)
    console = Console(width=100, file=io.StringIO())
    with console.capture() as captured:
        console.print(rendered(blocks("study", result.document)))
    text = captured.get()
    rows = [line for line in text.splitlines() if line.startswith(" block write ")]
    assert len(rows) == 1 and len(rows[0].split()) == 4
    figures = {it["test"]: it for it in result.document["summary"]}
    assert all(it["cpu"] >= 0 for it in figures.values())
    assert all(f" {name} " in text for name in figures)
    assert max(map(len, text.splitlines())) <= 100
    assert "reads may come from the page cache" in text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ("blocks", "--file-size", "100 MB"),
            'expected whole blocks, such as --file-size "96 MiB"',
        ),
        (("blocks", "--file-size", "100000", "--block-sizes", "4k"), '--file-size "96 KiB"'),
        (("clients", "--file-size", "3 MiB", "--block-size", "2 MiB"), '--file-size "4 MiB"'),
        (
            ("disk", "--file-size", "100 MB"),
            "--file-size 100 MB: not a multiple of the block size 8 KiB",
        ),
    ],
)
def test_a_file_of_parts_of_blocks_is_named_by_its_option(
    arguments: tuple[str, ...], expected: str, tmp_path: Path
) -> None:
    command, *options = arguments
    done = bench(command, str(tmp_path), *options, "--no-store")
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr and "workload" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_sizes_of_many_digits_are_rounded() -> None:
    assert short_size(100 * 10**12) == "100 TB" and short_size(64 << 10) == "64 KiB"
    assert short_size(5000 << 10) == "5000 KiB" and short_size(0) == "0 B"
