"""Workloads of names are measured where no inodes were freed lately."""

import itertools
from pathlib import Path

import pytest

from headrace import ScenarioError
from headrace.calibrate import fresh_inodes
from headrace.calibrate.fresh_inodes import FreshInodes
from headrace.calibrate.mount import Mount, mount_of
from headrace.calibrate.settings import has_journal


def test_each_place_is_in_another_group_of_inodes(tmp_path: Path) -> None:
    mount = _modelled(tmp_path)
    if not mount.kind.startswith("ext") or has_journal(mount):
        pytest.skip(f"{tmp_path} is on {mount.kind}, which passes no inodes over with a journal")
    places, found = FreshInodes(), []
    for _ in range(3):
        with places.below(tmp_path) as below:
            inner = Path(below) / "work"
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
    with FreshInodes().below(tmp_path) as below:
        assert below == tmp_path
        assert list(tmp_path.iterdir()) == []


def _modelled(directory: Path) -> Mount:
    try:
        return mount_of(directory)
    except ScenarioError as error:
        pytest.skip(str(error))
