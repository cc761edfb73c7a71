"""Nets in TOML, JSON, CPN Tools' format and PNML. A net that is read is written in each format."""

import contextlib
from pathlib import Path

from headrace.net import load
from headrace.net.model import encode

from . import with_suffix

XML = (".cpn", ".pnml")


def _cpn(path: Path) -> None:
    if _is_xml(path):
        _convert(with_suffix(path, ".cpn"))


def _other(path: Path) -> None:
    if _is_xml(path):
        _convert(with_suffix(path, ".pnml"))
    else:
        is_json = path.read_bytes().lstrip().startswith(b"{")
        _convert(with_suffix(path, ".json" if is_json else ".toml"))


def _is_xml(path: Path) -> bool:
    return path.read_bytes().lstrip().startswith(b"<")


def _convert(path: Path) -> None:
    net = load(path)
    document = net.document()
    net.structure()
    for suffix in (".json", ".toml", *XML):
        # A format may lack parts of the net.
        with contextlib.suppress(ValueError):
            encode(document, path.with_suffix(suffix))


READERS = (_cpn, _other)
