"""Silent corruption: blocks that hold other data than was written, without any error.

The rate of a disk class is that of checksum mismatches in a study of 1.53 million disks. Checksums,
scrubbing and redundancy decide whether a mismatch is found, located and repaired.

Source: Bairavasundaram et al. 2008, "An Analysis of Data Corruption in the Storage Stack" (FAST
'08); Hindman 2011, section 3.1.2.
"""

import math
from typing import Literal

import msgspec

from headrace.design.reliability.question import Redundancy, disks_and_redundancy

Checksums = Literal["none", "block", "end-to-end"]

STUDY = "Bairavasundaram et al. 2008; Hindman 2011, section 3.1.2"
MISMATCHES = 400_000
"""Checksum mismatches on all disks of the study."""
STUDY_YEARS = 41 / 12
"""Length of the study. Disks that came later make the rates lower bounds."""
NEARLINE_FACTOR = 10
"""Rate of nearline disks over that of enterprise disks: an order of magnitude in the study."""
DISKS = {"nearline": 358_000, "enterprise": 1_170_000}
"""Disks of the study by class: 1.53 million in all (section 4 of the study)."""
CORRUPT_DISKS = {"nearline": 3_088, "enterprise": 767}
"""Disks that had any mismatch (section 4 of the study)."""
MOST_RATE = 1e6


class CorruptionRate(msgspec.Struct, frozen=True):
    """Silent corruptions of a disk in a year."""

    mismatches: float
    """Corrupted blocks in a disk-year."""
    corrupt_disks: float | None
    """Disks that get any, in a disk-year; none: unknown."""
    source: str


class SilentCorruption(msgspec.Struct, frozen=True, kw_only=True):
    """Expected numbers of corrupted blocks of a system, by what becomes of them.

    `repaired`, `located`, `detected` and `undetected` are parts of `over_years`.
    """

    rate_per_disk_year: float
    source: str
    disks: int
    checksums: Checksums
    years: float
    a_year: float
    over_years: float
    repaired: float
    """Found, and restored from redundancy."""
    located: float
    """Found without redundancy: lost, and known to be."""
    detected: float
    """Redundancy does not match the data, and nothing tells which is wrong."""
    undetected: float
    """Never found: readers get wrong data."""
    corrupt_disks_a_year: float | None
    """Disks that get any corruption in a year; none: unknown."""
    assumptions: tuple[str, ...]


def parse_corruption_rate(text: str) -> CorruptionRate:
    """Return the rate of a disk class, or a rate in mismatches a disk-year.

    Raises:
        ValueError: It is neither; the message says what to write.
    """
    name = text.strip().lower()
    if name in DISKS:
        return class_rate(name)
    try:
        rate = float(name)
    except ValueError:
        rate = math.nan
    # A comparison with NaN is false.
    if not 0 <= rate <= MOST_RATE:
        raise ValueError(
            f"expected {' or '.join(DISKS)}, or corrupted blocks a disk-year such as 0.1"
        )
    return CorruptionRate(rate, None, "--silent-corruption")


def class_rate(name: str) -> CorruptionRate:
    """Return the rate of a disk class of the study.

    All mismatches are those of both classes, and a nearline disk has ten times as many as an
    enterprise disk.
    """
    weighted = DISKS["enterprise"] + NEARLINE_FACTOR * DISKS["nearline"]
    enterprise = MISMATCHES / STUDY_YEARS / weighted
    rate = enterprise * (NEARLINE_FACTOR if name == "nearline" else 1)
    return CorruptionRate(rate, CORRUPT_DISKS[name] / DISKS[name] / STUDY_YEARS, STUDY)


def silent_corruption(
    redundancy: Redundancy,
    groups: int,
    rate: CorruptionRate,
    checksums: Checksums,
    is_scrubbed: bool,
    years: float,
) -> SilentCorruption:
    """Return the expected silent corruptions of a system, and what becomes of them.

    Args:
        redundancy: Redundancy of a group.
        groups: Groups that are alike.
        rate: Corruptions of a disk.
        checksums: Where checksums are saved. `block`: with the block on the disk. `end-to-end`:
            apart from it, from the application or file system on.
        is_scrubbed: Whether redundancy is compared with the data regularly.
        years: Years to count for.
    """
    disks, redundant = disks_and_redundancy(redundancy)
    a_year = disks * groups * rate.mismatches
    all_years = a_year * years
    fate = _fate(checksums, is_scrubbed, redundant)
    return SilentCorruption(
        rate_per_disk_year=rate.mismatches,
        source=rate.source,
        disks=disks * groups,
        checksums=checksums,
        years=years,
        a_year=a_year,
        over_years=all_years,
        repaired=all_years if fate == "repaired" else 0.0,
        located=all_years if fate == "located" else 0.0,
        detected=all_years if fate == "detected" else 0.0,
        undetected=all_years if fate == "undetected" else 0.0,
        corrupt_disks_a_year=None
        if rate.corrupt_disks is None
        else disks * groups * rate.corrupt_disks,
        assumptions=_assumptions(checksums, fate),
    )


Fate = Literal["repaired", "located", "detected", "undetected"]


def _fate(checksums: Checksums, is_scrubbed: bool, redundant: int) -> Fate:
    if checksums != "none":
        return "repaired" if redundant else "located"
    if not is_scrubbed or not redundant:
        return "undetected"
    return "detected" if redundant == 1 else "repaired"


def _assumptions(checksums: Checksums, fate: Fate) -> tuple[str, ...]:
    said = [
        "Silent corruption: expected numbers at a constant rate, beside the loss probability. They"
        " come in bursts on few disks, so no probability follows from them."
    ]
    if checksums == "none" and fate == "repaired":
        said.append(
            "Two redundant blocks tell which block is wrong if the array solves for it. Linux MD"
            " does not: its repair writes new parity (md(4))."
        )
    if checksums == "none" and fate in ("repaired", "detected"):
        said.append("Until the scrub, readers get the wrong data: reads do not compare parity.")
    if checksums == "block":
        said.append(
            "The rate has no lost or misdirected writes: they come in addition, and only end-to-end"
            " checksums find them."
        )
    if checksums != "none" and fate == "repaired":
        said.append("A repair needs its redundancy: the group is not degraded (declared).")
    return tuple(said)
