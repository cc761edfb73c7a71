"""Profiler without a network: mounts a directory a second time through FUSE, and counts the
kernel's requests as procedures of NFS version 3.

The mirror is a process of its own, because a program that serves a file system to itself can
deadlock. It unmounts and ends when its parent is gone, even if that was killed.
"""

import contextlib
import errno
import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from headrace import fuse
from headrace.interruption import defer_signals
from headrace.measure.tuning.mirror_connection import Connection
from headrace.mountinfo import mounted

PROCEDURES: dict[str, str] = {
    "lookup": "lookup",
    "getattr": "getattr",
    "setattr": "setattr",
    "readlink": "readlink",
    "symlink": "symlink",
    "mknod": "mknod",
    "mkdir": "mkdir",
    "unlink": "remove",
    "rmdir": "rmdir",
    "rename": "rename",
    "link": "link",
    "create": "create",
    "read": "read",
    "write": "write",
    "fsync": "commit",
    "readdir": "readdir",
    "readdirplus": "readdirplus",
    "statfs": "fsstat",
    "access": "access",
}
"""Procedures of NFS version 3 (RFC 1813, section 3.3) for the kernel's FUSE requests. Requests
without a procedure are left out: open, release, flush, extended attributes, locks."""

PREFIX = "headrace-mirror-"
"""Prefix of the directories at which mirrors are mounted."""
SOURCE = "headrace-mirror"
"""Name of the device of a mirror's mount."""

PATIENCE_S = 30
"""Time limit of a command in seconds."""


@dataclass(frozen=True)
class Options:
    """Cache settings of the kernel for a mirror. With the defaults, counts depend on the operations
    and not on their timing. Attributes of directories hold as long as the minimum of Linux's NFS
    client (nfs(5), acdirmin)."""

    attribute_timeout: float = 0.0
    """Seconds for which attributes of files hold; an NFS client: 3 to 60."""
    entry_timeout: float = 0.0
    """Seconds for which names of files hold."""
    directory_timeout: float = 30.0
    """Seconds for which names and attributes of directories hold."""
    readdirplus: bool = True
    """True if directories are listed with attributes, where the kernel chooses to."""


def options(text: str) -> Options:
    """Options as the command line names them, such as `attribute_timeout=3,readdirplus=no`.

    Raises ValueError if there is none of this name, or its value is none.
    """
    timeouts: dict[str, float] = {}
    readdirplus = Options.readdirplus
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        if name == "readdirplus":
            if value not in ("yes", "no"):
                raise ValueError(f"{part!r}: expected readdirplus=yes or readdirplus=no")
            readdirplus = value == "yes"
        elif name in (names := [field.name for field in fields(Options)]):
            timeouts[name] = _seconds(part, value)
        else:
            raise ValueError(f"{part!r}: expected NAME=VALUE with one of {', '.join(names)}")
    return Options(**timeouts, readdirplus=readdirplus)


def _seconds(part: str, value: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 <= (seconds := float(value)) <= 1e6:
            return seconds
    raise ValueError(f"{part!r}: expected seconds, such as 3 or 0.5")


def procedures(requests: Mapping[str, int]) -> dict[str, int]:
    """Requests of the kernel as procedures of NFS version 3."""
    return {PROCEDURES[name]: count for name, count in requests.items() if name in PROCEDURES}


class Mirror:
    """A directory that is mounted a second time, at `at`, with counted requests."""

    def __init__(self, directory: Path, at: Path, given: Options) -> None:
        """Start its process, which mounts it."""
        self.at = at
        self._directory = directory
        arguments = [str(directory), str(at), json.dumps(asdict(given))]
        self._connection = Connection(arguments, str(at))

    def wait_until_mounted(self) -> None:
        """Raise OSError if nothing can be mounted, see `fuse.refusal`. Raises RunError if its
        process ends."""
        began = self._connection.began()
        if "error" in began:
            reason = fuse.refusal() or began["error"]
            raise OSError(f"{self._directory} cannot be mounted as a mirror: {reason}")

    @property
    def process(self) -> int:
        """The number of the process that serves it."""
        return self._connection.process.pid

    def __call__(self) -> dict[str, int]:
        """Count so far. Raises RunError if the mirror is gone."""
        return procedures(self._connection.counts())

    def close(self) -> None:
        """Unmount it."""
        self._connection.close()
        if is_dead(self.at):
            take_down(self.at)


@contextlib.contextmanager
def mirror(directory: Path, given: Options) -> Iterator[Mirror]:
    """A mirror of a directory, at one that is made for it.

    Raises OSError if it cannot be mounted.
    """
    for dead in stale_mounts():
        take_down(dead)
    with contextlib.ExitStack() as undo:
        # A signal comes when what is made is to be undone, and waits while it is.
        with defer_signals():
            at = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
            undo.callback(_removed, at)
        with defer_signals():
            mounted = Mirror(directory.resolve(strict=True), at, given)
            undo.callback(_closed, mounted)
        mounted.wait_until_mounted()
        yield mounted


def _removed(at: Path) -> None:
    # Keep the mount point while it is mounted: its files are the user's.
    with defer_signals(), contextlib.suppress(OSError):
        at.rmdir()


def _closed(mirror: Mirror) -> None:
    with defer_signals():
        mirror.close()


def stale_mounts() -> list[Path]:
    """Return the mount points of mirrors whose process was killed."""
    folder = Path(tempfile.gettempdir()).resolve()
    mounted = (Path(at) for at in _mounted())
    return [at for at in mounted if at.parent == folder and is_dead(at)]


def is_dead(at: Path) -> bool:
    """Return whether a mirror is mounted and its process is gone."""
    if str(at) not in _mounted():
        return False
    try:
        at.stat()
    except OSError as error:
        return error.errno == errno.ENOTCONN
    return False


def _mounted() -> list[str]:
    """Return the mount points of mirrors from the kernel's list. A name in a world-writable
    directory is not trusted."""
    return [
        str(one.at)
        for one in mounted()
        if one.source == SOURCE and one.kind.startswith("fuse") and one.at.name.startswith(PREFIX)
    ]


def take_down(at: Path) -> None:
    """Unmount a mirror whose process is gone. Raises OSError if that takes another's rights."""
    commands = (["umount", "-l", str(at)], ["fusermount3", "-u", "-z", str(at)])
    for command in commands:
        with contextlib.suppress(FileNotFoundError):
            if subprocess.run(command, capture_output=True, timeout=PATIENCE_S).returncode == 0:
                with contextlib.suppress(OSError):
                    at.rmdir()
                return
    raise OSError(f"{at} is the mount of a killed mirror: unmount it (umount -l {at})")
