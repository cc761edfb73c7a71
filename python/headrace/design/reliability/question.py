"""Questions about the reliability of a system: the Python view of `crates/survival`'s question.

Times are in seconds, sizes in bytes, rates in bytes a second, probabilities between 0 and 1. A
"disk" is the unit that fails and is replaced; with copies over nodes it may be an array. Fields,
defaults and sources are declared in `crates/survival/src/question.rs`.
"""

from typing import Literal

import msgspec

from headrace.quantities import YEAR

Concurrency = Literal["parallel", "serial"]
Method = Literal["auto", "closed-form", "markov", "monte-carlo"]
ReadErrorLoss = Literal["stripe", "array"]
ReadErrorWithRedundancy = Literal["corrected", "loss"]
Layout = Literal["within", "across"]
ReplacementManner = Literal["by-age", "all-at-once", "staggered"]

STRIPE = float(1 << 20)
"""Bytes of data of a stripe: two chunks of 512 KiB, Linux MD's default."""


class Array(msgspec.Struct, frozen=True, tag_field="kind", tag="array"):
    """Disks that survive `tolerates` failures: RAID-0, 1, 5, 6, an (n, k) code, n copies."""

    disks: int
    tolerates: int
    stripe_bytes: float = STRIPE


class Mirrors(msgspec.Struct, frozen=True, tag_field="kind", tag="mirrors"):
    """RAID-10: mirrors of `copies` disks each, with data striped over the mirrors."""

    disks: int
    copies: int = 2
    stripe_bytes: float = STRIPE


class Declustered(msgspec.Struct, frozen=True, tag_field="kind", tag="declustered"):
    """Stripes of `data` + `parity` chunks placed over all disks, with spare space on each."""

    disks: int
    data: int
    parity: int
    chunk_bytes: float = STRIPE
    spare_disks: int = 0


Redundancy = Array | Mirrors | Declustered


def disks_and_redundancy(redundancy: Redundancy) -> tuple[int, int]:
    """Return the disks of a group, and the blocks of a stripe that may be lost."""
    match redundancy:
        case Array():
            return redundancy.disks, redundancy.tolerates
        case Mirrors():
            return redundancy.disks, redundancy.copies - 1
        case Declustered():
            return redundancy.disks, redundancy.parity


class Disk(msgspec.Struct, frozen=True):
    """Capacity and read errors of a disk."""

    capacity_bytes: float = 1e12
    bit_error_rate: float = 0.0


class Exponential(msgspec.Struct, frozen=True, tag_field="kind", tag="exponential"):
    """A constant rate 1 / mean."""

    mean: float


class Weibull(msgspec.Struct, frozen=True, tag_field="kind", tag="weibull"):
    """Weibull law with its scale and its least value in seconds."""

    shape: float
    scale: float
    location: float = 0.0


class WeibullPart(msgspec.Struct, frozen=True):
    """A Weibull law as a part of a bathtub."""

    shape: float
    scale: float
    location: float = 0.0


class Bathtub(msgspec.Struct, frozen=True, tag_field="kind", tag="bathtub"):
    """Sum of the hazards of infant mortality, a constant rate and wear-out."""

    infant: WeibullPart
    wear_out: WeibullPart
    constant_mean: float | None = None


class HazardTable(msgspec.Struct, frozen=True, tag_field="kind", tag="hazard-table"):
    """A hazard that is constant in each interval of age."""

    ages: tuple[float, ...]
    hazards: tuple[float, ...]


LifetimeLaw = Exponential | Weibull | Bathtub | HazardTable


class Lifetime(msgspec.Struct, frozen=True):
    """Law of a disk's time to failure, from the day it is new."""

    law: LifetimeLaw
    burn_in: float = 0.0
    initial_age: float = 0.0


class Constant(msgspec.Struct, frozen=True, tag_field="kind", tag="constant"):
    """Always the same time."""

    seconds: float


class Transfer(msgspec.Struct, frozen=True, tag_field="kind", tag="transfer"):
    """Bytes moved at a rate; always the same time."""

    bytes: float
    bytes_per_second: float


Duration = Constant | Exponential | Weibull | Transfer
NO_TIME = Constant(0.0)


class Spares(msgspec.Struct, frozen=True):
    """Hot spares of one pool; `groups` groups share it, 0: all."""

    count: int
    restocking: Duration
    groups: int = 0


class Repair(msgspec.Struct, frozen=True):
    """Detection, replacement and rebuild of a failed disk, one after the other."""

    rebuild: Duration
    detection: Duration = NO_TIME
    replacement: Duration = NO_TIME
    concurrency: Concurrency = "parallel"
    spares: Spares | None = None


class NoScrub(msgspec.Struct, frozen=True, tag_field="kind", tag="none"):
    """A latent error stays until its disk is replaced."""


class ScrubPeriod(msgspec.Struct, frozen=True, tag_field="kind", tag="period"):
    """All disks are scrubbed at multiples of a period."""

    seconds: float


Scrub = NoScrub | ScrubPeriod | Weibull


class Latent(msgspec.Struct, frozen=True):
    """Latent sector errors: mean time between those of a disk, and scrubbing."""

    mean: float
    scrub: Scrub = NoScrub()


class ReadErrors(msgspec.Struct, frozen=True):
    """Effect of a read error in a rebuild, without and with redundancy left."""

    loses: ReadErrorLoss = "stripe"
    with_redundancy: ReadErrorWithRedundancy = "corrected"


class Batches(msgspec.Struct, frozen=True):
    """Batches of disks of which some have a common fault."""

    disks: int
    bad_share: float
    bad_factor: float


class Domain(msgspec.Struct, frozen=True):
    """Shelves, nodes, racks or power feeds that fail with all their disks."""

    name: str
    disks: int
    mean: float
    outage: Duration
    layout: Layout = "within"
    lost_share: float = 0.0


class Replacement(msgspec.Struct, frozen=True):
    """Planned replacement of old disks."""

    age: float
    manner: ReplacementManner = "by-age"


class Simulation(msgspec.Struct, frozen=True):
    """Settings of the simulation."""

    seed: int = 0
    missions: int | None = None
    relative_error: float = 0.01
    disk_years: float = 1e9
    biasing: bool = True
    count_losses: bool = False
    threads: int = 0


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question about the reliability of a system."""

    redundancy: Redundancy
    lifetime: Lifetime
    repair: Repair
    groups: int = 1
    disk: Disk = Disk()
    latent: Latent | None = None
    read_errors: ReadErrors = ReadErrors()
    batches: Batches | None = None
    domains: tuple[Domain, ...] = ()
    replacement: Replacement | None = None
    horizons: tuple[float, ...] = (YEAR, 5 * YEAR, 10 * YEAR)
    method: Method = "auto"
    simulation: Simulation = Simulation()
