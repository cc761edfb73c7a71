"""Files that a scenario names: systems, traces and Python schedulers.

A scenario comes from a user of the browser; the files are those of the server's host.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

LARGEST_TEXT = 1 << 20
"""Bytes of a scenario at the most."""


class NamedFile(NamedTuple):
    """A file that a scenario names."""

    field: str
    """Path of the field, such as `workload.0.file`."""
    value: str
    is_code: bool


class RefusedFile(ValueError):
    """A scenario names a file that it may not read, or is too long."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


def named_files(scenario: Mapping[str, Any]) -> Iterator[NamedFile]:
    """Yield the files that a scenario's tables name."""
    system = scenario.get("system")
    if isinstance(system, str) and system.endswith(".toml"):
        yield NamedFile("system", system, False)
    for path, value in _texts(scenario, ()):
        name, within = path[-1], set(path[:-1])
        if "workload" in within and name in ("file", "path", "trace"):
            yield NamedFile(".".join(path), value, False)
        if "scheduler" in within and name in ("python", "class"):
            yield NamedFile(".".join(path), value, True)


def check_files(
    text: str,
    sets: Iterable[str] = (),
    directories: Sequence[Path] = (),
    *,
    schedulers: bool = False,
) -> None:
    """Check that a scenario reads only files that the operator allows.

    Parameters:
        text: The scenario. Text that is not TOML passes: it cannot be loaded.
        sets: Settings in the command line's form, `path=value`.
        directories: Directories whose files may be read.
        schedulers: Whether Python schedulers are allowed.

    Raises:
        RefusedFile: if it reads another file, or the text is longer than a mebibyte.
    """
    if len(text.encode()) > LARGEST_TEXT:
        raise RefusedFile("the scenario is longer than 1 MiB: expected a shorter one")
    try:
        documents = [tomllib.loads(text)]
    except (tomllib.TOMLDecodeError, RecursionError):
        documents = []
    for it in (*documents, *map(_set, sets)):
        for file in named_files(it):
            _check(file, directories, schedulers)


def _check(file: NamedFile, directories: Sequence[Path], schedulers: bool) -> None:
    what = f"{file.field} = {file.value!r}"
    if file.is_code:
        if not schedulers:
            raise RefusedFile(
                f"{what} is Python code: the operator of this server does not allow it", file.field
            )
        return
    path = Path(file.value)
    if path.is_absolute() and "\0" not in file.value:
        resolved = path.resolve()
        if any(resolved.is_relative_to(it.resolve()) for it in directories):
            return
    allowed = ", ".join(map(str, directories)) or "none"
    raise RefusedFile(
        f"{what}: expected an absolute path below a directory that the operator allows"
        f" (headrace serve --directory): {allowed}",
        file.field,
    )


def _set(text: str) -> dict[str, Any]:
    """Return the tables of a setting `path=value`."""
    path, _, value = text.partition("=")
    try:
        parsed: Any = tomllib.loads(f"value = {value}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        parsed = value.strip()
    for name in reversed([it.strip(" \"'") for it in path.split(".")]):
        parsed = {name: parsed}
    document: dict[str, Any] = parsed
    return document


def _texts(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, it in value.items():
            yield from _texts(it, (*path, str(key)))
    elif isinstance(value, list):
        for number, it in enumerate(value):
            yield from _texts(it, (*path, str(number)))
