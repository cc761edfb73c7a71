"""Published traces through the real command: read, converted, and replayed on less space."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command import command
from headrace.trace import frame, open_trace

ALIBABA = """\
64,W,1073741824,16384,1577808000000500
7,R,4096,4096,1577808000000600
64,R,1099511627776,4096,1577808001000500
"""
MSR = """\
Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime
128166372003061629,usr,0,Write,4096,8192,41286
128166372003161629,usr,0,Read,107374182400,4096,1000
128166372003261629,usr,0,Read,107374190592,4096,1000
"""


def _json(*arguments: object) -> Any:
    done = command(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    if os.geteuid() != 0:
        pytest.skip("mounting a tmpfs takes root")
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.iolog", "t.blkparse"])
@pytest.mark.parametrize("is_there", [False, True])
def test_a_full_disk_leaves_the_target_as_it_was(small: Path, name: str, is_there: bool) -> None:
    target = small / name
    if is_there:
        target.write_text("old")
    source = small.parent / "source.csv"
    rows = (
        f"{it}.{it % 997:03},p{it * 7919},write,/f{it},{it * 4096},4096,0.5" for it in range(9000)
    )
    header = "time,process,operation,file,offset,size,duration"
    source.write_text("\n".join([header, *rows]) + "\n")
    done = command("trace", "convert", source, target)
    assert done.returncode == 1
    assert done.stderr.lower() == f"{target}: no space left on device\n".lower()
    assert done.stdout == ""
    assert [it.name for it in small.iterdir()] == ([name] if is_there else [])
    if is_there:
        assert target.read_text() == "old"


def test_durations_that_a_trace_does_not_tell_are_absent(tmp_path: Path) -> None:
    source, target = tmp_path / "alibaba.csv", tmp_path / "t.csv"
    source.write_text(ALIBABA)
    summary = _json("trace", "info", source)["summary"]
    assert (summary["bytes_written"], summary["bytes_read"]) == (16_384, 8192)
    assert summary["span_seconds"] == 1.0
    for total in summary["operations"]:
        assert (total["seconds"], total["without_duration"]) == (None, total["count"])
    shown = command("trace", "info", source).stdout
    row = next(it for it in shown.splitlines() if it.split()[:1] == ["write"])
    assert row.split() == ["write", "1", "16.38", "kB"]
    full = _json("trace", "info", source, "--full")["characteristics"]
    assert {it["time_s"] for it in full["operations"]} == {None}
    assert command("trace", "info", source, "--full").returncode == 0
    _json("trace", "convert", source, target)
    rows = target.read_text().splitlines()
    assert rows[1] == "0.000000000,device 64,write,device 64,1073741824,16384,,direct|no-duration,"
    for name in ("back.parquet", "back.csv"):
        _json("trace", "convert", target, tmp_path / name)
        assert frame(open_trace(tmp_path / name)).equals(frame(open_trace(source)))
    paced = tmp_path / "paced.toml"
    paced.write_text(f'[[workload]]\nkind = "trace"\nreplay = "paced"\nfile = "{source}"\n')
    refused = command("bench", "run", paced, tmp_path)
    assert refused.returncode == 2
    assert "the trace has no durations" in refused.stderr


def _space_entries(document: dict[str, Any]) -> dict[str, int]:
    left_out = document.get("left_out", ())
    return {it["what"]: it["count"] for it in left_out if it["by"] == "workload.space"}


def test_a_replay_on_less_space_says_so(tmp_path: Path) -> None:
    """100 GiB is no multiple of 3 MiB: the two reads stay 8 KiB apart."""
    source, place = tmp_path / "usr_0.csv", tmp_path / "place"
    source.write_text(MSR)
    place.mkdir()
    document = _json("trace", "replay", source, place, "--onto", "3MiB")
    assert _space_entries(document) == {"read": 2}
    assert document["operations"]["read"]["bytes"] == 8192
    assert document["operations"]["write"]["bytes"] == 8192
    shown = command("trace", "replay", source, place, "--onto", "3MiB")
    assert "workload.space" in shown.stdout
    scenario = tmp_path / "t.toml"
    lines = '[[workload]]\nkind = "trace"\nspace = "3 MiB"\n'
    scenario.write_text(f'{lines}file = "{source}"\n')
    assert _space_entries(_json("bench", "run", scenario, place)) == {"read": 2}
    assert list(place.iterdir()) == []


def test_a_volume_that_does_not_fit_names_the_option(tmp_path: Path, small: Path) -> None:
    source = tmp_path / "usr_0.csv"
    source.write_text(MSR)
    done = command("trace", "replay", source, small)
    assert done.returncode == 2
    assert "headrace trace replay --onto" in done.stderr
    done = command("trace", "replay", source, small, "--onto", "8KiB")
    assert done.returncode == 0, done.stderr
    for space, problem in (
        ("4KiB", "workload.space = 4096 bytes: the trace has a request of 8192 bytes"),
        ("5000B", "expected a multiple of 4 KiB"),
        ("much", '--onto "much": '),
    ):
        done = command("trace", "replay", source, small, "--onto", space)
        assert done.returncode == 2, space
        assert problem in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_simulated_replay_maps_the_same_offsets(tmp_path: Path) -> None:
    source, scenario = tmp_path / "usr_0.csv", tmp_path / "t.toml"
    source.write_text(MSR)
    scenario.write_text(
        'kind = "local"\nsystem = "ext4"\n[clients]\ncount = 1\n[machine.device]\n'
        'kind = "simple"\nread_rate = "100 MB/s"\nwrite_rate = "100 MB/s"\n'
        f'[[workload]]\nkind = "trace"\nspace = "3 MiB"\nfile = "{source}"\n'
    )
    assert _space_entries(_json("run", scenario)) == {"read": 2}
