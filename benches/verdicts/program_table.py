"""Programs of the bench, and which verdicts are right for each."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

TABLE = Path(__file__).with_name("programs.toml")
HALVES = ("rules", "report")


class Program(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry of programs.toml, which describes the fields."""

    name: str
    right: list[str]
    reason: str
    half: Literal["rules", "report"]
    command: str = ""
    shell: str = ""
    phases: list[str] = []
    setup: str = ""
    cold: bool = False
    beside: str = ""
    peer: str = ""
    memory: int | None = None
    cores: float | None = None

    def words(self, places: Mapping[str, object]) -> list[str]:
        """Return the command line with values in place of the words in braces."""
        if self.shell:
            return ["/bin/sh", "-c", filled(self.shell, places)]
        return [filled(word, places) for word in shlex.split(self.command)]


def filled(text: str, places: Mapping[str, object]) -> str:
    """Return a text with values in place of the words in braces. Other braces stay."""
    for name, value in places.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def load_programs() -> dict[str, Program]:
    """Return all programs by name. Raises ValueError if an entry is wrong."""
    entries = tomllib.loads(TABLE.read_text())["program"]
    programs = {entry["name"]: msgspec.convert(entry, Program) for entry in entries}
    if list(programs) != sorted(programs) or len(programs) != len(entries):
        raise ValueError(f"{TABLE}: expected programs in alphabetical order")
    return programs
