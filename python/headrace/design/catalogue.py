"""A catalogue of what can be bought: disks, nodes, shelves, networks, and their prices.

The fields, their defaults and sources are declared in `crates/spec/src/catalogue`; these types are
their Python view. Quantities are in SI units.
"""

from typing import Literal, NamedTuple

import msgspec

from headrace.quantities import YEAR, percent_text

DiskClass = Literal["desktop", "nearline", "enterprise", "ssd", "nvme"]
FormFactor = Literal["3.5-inch", "2.5-inch", "nvme"]
"""Form of a disk, and of the slots that take it; "nvme" is any form on PCI Express."""


class Fleet(NamedTuple):
    """Failures of a published fleet of disks."""

    failures: int
    drive_days: int
    source: str

    @property
    def yearly_rate(self) -> float:
        """Failures of a disk a year."""
        return self.failures / self.drive_days * 365


_HARD_DISKS = Fleet(
    4317,
    115_638_676,
    "Backblaze Drive Stats, Q1 to Q4 2025: 344,196 hard disks,"
    " https://www.backblaze.com/blog/backblaze-drive-stats-for-2025/",
)
_SOLID_STATE = Fleet(
    25,
    934_441,
    "Backblaze Drive Stats, SSD edition, Q1 to Q4 2022: 2,906 SSDs for booting, as reported by"
    " https://www.tomshardware.com/news/backblaze-ssd-annual-stats-for-2022",
)
FLEETS: dict[DiskClass, Fleet] = {
    "desktop": _HARD_DISKS,
    "nearline": _HARD_DISKS,
    "enterprise": _HARD_DISKS,
    "ssd": _SOLID_STATE,
    "nvme": _SOLID_STATE,
}
"""Fleet by whose rate the disks of a class fail. No fleet of SAS or NVMe is published there."""


class DiskModel(msgspec.Struct, frozen=True):
    """A disk or solid-state drive."""

    name: str
    disk_class: DiskClass
    capacity: float
    """Bytes."""
    price: float | None
    mttf: float
    """Seconds, as the maker states it."""
    bit_error_rate: float
    """Unrecoverable read errors per bit read."""
    read_rate: float
    """Bytes a second, sequential."""
    write_rate: float
    access_time: float
    """Seconds before a random read: seek and half a turn; of solid-state drives the latency."""
    power: float
    """Watts at work."""
    idle_power: float | None = None
    weight: float | None = None
    """Kilograms."""
    failure_factor: float | None = None
    """Observed failure rate / the rate that `mttf` states; none: that of `FLEETS`."""
    source: str = ""
    form_factor: FormFactor | None = None
    """None: every slot takes it."""

    @property
    def observed_mttf(self) -> float:
        """Mean seconds to failure, as fleets or the failure factor have it."""
        if self.failure_factor is None:
            return YEAR / FLEETS[self.disk_class].yearly_rate
        return self.mttf / self.failure_factor

    @property
    def failure_source(self) -> str:
        """Source of the observed failure rate, beside the rate that the maker states."""
        maker = f"the maker states {percent_text(YEAR / self.mttf, 2)} a year"
        if self.failure_factor is None:
            fleet = FLEETS[self.disk_class]
            return f"{percent_text(fleet.yearly_rate, 2)} a year, {fleet.source}; {maker}"
        return f"catalogue: {self.name}, mttf / failure_factor {self.failure_factor:g}; {maker}"


def _fits(disk: DiskModel, form_factors: tuple[FormFactor, ...]) -> bool:
    return disk.form_factor is None or not form_factors or disk.form_factor in form_factors


class NodeModel(msgspec.Struct, frozen=True):
    """A storage server without its data disks."""

    name: str
    slots: int
    """Disk slots."""
    rack_units: float
    price: float | None
    memory: float
    """Bytes."""
    cores: int
    max_power: float
    """Watts on the label, without disks."""
    power: float
    """Watts measured at peak, without disks."""
    weight: float | None = None
    mttf: float | None = None
    """Seconds; failures of the node that leave its disks intact."""
    bus_rate: float | None = None
    """Bytes a second of its controller or host adapter."""
    shelves: int = 0
    """Shelves that can be attached."""
    yearly_maintenance: float | None = None
    source: str = ""
    form_factors: tuple[FormFactor, ...] = ()
    """Form factors that the slots take; empty: all."""

    def takes(self, disk: DiskModel) -> bool:
        """Return whether its slots take a disk."""
        return _fits(disk, self.form_factors)


class ShelfModel(msgspec.Struct, frozen=True):
    """A shelf of disks that a node drives (JBOD)."""

    name: str
    slots: int
    rack_units: float
    price: float | None
    power: float
    weight: float | None = None
    source: str = ""
    form_factors: tuple[FormFactor, ...] = ()
    """Form factors that the slots take; empty: all."""

    def takes(self, disk: DiskModel) -> bool:
        """Return whether its slots take a disk."""
        return _fits(disk, self.form_factors)


class NetworkModel(msgspec.Struct, frozen=True):
    """A network: what a port of a node and of a switch costs."""

    name: str
    bandwidth: float
    """Bytes a second of a port."""
    latency: float
    """Seconds, one way."""
    adapter_price: float | None
    port_price: float | None
    """Price of a switch's port."""
    port_power: float
    """Watts of a switch's port."""
    adapter_power: float = 0.0
    switch_ports: int = 32
    switch_rack_units: float = 1.0
    source: str = ""

    @property
    def price(self) -> float | None:
        """Price of an adapter and a switch's port; None if one of them is unknown."""
        if self.adapter_price is None or self.port_price is None:
            return None
        return self.adapter_price + self.port_price


class Catalogue(msgspec.Struct, frozen=True):
    """Disks, nodes, shelves and networks, at the prices of a day."""

    name: str
    date: str
    currency: str
    disks: tuple[DiskModel, ...]
    nodes: tuple[NodeModel, ...]
    networks: tuple[NetworkModel, ...]
    shelves: tuple[ShelfModel, ...] = ()
    price_decline: float = 0.15
    """Part by which the price of a byte falls in a year."""
    maintenance_share: float = 0.1
    """Maintenance a year, as a part of the purchase, where an entry has none."""

    def prices(self) -> dict[str, float | None]:
        """Return the price of each entry by its name; None if the catalogue does not give it."""
        entries: tuple[DiskModel | NodeModel | ShelfModel | NetworkModel, ...] = (
            *self.disks,
            *self.nodes,
            *self.shelves,
            *self.networks,
        )
        return {entry.name: entry.price for entry in entries}
