"""Playback: frames of a run from the API and the command line."""

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import headrace as hr
from conftest import ROOT, SMALL, Command
from headrace.simulate import Playback, load_playback

SCENARIOS = ("leaf-spine", "nfs", "failed-server", "nguyen-random-write")
"""A network, a local file system under a server, failures, and a machine alone."""


def recorded(scenario: hr.Scenario, frames: int = 50) -> tuple[dict[str, Any], Playback]:
    result = hr.run(scenario, playback=frames)
    assert result.playback is not None
    return result.document, result.playback


def timeless(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != "wall_seconds"}


def test_frames_span_the_run_and_have_the_nodes_of_the_structure() -> None:
    scenario = hr.load(SMALL)
    document, playback = recorded(scenario)
    assert playback.structure == scenario.structure()
    assert 50 <= len(playback.time_s) <= 100
    assert playback.time_s[0] == 0
    assert playback.time_s[-1] == pytest.approx(document["simulated_seconds"], rel=1e-9)
    steps = np.diff(playback.time_s[:-1])
    assert steps == pytest.approx(steps[0])
    for name in ("tokens", "most_tokens", "queue", "most_queue", "busy", "busy_mean", "arrivals"):
        assert getattr(playback, name).shape == (len(playback.time_s), len(playback.nodes)), name
    assert playback.firings.shape == (len(playback.time_s), len(playback.transitions))


def test_work_and_arrivals_of_all_frames_are_those_of_the_report() -> None:
    document, playback = recorded(hr.load(SMALL))
    spans = np.diff(playback.time_s, prepend=0.0)
    worked = (playback.busy_mean * spans[:, None]).sum(axis=0)
    seen = 0
    for station in document["stations"]:
        if station["servers"] is None:
            continue
        node = playback.nodes.index(station["station"])
        servers = station["servers"] * station["copies"]
        used = worked[node] / (servers * document["simulated_seconds"])
        assert used == pytest.approx(station["utilisation"], rel=1e-6, abs=1e-9)
        seen += used > 0
    assert seen >= 2
    # What came to a place and did not leave it is there.
    assert (playback.tokens.astype(int) <= playback.arrivals.cumsum(axis=0)).all()


@pytest.mark.parametrize("name", SCENARIOS)
def test_recording_does_not_change_the_result(name: str) -> None:
    scenario = hr.load(ROOT / f"scenarios/{name}.toml", {"clients.count": 2})
    plain = hr.run(scenario)
    assert plain.playback is None
    for frames in (1, 30):
        result = hr.run(scenario, playback=frames)
        assert timeless(result.document) == timeless(plain.document)
        assert_frame_equal(result.series, plain.series)


def test_the_warm_up_is_recorded_too() -> None:
    scenario = hr.load(SMALL, {"run.warm_up": "5 ms"})
    document, playback = recorded(scenario)
    assert playback.time_s[0] == 0
    assert playback.time_s[-1] == pytest.approx(document["simulated_seconds"], rel=1e-9)
    assert (playback.busy_mean >= 0).all()


def test_a_saved_playback_is_the_same(tmp_path: Path) -> None:
    _, playback = recorded(hr.load(SMALL))
    playback.save(tmp_path / "run.parquet")
    loaded = load_playback(tmp_path / "run.parquet")
    assert loaded.structure == playback.structure
    assert_frame_equal(loaded.table(), playback.table())
    np.testing.assert_array_equal(loaded.firings, playback.firings)
    table = pl.read_parquet(tmp_path / "run.parquet")
    last = table.filter(pl.col("time_s") == table["time_s"].max(), kind="node")
    assert last["tokens"].to_list() == playback.tokens[-1].tolist()


@pytest.mark.parametrize("frames", [0, -1, 10**9])
def test_a_wrong_number_of_frames_is_refused(frames: int) -> None:
    with pytest.raises(ValueError, match="expected a number from 1"):
        hr.run(hr.load(SMALL), playback=frames)


def test_the_command_writes_frames_and_net_plays_them(
    headrace: Command, small: Path, tmp_path: Path
) -> None:
    frames, page = tmp_path / "run.parquet", tmp_path / "net.html"
    ended = headrace("run", small, "--playback", frames)
    assert ended.returncode == 0, ended.stderr
    assert str(frames) in ended.stdout
    assert load_playback(frames).structure == hr.load(small).structure()
    ended = headrace("net", small, "--playback", frames, "-o", page)
    assert ended.returncode == 0, ended.stderr
    written = page.read_text()
    assert "<headrace-net>" in written
    # It needs nothing from elsewhere.
    assert "src=" not in written and "href" not in written and "url(" not in written
    ended = headrace("net", small, "-o", tmp_path / "still.html")
    assert ended.returncode == 0, ended.stderr


def test_files_that_are_no_playback_of_the_scenario_are_refused(
    headrace: Command, small: Path, tmp_path: Path
) -> None:
    frames, page = tmp_path / "run.parquet", tmp_path / "net.html"
    assert headrace("run", small, "--playback", frames).returncode == 0
    requests, text = tmp_path / "requests.parquet", tmp_path / "text.parquet"
    assert headrace("run", small, "--requests", requests).returncode == 0
    text.write_text("no frames")
    for file, expected in (
        (requests, "it holds no playback: expected a file that headrace run --playback wrote"),
        (text, "expected a file that headrace run --playback wrote"),
        (tmp_path / "none.parquet", "none.parquet"),
    ):
        ended = headrace("net", small, "--playback", file, "-o", page)
        assert ended.returncode != 0
        assert expected in " ".join(ended.stderr.split()), ended.stderr
        assert "Traceback" not in ended.stderr
    other = ROOT / "scenarios/leaf-spine.toml"
    ended = headrace("net", other, "--playback", frames, "-o", page)
    assert ended.returncode != 0
    assert "of another net" in ended.stderr
    ended = headrace("net", small, "--playback", frames, "-o", tmp_path / "net.svg")
    assert ended.returncode != 0
    assert "a page that ends in .html" in " ".join(ended.stderr.split())
    assert not page.exists()


def test_no_flipped_bit_is_read(tmp_path: Path) -> None:
    file = tmp_path / "playback.parquet"
    _, playback = recorded(hr.load(SMALL), 3)
    playback.save(file)
    content = file.read_bytes()
    for position in range(0, len(content), 29):
        for bit in (0, 3, 7):
            damaged = bytearray(content)
            damaged[position] ^= 1 << bit
            file.write_bytes(damaged)
            with pytest.raises(ValueError, match="it is damaged|it holds no playback"):
                load_playback(file)


@pytest.mark.skipif(os.geteuid() != 0, reason="a small file system is mounted as root")
@pytest.mark.parametrize("size", ["4k", "8k", "12k", "16k"])
def test_a_full_disk_is_no_internal_error(size: str, tmp_path: Path, headrace: Command) -> None:
    """Where the disk ends within the columns or within the footer of the file."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
    mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        pytest.skip(f"cannot mount a file system: {mounted.stderr.strip()}")
    try:
        scenario = ROOT / "scenarios" / "pfssim-write-then-read.toml"
        for command in (
            ["run", scenario],
            ["net", "run", ROOT / "scenarios" / "nets" / "queue.toml", "--until", "100 s"],
        ):
            ended = headrace(*command, "--playback", disk / "p.parquet")
            if ended.returncode == 0:
                (disk / "p.parquet").unlink()
                continue
            assert ended.returncode == 1
            assert ended.stderr == f"{disk / 'p.parquet'}: no space left on device\n"
            assert list(disk.iterdir()) == []
    finally:
        subprocess.run(["umount", str(disk)], check=True)
