"""The options of fio that Headrace knows: `options.toml`, read once."""

import difflib
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec


class Option(msgspec.Struct, frozen=True):
    """An option that has an effect."""

    value: str
    """Name of a reader in `headrace.jobs.fio.values`."""
    aliases: tuple[str, ...] = ()
    example: str = ""
    here: str = ""
    """Effect in a measurement, where it differs from fio's."""
    simulated: str = ""
    """Effect in a simulation, where it differs from that of a measurement."""


class Table(msgspec.Struct, frozen=True):
    """All options by name."""

    done: dict[str, Option]
    accepted: dict[str, str]
    """Options without an effect, and the reason."""
    refused: dict[str, str]
    """Options that are not supported, and what to write instead."""
    engines: dict[str, str]
    """Engines that are not supported, and what they need."""
    command: dict[str, str] = {}
    """Options of the command itself, and why they have no effect."""
    names: Mapping[str, str] = {}
    """Names and other names of the options that have an effect."""


@cache
def table() -> Table:
    """Return the table."""
    text = files("headrace.jobs.fio").joinpath("options.toml").read_text()
    document = tomllib.loads(text)
    done = msgspec.convert(document["done"], dict[str, Option])
    document["names"] = {
        each: name for name, option in done.items() for each in (name, *option.aliases)
    }
    return msgspec.convert(document, Table)


def unknown(name: str) -> str:
    """Say why an option is not supported, or that there is none, with the closest name."""
    options = table()
    if name in options.refused:
        return f"this option of fio is not supported: {options.refused[name]}"
    known = [*options.names, *options.accepted, *options.refused]
    close = difflib.get_close_matches(name, known, n=1)
    meant = f'; did you mean "{close[0]}"?' if close else ""
    return f"fio has no such option, or it belongs to an engine that is not supported{meant}"
