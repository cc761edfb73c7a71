"""Lines and columns of the keys of a TOML file, for messages."""

import re
from collections.abc import Iterator


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
