"""Mounts in the kernel's list (proc(5), /proc/PID/mountinfo)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCE = "/proc/self/mountinfo"


@dataclass(frozen=True)
class Mounted:
    """A line of the list."""

    device: str
    """Major and minor number, as 253:0."""
    at: Path
    options: tuple[str, ...]
    """Options of the mount, then of the file system."""
    kind: str
    """The file system's type, as ext4."""
    source: str


def mounted() -> Iterator[Mounted]:
    """All mounts that this process sees, in the order in which they were made."""
    for line in Path(SOURCE).read_text(encoding="utf-8", errors="surrogateescape").splitlines():
        before, _, after = line.partition(" - ")
        _identifier, _parent, device, _root, at, of_mount, *_ = before.split(" ")
        kind, source, of_file_system = after.split(" ", 2)
        options = tuple(f"{of_mount},{of_file_system}".split(","))
        yield Mounted(device, Path(_plain(at)), options, kind, _plain(source))


def _plain(text: str) -> str:
    """Blanks and the like are written as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda it: chr(int(it[1], 8)), text)
