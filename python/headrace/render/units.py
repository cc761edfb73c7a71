"""Units in which results are shown."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headrace import quantities


@dataclass(frozen=True)
class Unit:
    """How values in SI units are shown."""

    name: str
    """Name of the unit, as at an axis; empty where the text of a value has its own."""
    scale: float
    """Factor from SI units to the unit of an axis."""
    text: Callable[[Any], str]
    """Return a value in SI units as the text of a cell."""

    def full(self, value: Any) -> str:
        """Return a value in SI units with its unit."""
        return f"{self.text(value)} {self.name}".strip()


TEXT = Unit("", 1.0, str)
COUNT = Unit("", 1.0, quantities.whole)
FIGURE = Unit("", 1.0, quantities.figure)
RATE = Unit("operations/s", 1.0, quantities.figure)
IOPS = Unit("IOPS", 1.0, quantities.figure)
SIZE = Unit("", 1.0, quantities.size)
SHORT_SIZE = Unit("", 1.0, quantities.short_size)
BINARY_SIZE = Unit("", 1.0, quantities.binary_size)
THROUGHPUT = Unit("MB/s", 1e-6, quantities.megabytes)
MEGABYTES = Unit("MB", 1e-6, quantities.megabytes)
BUSY = Unit("% busy", 100.0, quantities.percent)
SHARE = Unit("%", 100.0, quantities.percent)
TIME = Unit("s", 1.0, quantities.duration)
MILLISECONDS = Unit("ms", 1e3, quantities.milliseconds)
MICROSECONDS = Unit("µs", 1e6, quantities.duration)
