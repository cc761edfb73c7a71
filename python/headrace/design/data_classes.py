"""The ten classes of data of Hindman 2011, appendix B, and what each needs of a system."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from headrace.design.worksheet import DataClass
from headrace.quantities import size

Benefit = Literal[
    "read-ahead",
    "write-back",
    "striping",
    "striping-of-hot-spots",
    "simple-distribution",
    "low-latency-disks",
    "low-latency-network",
    "low-latency-metadata-disks",
    "low-latency-metadata-network",
    "metadata-memory",
    "several-metadata-servers",
]
Burden = Literal["latency-of-small-calls", "striping", "network-latency"]


class ClassOfData(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A class of data and its usual access."""

    title: str
    source: str
    """Section that it comes from."""
    access: Literal["sequential", "random", "any"]
    formats: tuple[str, ...]
    processing: tuple[str, ...]
    """How programs process it, with the bit rates that the source names."""
    benefits: tuple[Benefit, ...]
    suffers: tuple[Burden, ...] = ()
    candidate: tuple[Literal["replication"], ...] = ()
    """Measures that suit it."""
    smallest: float | None = None
    """Bytes of a file; none: no limit."""
    largest: float | None = None

    @property
    def sizes(self) -> str:
        """Range of the sizes of its files: "1 MB to 100 MB"."""
        low, high = (None if limit is None else size(limit) for limit in self._limits)
        if low and high:
            return f"{low} to {high}"
        return f"above {low}" if low else f"below {high}" if high else "any"

    @property
    def _limits(self) -> tuple[float | None, float | None]:
        return self.smallest, self.largest


@cache
def data_classes() -> Mapping[DataClass, ClassOfData]:
    """Return the classes by their names, in the order of appendix B."""
    text = files("headrace.design").joinpath("data_classes.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=dict[DataClass, ClassOfData])
