"""Directories of the host that jobs may use."""

import os
from pathlib import Path

import msgspec

from headrace.web.access.paths import PathPolicy
from headrace.web.settings import Settings

MOST = 500
"""Subdirectories that are listed."""


class Listing(msgspec.Struct, frozen=True):
    """Subdirectories of a directory."""

    path: str | None
    """The directory; None for the list of those that the operator allows."""
    parent: str | None
    """Directory above it, if it may be listed; None for the list of allowed ones."""
    directories: list[str]
    """Absolute paths."""
    left_out: int = 0
    """Number of further subdirectories, which are not listed."""


def list_directory(settings: Settings, policy: PathPolicy, path: str | None) -> Listing:
    """Return the subdirectories of an allowed directory, or the allowed directories themselves.

    Symbolic links are left out: they may lead elsewhere.

    Raises:
        RefusedRequest: if the operator does not allow the directory.
        OSError: if it cannot be read.
    """
    roots = [root.resolve() for root in settings.directories]
    if not path:
        return Listing(None, None, [str(root) for root in roots])
    directory = policy.allowed(path, "directory")
    with os.scandir(directory) as entries:
        folders = sorted(
            entry.path
            for entry in entries
            if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
        )
    above = directory.parent
    parent = str(above) if any(above.is_relative_to(root) for root in roots) else None
    return Listing(str(directory), parent, folders[:MOST], max(0, len(folders) - MOST))


def name_below(path: str, listing: Listing) -> str:
    """Return the name of a listed directory: the last part, or the whole path of an allowed one."""
    return path if listing.path is None else Path(path).name
