"""Lines and columns of the keys of a TOML file, for messages."""

import re
from collections.abc import Iterator, Mapping

FieldPath = tuple[str, ...]
"""Names of a field from the outside in; a number is the place of a table in a list, from 0."""


class TomlPositions:
    """Lines and columns of the keys of a TOML file, for messages."""

    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._keys = list(positions(text))

    def error(self, path: FieldPath, message: str) -> ValueError:
        """Return an error at a key, or at the nearest key above it that the file has."""
        for length in range(len(path), 0, -1):
            for key, line, column in self._keys:
                if key[:length] == path[:length] and len(key) >= length:
                    return ValueError(f"{self._file}:{line}:{column}: {message}")
        return ValueError(f"{self._file}: {message}")

    def wrong(self, path: FieldPath, message: str) -> ValueError:
        """Return an error as `error` does, whose message begins with the path."""
        return self.error(path, f"{'.'.join(path)}: {message}")


_NAME = r"(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')"
_DOTTED = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_LIST = re.compile(rf"\s*\[\[\s*({_DOTTED})\s*\]\]")
_HEADER = re.compile(rf"\s*\[\s*({_DOTTED})\s*\]")
_KEY = re.compile(rf"\s*({_DOTTED})\s*=")
_INNER = re.compile(rf"[{{,]\s*({_DOTTED})\s*=")


def positions(text: str) -> Iterator[tuple[FieldPath, int, int]]:
    """Yield the path of each key and header with its line and column, from 1.

    Keys within texts and lists of several lines are not found.
    """
    table: FieldPath = ()
    lists: dict[FieldPath, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if header := _LIST.match(line):
            at = _numbered(_parts(header[1]), lists)
            lists[at] = lists.get(at, -1) + 1
            table = (*at, str(lists[at]))
            yield table, number, header.start(1) + 1
        elif header := _HEADER.match(line):
            table = _numbered(_parts(header[1]), lists, whole=True)
            yield table, number, header.start(1) + 1
        elif key := _KEY.match(line):
            path = (*table, *_parts(key[1]))
            yield path, number, key.start(1) + 1
            for inner in _INNER.finditer(line, key.end()):
                yield (*path, *_parts(inner[1])), number, inner.start(1) + 1


def _numbered(path: FieldPath, lists: Mapping[FieldPath, int], *, whole: bool = False) -> FieldPath:
    """Return the path of a header with the numbers of the lists that it leads through."""
    place: FieldPath = ()
    for at, name in enumerate(path):
        place = (*place, name)
        if place in lists and (whole or at < len(path) - 1):
            place = (*place, str(lists[place]))
    return place


def _parts(dotted: str) -> FieldPath:
    return tuple(name.strip("\"'") for name in re.findall(_NAME, dotted))
