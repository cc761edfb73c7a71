"""Read documents in TOML and JSON, and saved results; write values as the command line gives them.

Every document that a user names is read here: nothing in it, however damaged, raises anything but
ValueError with the file's name. `-` is standard input.
"""

import functools
import json
import math
import os
import re
import select
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from headrace._core import ScenarioError
from headrace.fields import DEEPEST, INTEGER, TOO_DEEP, TOO_LARGE, WrongField, malformation
from headrace.toml_positions import TomlPositions

STANDARD_INPUT = Path("-")
"""Name of standard input on the command line."""
LARGEST_STREAM = 1 << 28
"""Most bytes that are read from a pipe or a device, some of which never end."""
PIPE_PATIENCE_MS = 5000
"""Time in which a process has to begin to write to a pipe that has a name."""
LONGEST_VALUE = 80
"""Most characters of a value in the place of an error."""
LEAST_INTEGER, LARGEST_INTEGER = -(2**63), 2**64 - 1


def is_stream(path: Path) -> bool:
    """Return whether a name is standard input, a pipe or a device, which can be read once."""
    return path == STANDARD_INPUT or (path.exists() and not path.is_file() and not path.is_dir())


def display_name(path: Path) -> str:
    """Return the name of a file in messages. A stream's has no directory: files that its document
    names are relative to the current one."""
    if str(path) in ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
        return "standard input"
    return f"pipe {path.name}" if is_stream(path) else str(path)


def time_of(path: Path) -> datetime:
    """Return when a file was changed last; of a stream, now. Raises OSError."""
    if is_stream(path):
        return datetime.now(UTC)
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, a pipe or, for `-`, standard input.

    Raises OSError if it cannot be read, ValueError if a stream has no end.
    """
    return _stream(path) if is_stream(path) else path.read_bytes()


@functools.cache
def _stream(path: Path) -> bytes:
    """Read a stream once in a process: several functions may look into the same document."""
    if path == STANDARD_INPUT:
        content = sys.stdin.buffer.read(LARGEST_STREAM + 1)
    else:
        # A pipe that no process writes to would be waited for without end.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if path.is_fifo() and not _has_writer(file.fileno()):
                raise ValueError(f"{display_name(path)}: expected a pipe to which a process writes")
            os.set_blocking(file.fileno(), True)
            content = file.read(LARGEST_STREAM + 1)
    if len(content) > LARGEST_STREAM:
        raise ValueError(f"{display_name(path)}: expected a document of at most 256 MiB")
    return content


def _has_writer(pipe: int) -> bool:
    """Return whether a process has written to a pipe, or closes it, within a short time."""
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    return bool(poll.poll(PIPE_PATIENCE_MS))


def decode(name: str, content: bytes, expected: str) -> str:
    """Return a text in UTF-8. Raises ValueError, which names the file and what was expected."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{name}: expected {expected}: it is not UTF-8 at byte {error.start}"
        ) from None


def read_text(path: Path, expected: str) -> str:
    """Return the text of a file as `read_bytes` and `decode` do."""
    return decode(display_name(path), read_bytes(path), expected)


def read_toml(path: Path, expected: str) -> dict[str, Any]:
    """Return the tables of a TOML file. Raises OSError, or ValueError as `parse_toml`."""
    return parse_toml(display_name(path), read_text(path, expected), expected)


def read_json(path: Path, expected: str) -> Any:
    """Return the document of a JSON file. Raises OSError, or ValueError as `parse_json`."""
    return parse_json(display_name(path), read_text(path, expected), expected)


def parse_toml(name: str, text: str, expected: str) -> dict[str, Any]:
    """Return the tables of a TOML text.

    Raises:
        ValueError: The text is not TOML, is nested too deeply, or has a number that cannot be
            used. The message has the name, what was `expected`, and line and column if known.
    """
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise _malformed(name, expected, error) from None
    for path, reason in _unusable(document):
        raise TomlPositions(name, text).error(tuple(map(str, path)), reason)
    return document


def parse_json(name: str, text: str, expected: str) -> Any:
    """Return the document of a JSON text. Raises ValueError as `parse_toml`."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _malformed(name, expected, error) from None
    for _, reason in _unusable(document):
        raise ValueError(f"{name}: {reason}")
    return document


_POSITION = re.compile(
    r"(.*?)(?: \(at line (\d+), column (\d+)\)|: line (\d+) column (\d+) \(char \d+\))", re.DOTALL
)


def _malformed(name: str, expected: str, error: Exception) -> ValueError:
    reason = malformation(error)
    if reason == TOO_LARGE:
        return ValueError(f"{name}: {reason}")
    match = _POSITION.fullmatch(reason)
    if match is None:
        return ValueError(f"{name}: expected {expected}: {reason}")
    line, column = filter(None, match.groups()[1:])
    return ValueError(f"{name}:{line}:{column}: expected {expected}: {match[1]}")


_Path: TypeAlias = tuple[str | int, ...]


def _unusable(document: Any) -> Iterator[tuple[_Path, str]]:
    """Yield the path of each value that cannot be used, and the reason."""
    for path, value in _values(document):
        if len(path) > DEEPEST:
            yield path, f"expected fewer levels: {TOO_DEEP}"
        elif isinstance(value, int) and not LEAST_INTEGER <= value <= LARGEST_INTEGER:
            yield path, str(WrongField(_name(path), value, INTEGER))
        elif isinstance(value, float) and not math.isfinite(value):
            yield path, str(WrongField(_name(path), value, "a finite number"))


def _name(path: _Path) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)[1:]


def _values(document: Any) -> Iterator[tuple[_Path, Any]]:
    """Yield the path and value of everything in a document, without calling itself."""
    stack: list[tuple[_Path, Any]] = [((), document)]
    while stack:
        path, value = stack.pop()
        yield path, value
        if len(path) > DEEPEST:
            continue
        if isinstance(value, dict):
            stack += [((*path, key), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            stack += [((*path, place), inner) for place, inner in enumerate(value)]


def read_saved(path: Path) -> dict[str, Any] | None:
    """A saved result with its scenario; None if the file is something else, or cannot be read
    at all.

    Raises ScenarioError if it is JSON, but no saved result.
    """
    try:
        document = _read_json(path)
    except OSError:
        return None
    if document is None:
        return None
    scenario = document.get("scenario")
    if not isinstance(scenario, dict) or not isinstance(scenario.get("toml"), str):
        raise not_a_result(path, "it has no scenario.toml")
    return document


def read_document(path: Path) -> dict[str, Any]:
    """Any saved result.

    Raises ScenarioError if the file is none, OSError if it cannot be read.
    """
    document = _read_json(path)
    if document is None:
        raise not_a_result(path, "it is not a JSON object")
    return document


def _read_json(path: Path) -> dict[str, Any] | None:
    """A JSON object; None if the file begins like none. Raises ScenarioError if it only begins
    like one, OSError if it cannot be read."""
    if not _begins_like_json(path):
        return None
    try:
        document = dict(json.loads(read_bytes(path)))
    except (ValueError, RecursionError) as error:
        why = f"it looks like a result in JSON, but {malformation(error)}"
        raise not_a_result(path, why) from None
    for _, reason in _unusable(document):
        raise _scenario_error(path, reason)
    return document


def _begins_like_json(path: Path) -> bool:
    """Return whether a file is no TOML by its first character."""
    if is_stream(path):
        return read_bytes(path)[:64].lstrip().startswith(b"{")
    with path.open("rb") as file:
        return file.read(64).lstrip().startswith(b"{")


def not_a_result(path: Path, why: str) -> ScenarioError:
    """The error for a file that is neither a scenario nor a saved result."""
    return _scenario_error(path, f"expected a scenario in TOML or a saved result: {why}")


def _scenario_error(path: Path, message: str) -> ScenarioError:
    error = ScenarioError(f"{display_name(path)}: {message}")
    error.file, error.message = display_name(path), message
    return error


def as_sets(sets: Mapping[str, Any]) -> list[str]:
    """Values as the command line has them."""
    return [
        f"{path}={value if isinstance(value, str) else toml_value(value)}"
        for path, value in sets.items()
    ]


@contextmanager
def sets_as_texts(sets: Mapping[str, Any] | Sequence[str]) -> Iterator[list[str]]:
    """Give the values of a Python call's parameter `sets` in the command line's form.

    An error in a dictionary names its key, and not the option `--set`.
    """
    if not isinstance(sets, Mapping):
        yield [sets] if isinstance(sets, str) else list(sets)
        return
    try:
        yield as_sets(sets)
    except ScenarioError as error:
        for path, value in sets.items():
            if error.file.startswith(f"--set {path}="):
                place = f"sets[{path!r}] = {repr(value)[:LONGEST_VALUE]}"
                raise moved(error, place) from None
        raise


def without_option(error: ScenarioError) -> ScenarioError:
    """Return the error about a value that no option `--set` gave."""
    return moved(error, error.file.removeprefix("--set "))


def moved(error: ScenarioError, place: str) -> ScenarioError:
    """Return the error with another place in front of what is wrong."""
    other = ScenarioError(place + str(error).removeprefix(error.file))
    other.file, other.text, other.message = place, error.text, error.message
    return other


def toml_value(value: Any) -> str:
    """Return a value as TOML: a text, number, truth value, list or inline table."""
    if hasattr(value, "item"):  # numpy's numbers
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        entries = (f"{json.dumps(str(key))} = {toml_value(item)}" for key, item in value.items())
        return "{ " + ", ".join(entries) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, int | float):
        return repr(value)
    # JSON leaves DEL as it is, which TOML forbids.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
