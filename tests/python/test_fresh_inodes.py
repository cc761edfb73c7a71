"""Workloads of names are measured where no inodes were freed lately."""

import contextlib
import itertools
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest

from command import command
from headrace import RunError, ScenarioError, exit_codes
from headrace._core import BenchmarkDirectory
from headrace.calibrate import case, fresh_inodes
from headrace.calibrate.calibration import Step
from headrace.calibrate.case import NAMES, run_workload, scenario
from headrace.calibrate.fresh_inodes import RECENTLY_FREED_S, FreshInodes, _Used
from headrace.calibrate.mount import Mount, mount_of
from headrace.calibrate.settings import has_journal
from headrace.measure import removal
from headrace.measure.report import ResultWarning


def test_each_place_is_in_another_group_of_inodes(tmp_path: Path) -> None:
    mount = _modelled(tmp_path)
    if not mount.kind.startswith("ext") or has_journal(mount):
        pytest.skip(f"{tmp_path} is on {mount.kind}, which passes no inodes over with a journal")
    places, found = FreshInodes(), []
    for _ in range(3):
        with places.below(tmp_path) as place:
            inner = Path(place.path) / "work"
            inner.mkdir()
            made = inner / "file"
            made.touch()
            found.append(made.stat().st_ino)
            made.unlink()
            inner.rmdir()
    group = fresh_inodes._inodes_of_a_group(tmp_path)
    apart = [abs(one - other) for one, other in itertools.pairwise(found)]
    # Files lie in the groups of their directories, whose inodes begin a group or nearly.
    assert min(apart) > group / 2, (found, group)
    assert list(tmp_path.iterdir()) == []


def test_where_no_inodes_are_passed_over_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _modelled(tmp_path)
    monkeypatch.setattr(fresh_inodes, "has_journal", lambda mount: True)
    with FreshInodes().below(tmp_path) as place:
        assert (place.path, place.warnings) == (tmp_path, [])
        assert list(tmp_path.iterdir()) == []


@pytest.fixture
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory in which places are made, as if its file system had no journal."""
    if not _modelled(tmp_path).kind.startswith("ext"):
        pytest.skip(f"{tmp_path} is on no ext file system")
    monkeypatch.setattr(fresh_inodes, "has_journal", lambda mount: False)
    return tmp_path


def test_a_place_that_cannot_be_removed_is_told(apart: Path) -> None:
    with FreshInodes().below(apart) as place:
        (top,) = apart.iterdir()
        (top / "somebody's").touch()
    (warning,) = place.warnings
    assert warning.condition == "not-removed" and f"{top} was not removed" in warning.message


def test_a_place_that_an_interruption_leaves_is_noted(apart: Path) -> None:
    with pytest.raises(KeyboardInterrupt) as raised, FreshInodes().below(apart):
        (top,) = apart.iterdir()
        (top / "somebody's").touch()
        raise KeyboardInterrupt
    (note,) = raised.value.__notes__
    assert f"{top} was not removed" in note


def test_a_place_that_a_failed_measurement_leaves_is_told(
    apart: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails() -> None:
        with FreshInodes().below(apart):
            (top,) = apart.iterdir()
            (top / "somebody's").touch()
            raise RunError("no room")

    def step() -> int:
        Step("names", "cache", fails).run(apart)
        return 0

    assert exit_codes.run(step) == 1
    (top,) = apart.iterdir()
    told = capsys.readouterr().err
    assert told.startswith(f"{apart}: names: no room; {top} was not removed"), told


Small: TypeAlias = Callable[..., Path]


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Small]:
    """Make an ext2 of N MiB, in groups of 8 MiB, with options of mke2fs, and mount it."""
    if os.geteuid() != 0:
        pytest.skip("mounting a file as a disk takes root")
    place, image = tmp_path / "small", tmp_path / "image"

    def made(mebibytes: int, *options: str) -> Path:
        place.mkdir()
        image.touch()
        os.truncate(image, mebibytes << 20)
        make = ["mke2fs", "-q", "-F", "-t", "ext2", "-b", "1024", *options, str(image)]
        for run in (make, ["mount", "-o", "loop", str(image), str(place)]):
            try:
                done = subprocess.run(run, capture_output=True, text=True)
            except FileNotFoundError as error:
                pytest.skip(f"no {error.filename} here")
            if done.returncode != 0:
                pytest.skip(f"{run[0]}: {done.stderr}")
        (place / "lost+found").rmdir()
        return place

    yield made
    if os.path.ismount(place):
        # What an exception's frames hold open is gone with them.
        subprocess.run(["umount", "-l", str(place)], check=True)


def test_ctrl_c_while_its_directory_is_removed_ends_what_follows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mount = _modelled(tmp_path)
    if not mount.kind.startswith("ext") or has_journal(mount):
        pytest.skip(f"{tmp_path}: on {mount.kind} with a journal no places are looked for")

    def removed(top: BenchmarkDirectory) -> ResultWarning | None:
        # As it goes on at a first one.
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return removal.remove_directory(top)

    monkeypatch.setattr(fresh_inodes, "remove_directory", removed)
    with pytest.raises(KeyboardInterrupt), FreshInodes().below(tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []


FEW_NAMES = scenario(
    "names", f'{NAMES}\nfiles = 4\nbytes = "0 B"\nphases = ["create", "unlink"]', 1
)


def test_where_no_group_is_left_that_was_not_used_it_is_told(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory, at = small(24), [0.0]
    monkeypatch.setattr(case, "FRESH_INODES", FreshInodes(lambda: at[0]))

    def warned() -> list[str]:
        document = run_workload(FEW_NAMES, directory, "cache").document
        return [
            it["message"] for it in document["warnings"] if it["condition"] == "inodes-freed-lately"
        ]

    # Three groups of inodes; two more workloads of names than that. Which of them meets a group
    # again is ext4's choice, which leaves out groups that are fuller than the middle one.
    found = []
    for _ in range(5):
        found.append(warned())
        at[0] += 50.0
    assert found[0] == []
    told = [message for messages in found for message in messages]
    assert len(told) >= 2, found
    assert all("has only 3 groups" in message for message in told)
    # What was freed so long ago is passed over no more.
    at[0] += RECENTLY_FREED_S
    assert warned() == []
    assert list(directory.iterdir()) == []


def test_of_groups_that_were_used_that_of_the_longest_ago_is_taken(small: Small) -> None:
    directory = small(64)
    places = FreshInodes(lambda: 150.0)
    device, told = os.stat(directory).st_dev, os.statvfs(directory)
    for group in range(8):
        inode = 1 + group * told.f_files // 8
        places._used.append(_Used(device, inode, 0.0 if group < 4 else 100.0))
    with places.below(directory) as place:
        (warning,) = place.warnings
        assert " 150 s before" in warning.message
        assert os.stat(place.path).st_ino < 1 + told.f_files // 2


def test_too_few_inodes_are_told_of_the_directory_that_was_given(small: Small) -> None:
    directory = small(24, "-N", "1000")
    for verb in ("calibrate", "twin"):
        busy = ["--busy"] if verb == "calibrate" else []
        done = command(
            verb, str(directory), *busy, "--repetitions", "2", "--passes", "1", timeout=60
        )
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        (line,) = done.stderr.splitlines()
        assert f"{directory}: the benchmark needs" in line, line
    assert list(directory.iterdir()) == []
    for number in range(1000):
        try:
            (directory / f"{number}").touch()
        except OSError:
            break
    # Room for the benchmark's own directory and its mark.
    for last in (1, 2):
        (directory / f"{number - last}").unlink()
    with pytest.raises(OSError) as raised, FreshInodes().below(directory):
        raise AssertionError("there is no room for another")
    assert raised.value.filename == str(directory)


def _modelled(directory: Path) -> Mount:
    try:
        return mount_of(directory)
    except ScenarioError as error:
        pytest.skip(str(error))
