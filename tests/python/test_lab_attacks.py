"""Testbeds on disks in another user's directory: each attack, at the point where it counts."""

import fcntl
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headrace import RunError
from headrace.lab import down, find, plan, steps, up
from headrace.lab.steps import Folder, LoopDevice
from headrace.lab.steps.loop_device import ADD
from headrace.simulate.scenario import load
from lab import EXT3, as_before, done, lab, machine, skip_unless_possible

NOBODY = 65534
PRECIOUS = b"precious" * 1024


@pytest.fixture
def before() -> Iterator[dict[str, Any]]:
    skip_unless_possible("mkfs.ext3")
    with as_before() as found:
        yield found


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A directory of somebody else's."""
    made = tmp_path / "theirs"
    made.mkdir()
    os.chown(made, NOBODY, NOBODY)
    return made


@pytest.fixture
def victims(tmp_path: Path) -> Iterator[Path]:
    """A directory with a file of root's by the name of the disk's, which must stay as it is."""
    folder = tmp_path / "victims"
    folder.mkdir()
    victim = folder / "client-0-disk-0.img"
    victim.write_bytes(PRECIOUS)
    yield folder
    assert victim.read_bytes() == PRECIOUS and not victim.is_symlink()


@pytest.fixture
def file(tmp_path: Path, theirs: Path, before: dict[str, Any]) -> Iterator[Path]:
    path = tmp_path / f"attack-{os.getpid()}.toml"
    path.write_text(EXT3.replace("[lab]", f'[lab]\ndirectory = "{theirs}"'))
    yield path
    if (left := find(path.stem)) is not None:
        down(left)
    assert machine() == before


def link(at: Path, to: Path) -> None:
    at.symlink_to(to)
    os.chown(at, NOBODY, NOBODY, follow_symlinks=False)


def test_disks_lie_in_no_directory_of_another_users(
    file: Path, theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SUDO_UID", raising=False)
    refused = lab("up", file)
    assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1
    assert f"{theirs}: it belongs to nobody (user {NOBODY})" in refused.stderr
    assert "expected a directory that root or the user of sudo owns" in refused.stderr
    assert list(theirs.iterdir()) == [] and find(file.stem) is None


def test_disks_lie_in_no_directory_that_everybody_can_write_to(
    file: Path, tmp_path: Path, before: dict[str, Any]
) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    refused = lab("up", file, "--set", f"lab.directory={tmp_path / 'open'}")
    assert (
        refused.returncode == 2 and "users other than its owner can write to it" in refused.stderr
    )
    assert machine() == before


def test_no_link_of_another_users_leads_to_the_disks(
    file: Path, theirs: Path, victims: Path
) -> None:
    link(theirs / "disks", victims)
    refused = lab("up", file, "--set", f"lab.directory={theirs / 'disks'}")
    assert refused.returncode == 2 and "symbolic link" in refused.stderr
    assert len(list(victims.iterdir())) == 1


@pytest.fixture
def called_by_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The owner of the directory has called sudo, and attacks all the same."""
    monkeypatch.setenv("SUDO_UID", str(NOBODY))


@pytest.mark.usefixtures("called_by_them")
def test_a_link_in_the_place_of_the_disks_folder_formats_nothing(
    file: Path, theirs: Path, victims: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between making the folder and making the disk's file in it."""
    do = Folder.do

    def exchanged(step: Folder, of: Any) -> None:
        do(step, of)
        Path(step.path).rename(theirs / "moved")
        link(Path(step.path), victims)

    monkeypatch.setattr(Folder, "do", exchanged)
    with pytest.raises((OSError, RuntimeError, ValueError)):
        up(plan(load(file)), file.stem)
    assert len(list(victims.iterdir())) == 1
    # What was put there is told, and stays until somebody has looked at it.
    assert lab("down", file).returncode == 1
    for planted in theirs.iterdir():
        if planted.is_symlink():
            planted.unlink()


@pytest.mark.usefixtures("called_by_them")
def test_a_link_in_the_place_of_the_disks_file_is_not_formatted(
    file: Path, theirs: Path, victims: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between making the disk's file and giving it to the loop device: by its name, another file
    would be formatted now."""
    ioctl = fcntl.ioctl

    def exchanged(file: Any, request: int, *more: Any) -> Any:
        if request == ADD:
            (folder,) = theirs.iterdir()
            folder.rename(theirs / "moved")
            folder.mkdir()
            link(folder / "client-0-disk-0.img", victims / "client-0-disk-0.img")
        return ioctl(file, request, *more)

    monkeypatch.setattr(fcntl, "ioctl", exchanged)
    stood = up(plan(load(file)), file.stem)
    monkeypatch.undo()
    (device,) = [it for it in steps.journaled_steps(stood) if isinstance(it, LoopDevice)]
    # The file that was made has the file system, wherever it is now.
    image = theirs / "moved" / "client-0-disk-0.img"
    assert device._backing() == str(image)
    with pytest.raises(RunError, match=f"{image}: the image of a testbed's disk, moved here"):
        down(stood)
    down(stood)


def test_down_finds_its_device_wherever_the_file_was_moved_to(
    file: Path, theirs: Path, tmp_path: Path, before: dict[str, Any]
) -> None:
    os.chown(theirs, 0, 0)
    done("up", file)
    (folder,) = theirs.iterdir()
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "victims")
    told = lab("down", file)
    image = tmp_path / "moved" / "client-0-disk-0.img"
    assert told.returncode == 1
    assert f"{image}: the image of a testbed's disk, moved here" in told.stderr
    listed = json.loads(subprocess.check_output(["losetup", "--json", "--list"]) or "{}")
    assert str(image) not in {it["back-file"] for it in listed.get("loopdevices", [])}
    folder.unlink()
    assert "removed" in done("down", file)
    assert image.exists() and machine() == before
