"""Disks by class, as data sheets of a time state them."""

from collections.abc import Mapping

import msgspec

from headrace.quantities import HOUR


class DiskPreset(msgspec.Struct, frozen=True):
    """Mean time to failure, bit error rate and, of some presets, capacity of a disk class."""

    mttf: float
    """Seconds."""
    bit_error_rate: float
    capacity: float | None
    """Bytes."""
    source: str


_TABLE = "Hindman 2011, table 3.2"
_SECTORS = f"{_TABLE}; 2 TB are 4e9 sectors of 512 B, the reading that gives both 68 % and 1.63 %"
_TWO_TB = 4e9 * 512

PRESETS: Mapping[str, DiskPreset] = {
    "desktop": DiskPreset(750_000 * HOUR, 1e-14, None, _TABLE),
    "nearline": DiskPreset(1_200_000 * HOUR, 1e-15, None, _TABLE),
    "enterprise": DiskPreset(1_600_000 * HOUR, 1e-16, None, _TABLE),
    "hindman-2011-desktop": DiskPreset(750_000 * HOUR, 1e-14, _TWO_TB, _SECTORS),
    "hindman-2011": DiskPreset(1_200_000 * HOUR, 1e-15, _TWO_TB, _SECTORS),
    "hindman-2011-enterprise": DiskPreset(1_600_000 * HOUR, 1e-16, 600e9, _TABLE),
}
"""Presets by name; `hindman-2011` is the nearline disk of 2 TB."""
