"""The logs that PyDarshan ships, for tests."""

import functools
import hashlib
import importlib
from pathlib import Path
from typing import Any

from headrace.trace import DarshanLog, read_log

darshan: Any = importlib.import_module("darshan")


@functools.cache
def shipped() -> list[Path]:
    """Each log of the package once, small ones first."""
    found: dict[str, Path] = {}
    for path in sorted(Path(darshan.__file__).parent.rglob("*.darshan")):
        found.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
    return sorted(found.values(), key=lambda it: it.stat().st_size)


def log(name: str) -> Path:
    """The log whose name begins so."""
    return next(path for path in shipped() if path.name.startswith(name))


@functools.cache
def contents(path: Path) -> DarshanLog:
    """The contents of a log, read once: that takes a process of its own."""
    return read_log(path)


def report(path: Path) -> Any:
    """PyDarshan's own report of an intact log."""
    return darshan.DarshanReport(str(path), read_all=True)
