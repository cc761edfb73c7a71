"""What is told when a quota is used up, on a file system that has one."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from command import without_need

WRITE = """
[clients]
[[workload]]
block = "32 MiB"
transfer = "64 KiB"
phases = ["write", "sync"]
"""


def done(*command: str | Path) -> bool:
    return subprocess.run(command, capture_output=True).returncode == 0


@pytest.fixture
def limited(tmp_path: Path) -> Iterator[Path]:
    """A directory of btrfs in which 8 MiB may be written, though far more is free."""
    if os.geteuid() != 0:
        pytest.skip("mounting btrfs takes root")
    for tool in ("mkfs.btrfs", "btrfs"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed (btrfs-progs)")
    image, mount = tmp_path / "image", tmp_path / "mount"
    mount.mkdir()
    with image.open("wb") as file:
        file.truncate(256 << 20)
    if not done("mkfs.btrfs", "-q", image) or not done("mount", "-o", "loop", image, mount):
        pytest.skip("no btrfs can be mounted on a loop device here")
    try:
        volume = mount / "limited"
        if not (
            done("btrfs", "quota", "enable", mount)
            and done("btrfs", "subvolume", "create", volume)
            and done("btrfs", "qgroup", "limit", "8M", volume)
        ):
            pytest.skip("this btrfs has no quotas")
        yield volume
    finally:
        subprocess.run(["umount", "-l", mount], check=True)


def test_a_quota_that_is_used_up_is_told_from_a_full_file_system(
    limited: Path, tmp_path: Path
) -> None:
    scenario = tmp_path / "write.toml"
    scenario.write_text(WRITE)
    arguments = ["bench", "run", str(scenario), str(limited), "--json", "--no-store"]
    ended = subprocess.run(
        [sys.executable, "-m", "headrace", *arguments], capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 1
    (line,) = without_need(ended.stderr).splitlines()
    assert "quota" in line and "full" not in line, line
    document = json.loads(ended.stdout)
    assert document["stop"]["reason"] == "failed"
    assert "quota" in document["error"]
    # What was written before holds, and all of it is gone.
    assert 0 < document["operations"]["write"]["bytes"] <= 8 << 20
    assert list(limited.iterdir()) == []
