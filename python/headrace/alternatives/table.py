"""The table of alternatives: groups of changes, values of fields, and what is no alternative."""

import tomllib
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias, get_args

import msgspec

from headrace.fields import convert

Group: TypeAlias = Literal["setting", "configuration", "hardware", "system"]
"""Cost of a change: a setting, a reformat or rewritten files, hardware, or another system."""
GROUPS: tuple[Group, ...] = get_args(Group)
"""Groups from cheap to expensive."""
SHIPPED = "alternatives.toml"


class Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fields, by patterns of `path` or `path=value`."""

    fields: tuple[str, ...]
    unless: tuple[str, ...] = msgspec.field(name="except", default=())

    def fits(self, path: str, value: str) -> bool:
        """Return whether a field with a value is meant."""
        return _fits(path, value, self.fields) and not _fits(path, value, self.unless)


class GroupEntry(Entry, frozen=True, kw_only=True):
    """Fields of a group."""

    name: Group


class Exclusion(Entry, frozen=True, kw_only=True):
    """Fields that are no alternatives."""

    why: str
    also_instead: bool = False
    """Whether a field with this value has no alternatives either."""


class KindEntry(Entry, frozen=True, kw_only=True):
    """Values of fields that a kind needs, by name."""

    values: dict[str, Any] = msgspec.field(name="with")


class KeptEntry(Entry, frozen=True, kw_only=True):
    """Fields that stay when a preset changes, below the preset's machine."""

    keep: tuple[str, ...]


class Caution(Entry, frozen=True, kw_only=True):
    """Cost of changes in safety."""

    text: str


class ValuesEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Values to try for a field."""

    field: str
    values: tuple[str | int | float | bool, ...]
    instead_of: tuple[str, ...] | None = None
    """Values that they are tried for, "" for a field that is not given; None: for all."""


class ArrayEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An array to try in place of one device."""

    level: int
    disks: int


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table of alternatives."""

    group: tuple[GroupEntry, ...]
    left_out: tuple[Exclusion, ...]
    load: Entry
    systems: dict[str, tuple[str, ...]]
    """Systems by the kind of scenario."""
    values: tuple[ValuesEntry, ...]
    kind: tuple[KindEntry, ...]
    array: tuple[ArrayEntry, ...]
    keep: tuple[KeptEntry, ...]
    caution: tuple[Caution, ...]


@cache
def table() -> Table:
    """Return the shipped table."""
    text = files(__package__).joinpath(SHIPPED).read_text("utf-8")
    return convert(tomllib.loads(text), Table)


def group(name: str) -> Group:
    """Return a group by its name.

    Raises:
        ValueError: There is none.
    """
    match = next((each for each in GROUPS if each == name), None)
    if match is None:
        raise ValueError(f"cost {name!r}: expected {', '.join(GROUPS)}")
    return match


def group_of(path: str, value: str = "") -> Group:
    """Return the group of a change of a field to a value; without an entry it is a setting."""
    entries = table().group
    return next((entry.name for entry in entries if entry.fits(path, value)), "setting")


def is_at_most(group: Group, highest: Group) -> bool:
    """Return whether a group costs no more than another."""
    return GROUPS.index(group) <= GROUPS.index(highest)


def caution_of(path: str, value: str) -> str:
    """Return what a change costs in safety, or an empty text."""
    return next((entry.text for entry in table().caution if entry.fits(path, value)), "")


def is_left_out(path: str, before: str, after: str) -> bool:
    """Return whether a value of a field is no alternative to its own."""
    return any(
        entry.fits(path, after) or (entry.also_instead and entry.fits(path, before))
        for entry in table().left_out
    )


def _fits(path: str, value: str, patterns: Sequence[str]) -> bool:
    with_value = f"{path}={value}"
    return any(fnmatchcase(with_value if "=" in pattern else path, pattern) for pattern in patterns)
