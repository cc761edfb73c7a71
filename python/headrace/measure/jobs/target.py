"""Target of jobs: a directory, or a block device that is only read."""

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from headrace import _core
from headrace.interruption import defer_signals
from headrace.measure.measurement_site import measurement_site
from headrace.measure.removal import remove_directory
from headrace.measure.report import ResultWarning

MEMORY = ("tmpfs", "ramfs")
"""File systems in memory, for which O_DIRECT has no effect."""


@dataclass
class Target:
    """A directory or a block device that jobs use."""

    path: Path
    engine: _core.JobTarget
    directory: _core.BenchmarkDirectory | None
    """The benchmark's own; None of a device."""
    left: ResultWarning | None = None
    """The warning that its directory is still there, at the end."""

    @property
    def is_device(self) -> bool:
        """True if the target is a block device."""
        return self.directory is None

    @property
    def size(self) -> int | None:
        """Bytes of a device."""
        geometry = self.engine.geometry()
        return None if geometry is None else geometry[0]


def is_device(path: Path) -> bool:
    """Return whether a path leads to a block device. Raises OSError if it does not exist."""
    return stat.S_ISBLK(os.stat(path).st_mode)


def in_memory(target: Target) -> bool:
    """Return whether a directory is on a file system that is only in memory."""
    return not target.is_device and measurement_site(target.path)["file_system"] in MEMORY


@contextlib.contextmanager
def opened(
    path: str | PathLike[str], on_progress: Callable[[int], object] | None = None
) -> Iterator[Target]:
    """A device, opened for reading; or a directory of the benchmark's own below one, which is
    removed at the end. Raises OSError or ScenarioError if it cannot be used."""
    path = Path(path)
    if is_device(path):
        yield Target(path, _core.JobTarget.device(path), None)
        return
    if not path.is_dir():
        raise ValueError(f"{path}: expected a directory or a block device")
    directory: _core.BenchmarkDirectory | None = None
    target: Target | None = None
    interrupted = False
    try:
        with defer_signals():
            directory = _core.BenchmarkDirectory(path)
        target = Target(path, _core.JobTarget.directory(directory), directory)
        yield target
    except BaseException as error:
        interrupted = True
        if directory is not None:
            left = remove_directory(directory, interrupted=True, on_progress=on_progress)
            directory = None
            if left is not None:
                error.add_note(left.message)
        raise
    finally:
        if directory is not None and target is not None and not interrupted:
            target.left = remove_directory(directory, on_progress=on_progress)
