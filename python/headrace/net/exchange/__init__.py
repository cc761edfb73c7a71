"""Exchange of nets with other tools.

A format is a module of this package with two functions, and one line in `FORMATS`:

- `read(data: bytes, file: str)` returns the document and a list of what was left out. It raises
  `ValueError` with file and line.
- `write(document)` returns the file and a list of what it leaves out. It raises `ValueError` for
  what must not be left out. The document has been checked.
"""

import importlib
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

FORMATS = {".cpn": "cpn", ".pnml": "pnml"}
"""Modules by the end of a file's name."""


class LeftOutWarning(UserWarning):
    """A file of another tool has more than a net, or less.

    Examples:
        >>> import warnings
        >>> model = hr.net.load("scenarios/nets/machine-repair.toml")
        >>> with warnings.catch_warnings(record=True, action="always") as left_out:
        ...     model.save("machine-repair.pnml")
        >>> print(left_out[0].message)
        machine-repair.pnml: left out: 2 stations: they become places, ...
    """


def is_foreign(path: Path) -> bool:
    """Return true if the end of a name is that of a format of `FORMATS`."""
    return path.suffix.lower() in FORMATS


def known_endings() -> str:
    """Return the ends of names of all files that hold nets, in words."""
    *others, last = [".toml", ".json", *FORMATS]
    return f"{', '.join(others)} or {last}"


def _module(path: Path) -> Any:
    return importlib.import_module(f"{__name__}.{FORMATS[path.suffix.lower()]}")


def read_foreign(path: Path) -> dict[str, Any]:
    """Return the document of a file of another tool.

    Raises:
        ValueError: It cannot be read. The message has file and line.
    """
    try:
        document, notes = _module(path).read(path.read_bytes(), str(path))
    except RecursionError:
        raise ValueError(f"{path}: expected expressions that are not so deep") from None
    _report(path, "not read", notes)
    content: dict[str, Any] = document
    return content


def write_foreign(document: Mapping[str, Any], path: Path) -> bytes:
    """Return a checked document as a file of another tool.

    Raises:
        ValueError: The net has parts that the tool cannot express.
    """
    try:
        data, notes = _module(path).write(document)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    _report(path, "left out", notes)
    content: bytes = data
    return content


def _report(path: Path, result: str, notes: Iterable[str]) -> None:
    for note in notes:
        warnings.warn(f"{path}: {result}: {note}", LeftOutWarning, stacklevel=4)
