"""Sizes and counts on the command line."""

import math
import re
from collections.abc import Sequence

import typer

from headrace.quantities import binary_size, short_size
from headrace.quantities import size as decimal_size

UNITS = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "k": 1 << 10,
    "m": 1 << 20,
    "g": 1 << 30,
    "t": 1 << 40,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
    "tib": 1 << 40,
}
"""Bytes of a unit; single letters are binary, as iozone and dd have them."""


def size(text: str) -> int:
    """A size in bytes such as "64 KiB", "1 GB", or "64k"."""
    found = re.fullmatch(r"\s*(\d+)\s*([A-Za-z]*)\s*", text)
    unit = UNITS.get(found[2].lower()) if found else None
    if found is None or unit is None or int(found[1]) == 0:
        raise typer.BadParameter(f'{text!r}: expected a size such as "64 KiB", "1 GB" or "64k"')
    return int(found[1]) * unit


def sizes(text: str) -> list[int]:
    """Sizes, a comma between two, or a range such as "4k-8m" that doubles."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not dash:
            found.append(size(part))
            continue
        low, high = size(first), size(last)
        if low > high:
            raise typer.BadParameter(f"{part!r}: expected the smaller size first")
        while low <= high:
            found.append(low)
            low *= 2
    return list(dict.fromkeys(found))


def check_whole_blocks(option: str, file: int, blocks: Sequence[int]) -> None:
    """Check that a file's size is a multiple of each smaller block size.

    Raises ValueError, which says what to write instead.
    """
    smaller = [block for block in blocks if block < file]
    parted = [block for block in smaller if file % block]
    if not parted:
        return
    unit = math.lcm(*smaller)
    # The common multiple of unrelated block sizes may be far larger than the file.
    nearest = binary_size(max(round(file / unit), 1) * unit)
    raise ValueError(
        f"{option} {_in_words(file)}: not a multiple of the block size {_in_words(parted[0])}:"
        f' expected whole blocks, such as {option} "{nearest}"'
    )


def _in_words(amount: int) -> str:
    """Format a size in binary units if it is a whole number of one, else in decimal units."""
    return short_size(amount) if amount % 1024 == 0 else decimal_size(amount)


def counts(text: str) -> list[int]:
    """Counts of at least 1, a comma between two, or a range such as "1-8" that doubles."""
    try:
        return list(dict.fromkeys(_counts(text)))
    except ValueError:
        raise typer.BadParameter(
            f'{text!r}: expected counts such as "4", "1,2,6" or "1-8"'
        ) from None


def different_counts(option: str, text: str) -> list[int]:
    """Parse different counts. Raises ValueError if they are malformed or repeated."""
    try:
        found = _counts(text)
    except ValueError:
        found = []
    if not found or len(set(found)) < len(found):
        raise ValueError(f'{option} "{text}": expected different counts such as 1,2,4 or 1-8')
    return found


def _counts(text: str) -> list[int]:
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        low, high = int(first), int(last if dash else first)
        if not 0 < low <= high:
            raise ValueError
        while low <= high:
            found.append(low)
            low *= 2
    return found
