"""Step that creates a directory."""

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headrace import _core
from headrace._core import RunError
from headrace.lab.state import Lab, refuse_mounts
from headrace.lab.steps.step import Step


@dataclass(frozen=True)
class Folder(Step):
    """A directory with a unique name: it has the testbed's token, or is below the testbed's
    directory."""

    path: str

    def check(self, lab: Lab) -> None:
        with self._parent(strictly=True):
            pass

    def do(self, lab: Lab) -> None:
        with self._parent(strictly=True) as parent:
            os.mkdir(os.path.basename(self.path), 0o700, dir_fd=parent)

    def undo(self, lab: Lab) -> None:
        name = os.path.basename(self.path)
        with contextlib.suppress(FileNotFoundError), self._parent() as parent:
            mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
            if not stat.S_ISDIR(mode):
                raise RunError(
                    f"{self.path}: the directory was replaced by another file: remove it"
                )
            refuse_mounts(Path(self.path))
            shutil.rmtree(name, dir_fd=parent)

    def remaining(self, lab: Lab) -> str | None:
        return self.path if os.path.lexists(self.path) else None

    @contextlib.contextmanager
    def _parent(self, *, strictly: bool = False) -> Iterator[int]:
        """Open the parent directory, and yield its descriptor."""
        parent = _core.open_directory(os.path.dirname(self.path), strictly)
        try:
            yield parent
        finally:
            os.close(parent)
