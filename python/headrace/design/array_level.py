"""Arrays by their levels: how many disks hold data, and which numbers of disks are possible."""

import re
from typing import get_args

from headrace.design.system import Array, ArrayKind

LEAST_DISKS: dict[ArrayKind, int] = {
    "single": 1,
    "raid0": 2,
    "raid1": 2,
    "raid5": 3,
    "raid6": 4,
    "raid10": 4,
}
"""Fewest disks of an array: md(4) and mdadm(8); of RAID 10 two mirrors."""
PARITY: dict[ArrayKind, int] = {"single": 0, "raid0": 0, "raid5": 1, "raid6": 2}
DRAID_DATA = 8
"""Data disks of a group where none are given: zpoolconcepts(7)."""
DRAID_MOST_PARITY, DRAID_MOST_DISKS = 3, 255
"""Limits of a dRAID: zpoolconcepts(7)."""
MOST_DISKS = 10**6
"""Disks of a node above which a number is taken for a mistake."""


def array_of(kind: str, disks: int, data: int | None = None, parity: int | None = None) -> Array:
    """Return an array of a level over a number of disks.

    Args:
        kind: The level, such as "raid6"; "erasure" has `data` and `parity` of its own.
        disks: Disks of the array, spares not counted.
        data: Data disks of an erasure code.
        parity: Redundant disks of an erasure code.

    Raises:
        ValueError: There is no such level, or it is impossible with that number of disks. The
            message says what is possible.
    """
    level = array_kind(kind)
    if level == "erasure":
        return _erasure(disks, data, parity)
    if data is not None or parity is not None:
        raise ValueError(f"{kind}: has its own data and parity: expected them with erasure only")
    least = LEAST_DISKS[level]
    if disks < least:
        raise ValueError(f"{kind} of {disks} disks: expected at least {least} disks")
    if disks > MOST_DISKS:
        raise ValueError(f"{kind} of {disks} disks: expected at most {MOST_DISKS} disks")
    if level == "single" and disks != 1:
        raise ValueError(f"single of {disks} disks: expected 1 disk, or raid0")
    if level == "raid10":
        if disks % 2:
            raise ValueError(f"raid10 of {disks} disks: expected an even number of disks")
        return Array(kind=level, disks=disks, data=disks // 2, parity=disks // 2)
    if level == "raid1":
        return Array(kind=level, disks=disks, data=1, parity=disks - 1)
    redundant = PARITY[level]
    return Array(kind=level, disks=disks, data=disks - redundant, parity=redundant)


def array_kind(text: str) -> ArrayKind:
    """Return a level by its name. Raises ValueError if there is none, or if it is a dRAID."""
    for kind in get_args(ArrayKind):
        if text == kind != "draid":
            return kind  # type: ignore[no-any-return]
    levels = ", ".join(name for name in get_args(ArrayKind) if name != "draid")
    raise ValueError(f'"{text}": expected one of {levels}; a dRAID is written 2:8d:64c:2s')


def _erasure(disks: int, data: int | None, parity: int | None) -> Array:
    if data is None or parity is None:
        raise ValueError("erasure: expected data and parity, such as 8 and 3")
    if data < 1 or parity < 0:
        raise ValueError(
            f"erasure code {data}+{parity}: expected at least 1 data disk, and no negative parity"
        )
    if disks != data + parity:
        raise ValueError(
            f"erasure code {data}+{parity} of {disks} disks: expected {data + parity} disks"
        )
    return Array(kind="erasure", disks=disks, data=data, parity=parity)


def parse_draid(text: str) -> tuple[Array, int]:
    """Parse a dRAID as `zpool create` has it: `draid2:8d:64c:2s`, or `2:8d:64c:2s`.

    Returns:
        The array, and the number of its distributed spares.

    Raises:
        ValueError: It is malformed or impossible.
    """
    parity, data, disks, spares = 1, None, None, 0
    first, *rest = text.strip().lower().removeprefix("draid").split(":")
    expected = "expected parity, data, disks and spares such as 2:8d:64c:2s"
    if first:
        if not re.fullmatch(r"\d{1,4}", first):
            raise ValueError(f'"{text}": {expected}')
        parity = int(first)
    for part in rest:
        match = re.fullmatch(r"(\d{1,6})([dcs])", part)
        if match is None:
            raise ValueError(f'"{text}": {expected}')
        number = int(match[1])
        if match[2] == "d":
            data = number
        elif match[2] == "c":
            disks = number
        else:
            spares = number
    if disks is None:
        raise ValueError(f'"{text}": the number of disks is missing: {expected}')
    if data is None:
        data = min(DRAID_DATA, disks - parity - spares)
    return draid(disks, data, parity, spares), spares


def draid(disks: int, data: int, parity: int, spares: int) -> Array:
    """Return a declustered array. Raises ValueError if it is impossible in OpenZFS."""
    if not 1 <= parity <= DRAID_MOST_PARITY:
        raise ValueError(f"dRAID with parity {parity}: expected a parity of 1 to 3")
    if data < 1:
        raise ValueError(f"dRAID with {data} data disks in a group: expected at least 1")
    if not 2 <= disks <= DRAID_MOST_DISKS:
        raise ValueError(f"dRAID of {disks} disks: expected 2 to {DRAID_MOST_DISKS} disks")
    if data + parity > disks - spares:
        raise ValueError(
            f"dRAID of {disks} disks with {spares} spares: a group of {data} + {parity} disks"
            f" has no room: expected at least {data + parity + spares} disks"
        )
    return Array(kind="draid", disks=disks, data=data, parity=parity)
