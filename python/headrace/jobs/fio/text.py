"""Text of job files: sections, options, includes and variables."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from headrace.jobs.fio.arithmetic import calculated, expanded
from headrace.jobs.fio.table import table, unknown

LARGEST = 1 << 20
"""Bytes of a job file: more are no job file."""
MOST_JOBS = 1000
MOST_INCLUDES = 16
GLOBAL = "global"
WORDS = ("text", "optional_text", "bytes_", "splits", "distribution", "engine", "verify")
"""Readers of values that are no numbers: nothing is calculated in them."""


@dataclass(frozen=True)
class Given:
    """An option where it was written."""

    name: str
    value: str | None
    place: str
    """File and line, or the option of a command line."""


@dataclass
class Section:
    """A job."""

    name: str
    place: str
    options: dict[str, Given] = field(default_factory=dict)


@dataclass
class Text:
    """Sections of job files and command lines, and notes on options without effect."""

    environment: Mapping[str, str]
    sections: list[Section] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    common: dict[str, Given] = field(default_factory=dict)
    """Options of [global], for all later jobs."""
    problem: str | None = None
    """The first option that is not supported. An engine that is not explains more."""
    _ignored: dict[str, list[str]] = field(default_factory=dict)

    def begin(self, name: str, place: str) -> None:
        """A job begins. Raises ValueError if there are too many."""
        if len(self.sections) >= MOST_JOBS:
            raise ValueError(f"{place}: more than {MOST_JOBS} jobs: expected fewer")
        self.sections.append(Section(name, place, dict(self.common)))

    def add(self, options: dict[str, Given], key: str, value: str | None, place: str) -> None:
        """Add an option. Raises ValueError if it is not supported."""
        known = table()
        name = known.names.get(key)
        if key in known.accepted:
            places = self._ignored.setdefault(f"{key}: no effect here: {known.accepted[key]}", [])
            places.append(place)
            return
        if name is None and key in known.refused and value == "0":
            return
        if name is None:
            self.problem = self.problem or f'{place}: "{key}": {unknown(key)}'
            return
        if value is not None:
            try:
                value = expanded(value, self.environment).strip()
                if known.done[name].value not in WORDS:
                    value = calculated(value)
            except KeyError as error:
                raise ValueError(
                    f"{place}: {key}={value}: the environment variable {error.args[0]} is not set"
                ) from None
            except ValueError as error:
                raise ValueError(f"{place}: {key}={error}") from None
        options[name] = Given(name, value, place)

    def place(self) -> str | None:
        """Return the directory or device that the first job names."""
        for section in self.sections:
            directory = section.options.get("directory")
            if directory is not None and directory.value:
                return directory.value
            name = section.options.get("filename")
            if name is not None and name.value and "/" in name.value:
                path = Path(name.value.split(":")[0])
                return str(path if path.is_block_device() else path.parent)
        return None

    def check(self) -> None:
        """Raise ValueError for the first engine or option that is not supported."""
        engines = table().engines
        for section in self.sections:
            given = section.options.get("ioengine")
            name = "" if given is None else (given.value or "").split(":")[0]
            name = "external" if "/" in name or name.endswith(".so") else name
            if given is not None and name in engines:
                raise ValueError(
                    f"{given.place}: ioengine={given.value}: not supported: it needs"
                    f" {engines[name]}"
                )
        if self.problem is not None:
            raise ValueError(self.problem)

    def ignored(self) -> list[str]:
        """Return a note for each option that has no effect."""
        return [
            f"{places[0]}: {text}" + (f" ({len(places)} times)" if len(places) > 1 else "")
            for text, places in self._ignored.items()
        ]

    def read(self, text: str, file: Path, depth: int = 0) -> None:
        """Add the sections of a job file. Raises ValueError, which names the line."""
        into: dict[str, Given] | None = None
        # splitlines would accept more line ends than fio does.
        for number, raw in enumerate(text.split("\n"), 1):
            place = f"{file}:{number}"
            # fio ends a line at the first of these characters, wherever it is.
            line = re.split("[;#]", raw, maxsplit=1)[0].strip()
            if not line:
                continue
            if line.startswith("["):
                name = line[1:-1].strip()
                if not line.endswith("]") or not name:
                    raise ValueError(f'{place}: "{line}": expected a section such as [random-read]')
                if name == GLOBAL:
                    into = self.common
                    continue
                self.begin(name, place)
                into = self.sections[-1].options
                continue
            words = line.split(maxsplit=1)
            if words[0] == "include" and len(words) == 2 and "=" not in line:
                into = self._include(words[1], file, place, depth, into)
                continue
            if into is None:
                raise ValueError(
                    f'{place}: "{line}": expected the option after [global] or a job\'s [name]'
                )
            key, equals, value = line.partition("=")
            self.add(into, key.strip(), value.strip() if equals else None, place)

    def _include(
        self,
        name: str,
        file: Path,
        place: str,
        depth: int,
        into: dict[str, Given] | None,
    ) -> dict[str, Given] | None:
        """Read another file in place of the line, from the directory of the first."""
        if depth >= MOST_INCLUDES:
            raise ValueError(f"{place}: include {name}: files that include each other")
        path = file.parent / name
        try:
            text = read_text(path)
        except OSError as error:
            raise ValueError(f"{place}: include {name}: {error.strerror}") from None
        if into is not None and not text.lstrip().startswith("["):
            # Options of the section that includes them.
            for number, raw in enumerate(text.split("\n"), 1):
                line = re.split("[;#]", raw, maxsplit=1)[0].strip()
                if line:
                    key, equals, value = line.partition("=")
                    there = f"{path}:{number}"
                    self.add(into, key.strip(), value.strip() if equals else None, there)
            return into
        self.read(text, path, depth + 1)
        return self.sections[-1].options if self.sections else self.common


def read_text(file: Path) -> str:
    """Return the text of a job file. Raises ValueError if it is none, OSError without a file."""
    with file.open("rb") as opened:
        content = opened.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise ValueError(f"{file}: more than {LARGEST:,} bytes: expected a fio job file")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ValueError(f"{file}:{line}: expected a fio job file in UTF-8") from None
