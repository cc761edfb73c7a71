"""Benchmarks state their space and time, keep to a limit, and end at a full disk with what they
have."""

import json
import os
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command import without_need
from conftest import Command
from headrace import measure
from headrace.measure.space import (
    Need,
    SpaceLimit,
    limited_space,
    parse_space_limit,
    set_space_limit,
)
from headrace.measure.workload import load

MIX = """
[clients]
processes = 2
[[workload]]
kind = "operation-mix"
weights = { read = 1, write = 1, stat = 1 }
amount = "forever"
files = 20
file_sizes = { "64 KiB" = 1 }
[run]
stop.time = "0.2 s"
"""


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 MB in memory."""
    if os.geteuid() != 0:
        pytest.skip("mounts need root")
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "small", str(place)])
    if mounted.returncode:
        pytest.skip("mounts are not allowed")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_limits_are_parts_or_sizes() -> None:
    assert parse_space_limit("25 %") == SpaceLimit(0.25)
    assert parse_space_limit("2 GB") == SpaceLimit(1.0, 2_000_000_000)
    assert parse_space_limit("100%").allowed(1000) == 1000
    assert SpaceLimit(1.0, 500).allowed(100) == 100
    for wrong in ("0 %", "101 %", "2", "-3 MB", "", "nan %", "1e400 %"):
        with pytest.raises(ValueError, match='such as "25 %" or "2 GB"'):
            parse_space_limit(wrong)


def test_the_need_is_that_of_the_largest_step_and_the_time_of_all() -> None:
    step = load(MIX)
    # 20 files of 64 KiB; half a second of two limits, and the files at the declared rates.
    need = Need.of([step, step])
    assert (need.bytes, need.names) == (20 * 65536, 20)
    assert need.seconds == pytest.approx(2 * (0.2 + 20 * 65536 / 100e6 + 20 / 1000))


def test_a_benchmark_states_its_need_and_keeps_to_the_limit(
    tmp_path: Path, headrace: Command
) -> None:
    scenario = tmp_path / "mix.toml"
    scenario.write_text(MIX)
    run = ("bench", "run", scenario, tmp_path, "--no-store")
    done = headrace(*run)
    assert (done.returncode, without_need(done.stderr)) == (0, "")
    assert "up to 1.31 MB in 20 files, of " in done.stderr
    assert " allowed (50 % of the free space; --space); about 233.1 ms, with " in done.stderr
    done = headrace(*run, "--space", "10 MB", "--set", "workload.0.files=1")
    assert done.returncode == 0, done.stderr
    assert "up to 65.54 kB in 1 file, of 10 MB allowed (10 MB; --space)" in done.stderr
    refused = headrace(*run, "--space", "1 MB")
    assert refused.returncode == 2 and "(--space)" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    wrong = headrace(*run, "--space", "much")
    assert wrong.returncode == 2 and wrong.stderr.startswith('--space "much": expected')


def test_a_search_ends_at_the_space_that_it_may_take(tmp_path: Path, headrace: Command) -> None:
    # 10 MB for each operation a second: 2 operations/s fit, 4 do not.
    ended = headrace(
        *("bench", "mix", tmp_path, "--start", "1", "--time", "0.5", "--warm-up", "0"),
        *("--space", "35 MB", "--no-store", "--json", "--response-limit", "1e9"),
    )
    assert ended.returncode in (0, 2), ended.stderr
    if ended.returncode == 0:
        document = json.loads(ended.stdout)
        rates = [it["requested_per_second"] for it in document["steps"]]
        assert max(rates) <= 2
        if 2.0 in rates:
            assert any(it["condition"] == "no-room" for it in document["warnings"])


def test_a_full_disk_ends_a_sweep_with_its_finished_steps(small: Path) -> None:
    def fill(_: object) -> None:
        with (small / "filler").open("wb") as filler:
            for _ in range(64):
                try:
                    filler.write(bytes(1 << 20))
                    filler.flush()
                except OSError:
                    return

    def at_processes(count: int) -> measure.workload.Loaded:  # type: ignore[name-defined]
        # More and larger files for each step.
        return load(
            MIX.replace("files = 20", f"files = {100 * count}"), {"clients.processes": count}
        )

    with limited_space(SpaceLimit(1.0)):
        swept = measure.client_sweep(at_processes, small, [1, 2, 4], warm_up=0.0, so_far=fill)
    assert swept.document["stop"]["reason"] == "failed"
    assert "2 processes" in swept.document["stop"]["error"]
    assert [it["processes"] for it in swept.document["steps"]] == [1]
    assert list(small.iterdir()) == [small / "filler"]


def test_finished_steps_are_saved_at_once(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, headrace: Command
) -> None:
    from headrace.cli.bench.resume import Saver

    monkeypatch.setenv("HEADRACE_STORE", str(tmp_path / "store"))
    seen: list[Any] = []

    def so_far(result: measure.LoadSweep) -> None:
        saver(result)
        seen.extend((tmp_path / "store" / "unfinished").iterdir())

    saver = Saver(None, stored=True)
    swept = measure.client_sweep(
        lambda count: load(MIX, {"clients.processes": count}),
        small,
        [1, 2],
        warm_up=0.0,
        so_far=so_far,
    )
    assert len(set(seen)) == 1 and seen[0].exists()
    saved = json.loads(seen[0].read_text())
    assert len(saved["steps"]) == 2 == len(swept.document["steps"])
    saver.discard()
    assert not seen[0].exists()


def test_progress_counts_the_files_being_made(tmp_path: Path) -> None:
    made: list[tuple[int, int]] = []

    def progress(live: measure.Live) -> None:
        if live.preparing:
            made.append(live.prepared)

    measure.measure(load(MIX.replace("files = 20", "files = 3000")), tmp_path, progress=progress)
    assert made and all(done <= every for done, every in made)
    assert any(every == 3000 for _, every in made)


def test_statements_name_the_benchmark(tmp_path: Path) -> None:
    stated: list[str] = []
    set_space_limit(SpaceLimit(), stated.append)
    try:
        measure.load_sweep(lambda rate: load(tomllib_mix(rate)), tmp_path, rates=[50.0, 100.0])
    finally:
        set_space_limit(SpaceLimit(), lambda _text: None)
    assert len(stated) == 1 and stated[0].startswith("2 loads: up to 1.31 MB in 20 files, of ")


def tomllib_mix(rate: float) -> str:
    text = MIX.replace('amount = "forever"', f'amount = "forever"\nrate = {rate}')
    assert tomllib.loads(text)
    return text
