"""External programs of a testbed."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from headrace._core import RunError

PACKAGES = {
    "ip": "iproute2",
    "tc": "iproute2",
    "losetup": "mount",
    "mount": "mount",
    "umount": "mount",
    "nsenter": "util-linux",
    "unshare": "util-linux",
    "mountpoint": "util-linux",
    "mkfs.ext2": "e2fsprogs",
    "mkfs.ext3": "e2fsprogs",
    "mkfs.ext4": "e2fsprogs",
    "mkfs.xfs": "xfsprogs",
    "mkfs.btrfs": "btrfs-progs",
    "glusterd": "glusterfs-server",
    "gluster": "glusterfs-cli",
    "mount.glusterfs": "glusterfs-client",
    "mfsmaster": "moosefs-master",
    "mfschunkserver": "moosefs-chunkserver",
    "mfsmount": "moosefs-client",
    "mfssetgoal": "moosefs-client",
    "mpirun": "mpich",
}
"""Debian package of each program."""

FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
"""Directories of programs for root, which PATH may lack."""


def path() -> str:
    """Return the search path for programs."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), *FOLDERS])


def find(program: str) -> str | None:
    """Return the path of a program; None if it is not installed."""
    return shutil.which(program, path=path())


def package_of(program: str) -> str:
    """Return the Debian package of a program."""
    return PACKAGES.get(program, program)


def require(programs: Iterable[str]) -> None:
    """Check that programs are installed and that this process is root.

    Raises
    ------
    ValueError
        If a program is missing, or this is not root.
    """
    if os.geteuid() != 0:
        raise ValueError("headrace lab creates namespaces, loop devices and limits: run it as root")
    for program in programs:
        if find(program) is None:
            raise ValueError(
                f"{program}: program not found: install the Debian package {package_of(program)}"
            )


def run(*words: str | Path, environment: Mapping[str, str] | None = None) -> str:
    """Run a program until it exits, and return its standard output.

    Raises
    ------
    RunError
        If it fails, with the last lines of its output.
    """
    line = [str(word) for word in words]
    done = subprocess.run(
        line,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        env={**os.environ, "PATH": path(), "LC_ALL": "C", **(environment or {})},
        check=False,
    )
    if done.returncode != 0:
        raise RunError(f"{' '.join(line)}: {last_words(done)}")
    return done.stdout


LAST = 3
"""Lines of a failed program's output that are reported; the reason often precedes the last line."""


def last_words(done: "subprocess.CompletedProcess[str]") -> str:
    """Return the last lines of a program's output as one line, without its usage text."""
    text, _, _ = (done.stderr.strip() or done.stdout).partition("\nUsage:")
    said = (line.strip() for line in text.splitlines())
    return "; ".join([line for line in said if line][-LAST:]) or "no output"
