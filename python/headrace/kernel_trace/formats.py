"""Record layouts of the kernel's events, from its `format` files (Linux,
Documentation/trace/events.rst)."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

from headrace.tracefs import KernelTraceError

Kind: TypeAlias = Literal["signed", "unsigned", "text"]

NUMBERS = (1, 2, 4, 8)
"""Bytes that a number can have."""


@dataclass(frozen=True)
class Field:
    """A field of an event's record."""

    name: str
    offset: int
    size: int
    """Both in bytes."""
    kind: Kind

    @property
    def end(self) -> int:
        """The first byte behind it."""
        return self.offset + self.size


@dataclass(frozen=True)
class Format:
    """An event's record."""

    name: str
    number: int
    """Event identifier at the start of each record."""
    fields: tuple[Field, ...]
    """Numbers and texts of a fixed length; whatever else there is, is left out."""

    @cached_property
    def size(self) -> int:
        """Bytes that a record has at least."""
        return max((field.end for field in self.fields), default=0)


LINE = re.compile(
    r"\s*field:(?P<type>.*?)(?P<name>\w+)(?P<array>\[[^\]]*\])?;"
    r"\s*offset:(?P<offset>\d{1,6});\s*size:(?P<size>\d{1,6});\s*signed:(?P<signed>[01]);\s*"
)


def format_of(text: str, event: str) -> Format:
    """Read a `format` file. Raises KernelTraceError if it is none."""
    number = re.search(r"^ID:\s*(\d{1,5})\s*$", text, re.MULTILINE)
    name = re.search(r"^name:\s*(\w+)\s*$", text, re.MULTILINE)
    if number is None or name is None or int(number[1]) > 0xFFFF:
        raise KernelTraceError(f"the format of the event {event} has no name and number")
    fields = [field for line in text.splitlines() if (field := _field(line)) is not None]
    return Format(name[1], int(number[1]), tuple(fields))


def _field(line: str) -> Field | None:
    """A field of a fixed length; None if the line is something else."""
    match = LINE.fullmatch(line)
    if match is None or "_loc" in match["type"]:
        return None
    size = int(match["size"])
    of_characters = match["type"].split()[-1:] == ["char"]
    kind: Kind = "signed" if match["signed"] == "1" else "unsigned"
    if match["array"] is not None:
        if not of_characters or size == 0:
            return None
        kind = "text"
    elif size not in NUMBERS:
        return None
    return Field(match["name"], int(match["offset"]), size, kind)
