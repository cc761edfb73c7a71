"""What would fill a file system up is refused before anything is written."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from command import command
from headrace import ScenarioError, measure
from headrace.calibrate.case import NAMES, check_room, scenario

LARGE = """
[clients]
count = 1
processes = 2
[[workload]]
block = "1 MiB"
"""
MIX = """
[clients]
count = 1
[[workload]]
kind = "operation-mix"
weights = { read = 1, stat = 1 }
files = 1
file_sizes = { "4 KiB" = 1 }
bytes_per_rate = "10 MB"
rate = 1
"""


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB and 100 names."""
    if os.geteuid() != 0:
        pytest.skip("mounting a tmpfs takes root")
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=100", "none", str(place)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("no tmpfs can be mounted here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def refused(place: Path, *arguments: str) -> str:
    """The one line by which a benchmark is refused; nothing was made."""
    done = command("bench", *arguments, timeout=60)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "quotas are not checked" in done.stderr and "use fewer or smaller" in done.stderr
    assert list(place.iterdir()) == []
    return done.stderr


@pytest.mark.parametrize(
    ("command", "point", "takes"),
    [
        (["disk", "--file-size", "100TB"], "file 100 TB", "100 TB"),
        (["sweep", "--file-sizes", "64k,4m", "--block-sizes", "4k"], "file 4 MiB", "4.19 MB"),
        (["blocks", "--file-size", "2m"], "block 4 KiB", "2.10 MB"),
        (["copy", "--file-size", "800k"], "block 128 KiB", "1.64 MB"),
        (["copy", "--tree", "--directories", "1", "--files", "60"], "files 60", "4.14 MB"),
        (
            ["clients", "--file-size", "400k", "--block-size", "100k", "--processes", "1-4"],
            "4",
            "1.64 MB",
        ),
        (["meta", "--files", "200", "--processes", "1"], "processes 1", "200 files"),
    ],
)
def test_a_study_that_does_not_fit_is_refused(
    small: Path, command: list[str], point: str, takes: str
) -> None:
    told = refused(small, command[0], str(small), *command[1:])
    assert takes in told, told
    assert point in told, told
    assert str(small) in told


def test_a_run_counts_all_processes(small: Path, tmp_path: Path) -> None:
    file = tmp_path / "large.toml"
    file.write_text(LARGE)
    told = refused(small, "run", str(file), str(small))
    assert "needs 2.10 MB, but 1.0" in told and "MB are free" in told
    # What is written until a stop after a time is not known.
    loaded = measure.load(LARGE.replace("1 MiB", "400 KiB"))
    with measure.limited_space(measure.SpaceLimit(1.0)):
        assert not measure.measure(loaded, small).partial


def test_a_ladder_is_refused_for_its_largest_load(small: Path, tmp_path: Path) -> None:
    file = tmp_path / "mix.toml"
    file.write_text(MIX)
    told = refused(small, "mix", str(small), "--workload", str(file), "--rates", "0.05,20")
    assert "200 MB" in told
    mixed = measure.MixedLoad(str(file), seconds=0.2, warm_up=0.0)
    nothing = measure.load_sweep(mixed.at, small, rates=[0.05, 20], calls="null")
    assert nothing.document["stop"]["reason"] == "done"


@pytest.mark.parametrize("numbers", [(1, 2), (2, 1)])
@pytest.mark.parametrize(
    ("work", "told"),
    [
        ('block = "{}00 PiB"', "needs 225 PB"),
        (NAMES + '\nfiles = {}_000_000_000\nbytes = "0 B"', "needs 2000000000 files"),
    ],
)
def test_of_several_workloads_that_which_takes_most_is_told(
    tmp_path: Path, numbers: tuple[int, int], work: str, told: str
) -> None:
    texts = [scenario("work", work.format(number), 1) for number in numbers]
    with pytest.raises(ScenarioError, match=told):
        check_room(texts, tmp_path)


@pytest.mark.parametrize("transfer", ["100 TiB", "18446744073709486080 B"])
def test_transfers_that_no_memory_holds_are_refused(transfer: str, tmp_path: Path) -> None:
    below, file = tmp_path / "below", tmp_path / "large.toml"
    below.mkdir()
    file.write_text(
        f'[clients]\ncount = 1\n[[workload]]\nblock = "{transfer}"\ntransfer = "{transfer}"\n'
        'phases = ["read"]\nio = { direct = true, huge_pages = true }\n'
    )
    # Without calls no file has to be there.
    done = command("bench", "run", str(file), str(below), "--calls", "null", timeout=60)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert "transfer buffers of" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert list(below.iterdir()) == []
