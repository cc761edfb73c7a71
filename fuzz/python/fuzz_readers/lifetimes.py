"""Failure records of disks in CSV: a table of disks, or Backblaze's daily files."""

from pathlib import Path

from headrace.design.lifetimes.fits import groups
from headrace.design.lifetimes.records import read_records

from . import with_suffix


def _records(path: Path) -> None:
    groups(read_records([with_suffix(path, ".csv")]))


READERS = (_records,)
