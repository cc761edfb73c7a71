"""TOML with the line and column of every key, for messages."""

import math
import re
from collections.abc import Iterator
from typing import Any

from headrace import document_io

MOST_INTEGER = (1 << 63) - 1
"""Largest integer that TOML 1.0 requires programs to take."""


def parse_toml(name: str, text: str, what: str = "a file of rules") -> dict[str, Any]:
    """Return the tables of a TOML text, all of whose numbers are finite and in the range of TOML.

    Parameters:
        name: The file's name in messages.
        text: The text.
        what: The kind of file that is expected.

    Raises:
        ValueError: It is not TOML. The message has the name, line and column.
    """
    document = document_io.parse_toml(name, text, f"{what} in TOML")
    _check_numbers(name, text, document)
    return document


def _check_numbers(name: str, text: str, document: dict[str, Any]) -> None:
    left: list[tuple[tuple[str, ...], Any]] = [((), document)]
    while left:
        path, value = left.pop()
        if isinstance(value, dict):
            left += [((*path, key), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            left += [(path, inner) for inner in value]
        elif isinstance(value, int) and not -MOST_INTEGER <= value <= MOST_INTEGER:
            raise TomlPositions(name, text).error(
                path, f"{'.'.join(path)}: expected a number below 2^63, such as 1000 or 1e30"
            )
        elif isinstance(value, float) and not math.isfinite(value):
            raise TomlPositions(name, text).error(
                path, f"{'.'.join(path)}: expected a finite number, such as 1e30"
            )


class TomlPositions:
    """Lines and columns of the keys of a TOML file, for messages."""

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._keys = list(_keys(text))

    def error(self, path: tuple[str, ...], message: str) -> ValueError:
        """Return an error at a key, or at the nearest key above it that the file has."""
        for length in range(len(path), 0, -1):
            for key, line, column in self._keys:
                if key[:length] == path[:length] and len(key) >= length:
                    return ValueError(f"{self._file}:{line}:{column}: {message}")
        return ValueError(f"{self._file}: {message}")


_NAME = r"(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')"
_DOTTED = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_HEADER = re.compile(rf"\s*\[\s*({_DOTTED})\s*\]")
_KEY = re.compile(rf"\s*({_DOTTED})\s*=")
_INNER = re.compile(rf"[{{,]\s*({_DOTTED})\s*=")


def _keys(text: str) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Yield each key of a TOML file with its path, line and column, except within texts of several
    lines, which rules do not have."""
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _parts(header[1])
            yield table, number, header.start(1) + 1
        elif key := _KEY.match(line):
            path = (*table, *_parts(key[1]))
            yield path, number, key.start(1) + 1
            for inner in _INNER.finditer(line, key.end()):
                yield (*path, *_parts(inner[1])), number, inner.start(1) + 1


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(it.strip("\"'") for it in re.findall(_NAME, dotted))
