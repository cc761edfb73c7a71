"""File systems on which programs and benchmarks are predicted and measured. Needs root.

ext4 and XFS, each on a loop device without limits, and on a disk of 150 MB/s and 2,000 operations a
second (a testbed, docs/how-to/lab.md).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from file_systems import SCENARIO

from headrace.lab import running_testbed

KINDS = ("ext4", "xfs")
RATE, OPERATIONS = 150, 2000
LIMITED = "-limited"
NAMES = [f"{kind}{disk}" for kind in KINDS for disk in ("", LIMITED)]
IMAGE_MIB = 6 << 10
HEADRACE = [sys.executable, "-m", "headrace"]


def running_place(name: str, out: Path) -> AbstractContextManager[Place]:
    """Make one of `NAMES`, and remove it at the end. Files of a testbed are saved in `out`."""
    kind = name.removesuffix(LIMITED)
    return limited(kind, out) if name.endswith(LIMITED) else unlimited(kind)


@dataclass(frozen=True)
class Place:
    """A directory on a file system, and the words that run a command there."""

    directory: Path
    prefix: tuple[str, ...] = ()

    def headrace(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of Headrace there, whose failure is no error."""
        command = [*self.prefix, *HEADRACE, *arguments]
        return subprocess.run(command, check=False, text=True, capture_output=True)


@contextmanager
def unlimited(kind: str) -> Iterator[Place]:
    """Mount a new file system on a loop device whose image has no holes."""
    with tempfile.TemporaryDirectory(prefix="headrace-place-", dir="/var/tmp") as folder:
        image, mount = Path(folder) / "image", Path(folder) / "mount"
        mount.mkdir()
        zeros = ["dd", "if=/dev/zero", f"of={image}", "bs=1M", f"count={IMAGE_MIB}", "status=none"]
        subprocess.run(zeros, check=True)
        subprocess.run([f"mkfs.{kind}", "-q", str(image)], check=True)
        subprocess.run(["mount", "-o", "loop", str(image), str(mount)], check=True)
        try:
            yield Place(mount)
        finally:
            subprocess.run(["umount", str(mount)], check=True)


@contextmanager
def limited(kind: str, out: Path) -> Iterator[Place]:
    """Start a testbed with a file system on a limited disk, whose scenario is saved in `out`."""
    name = f"place-{kind}"
    scenario = out / f"{name}.toml"
    scenario.write_text(
        SCENARIO.format(name=name, system=kind, rate=RATE, operations=OPERATIONS, more="")
    )
    with running_testbed(scenario) as lab:
        prefix = (*HEADRACE, "lab", "exec", str(scenario), "client-0", "--")
        yield Place(lab.mount_point, prefix)
