"""Facts of a zone, or of the whole system, that rules of recommendations compare."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from headrace.design.catalogue import Catalogue, DiskModel, NetworkModel
from headrace.design.data_classes import ClassOfData, data_classes
from headrace.design.worksheet import (
    Application,
    ClientGroup,
    Data,
    Distribution,
    Level,
    Worksheet,
    Zone,
)
from headrace.quantities import duration, figure, percent, rate_text, size
from headrace.rules import Value

DAY = 86400.0
LARGE_FILE = 100e6
"""Bytes from which a file is large: Hindman 2011, sections B.1 to B.4."""
GIGABIT = 125e6
"""Bytes a second of gigabit Ethernet."""
FULL_ARRAY_DISKS = 8
"""Disks of the RAID-5 whose read errors are judged: Hindman 2011, section 3.3.1."""
BACKUP_RATE = 100e6
"""Bytes a second of a backup. Declared: one gigabit link, Hindman 2011, section 4.5.5.1."""
MPI_PRESETS = ("ior-easy", "ior-hard", "ior-random", "checkpoint")
"""Presets of workloads whose processes write by MPI-IO or together."""
LEVELS: tuple[Level, ...] = ("low", "medium", "high")
LOW_LATENCY = 10e-6
"""Seconds, one way, below which a network has a low latency. Declared: InfiniBand and RDMA need
1 to 5 us, TCP over Ethernet 20 us and more."""

NetworkClass = Literal["gigabit", "fast", "low-latency"]


@dataclass(frozen=True)
class Site:
    """A zone of a worksheet with its data, clients and applications, and what can be bought."""

    worksheet: Worksheet
    catalogue: Catalogue
    zone: Zone | None
    """None: the whole system."""

    @cached_property
    def zones(self) -> tuple[Zone, ...]:
        """The zone, or all zones."""
        return self.worksheet.zones if self.zone is None else (self.zone,)

    @cached_property
    def data(self) -> tuple[Data, ...]:
        """Kinds of data in the zone."""
        if self.zone is None:
            return self.worksheet.data
        return tuple(it for it in self.worksheet.data if it.zone == self.zone.name)

    @cached_property
    def applications(self) -> tuple[Application, ...]:
        """Applications that access the zone; one without zones accesses all."""
        if self.zone is None:
            return self.worksheet.applications
        name = self.zone.name
        return tuple(it for it in self.worksheet.applications if name in it.zones or not it.zones)

    @cached_property
    def groups(self) -> tuple[ClientGroup, ...]:
        """Clients that access the zone, by applications or flows; all if neither says so."""
        clients = self.worksheet.clients
        if self.zone is None:
            return clients
        names = {group for it in self.applications for group in it.clients}
        for flow in self.worksheet.flows:
            if self.zone.name in (flow.source, flow.target):
                names |= {flow.source, flow.target}
        return tuple(it for it in clients if it.name in names) or clients

    @cached_property
    def classes(self) -> tuple[tuple[Data, ClassOfData], ...]:
        """Kinds of data with their classes."""
        return tuple((it, data_classes()[it.data_class]) for it in self.data)

    def value(self, fact: str) -> Value | None:
        """Return the value of a fact by its name; None if it is unknown."""
        return FACTS[fact].value(self)

    def part(self, holds: Callable[[Data, ClassOfData], bool | None]) -> float | None:
        """Return the part of the data, by bytes, for which something holds.

        Kinds for which it is unknown are left out. All kinds count alike if a size is unknown.
        """
        known = [(it.size, holds(it, one)) for it, one in self.classes]
        kinds = [(amount, it) for amount, it in known if it is not None]
        if not kinds:
            return None
        sizes = [amount for amount, _ in kinds if amount is not None]
        total = math.fsum(sizes)
        if len(sizes) < len(kinds) or not total > 0:
            return sum(it for _, it in kinds) / len(kinds)
        return math.fsum(amount or 0.0 for amount, it in kinds if it) / total


@dataclass(frozen=True)
class Fact:
    """A fact with the answers of the worksheet that it comes from."""

    name: str
    unit: Literal["B", "B/s", "s", "part", "count", "ratio", "yes", "word"]
    description: str
    answers: tuple[str, ...]
    """Fields of the worksheet that would make it known; none: it is no question."""
    value: Callable[[Site], Value | None]

    def text(self, site: Site) -> str:
        """Return the value as a reader writes it."""
        value = self.value(site)
        if value is None:
            return "unknown"
        if isinstance(value, str):
            return value
        if self.unit == "yes":
            return "yes" if value else "no"
        if self.unit == "count":
            return f"{value:,.0f}"
        return QUANTITIES[self.unit](value)


QUANTITIES: Mapping[str, Callable[[float], str]] = {
    "B": size,
    "B/s": rate_text,
    "s": duration,
    "part": lambda it: f"{percent(it)} %",
    "ratio": figure,
}
"""Formats of numbers, by unit."""


def network_class(network: NetworkModel) -> NetworkClass:
    """Return the class of a network as the rules have it."""
    if network.latency < LOW_LATENCY:
        return "low-latency"
    return "fast" if network.bandwidth > 2 * GIGABIT else "gigabit"


def zone_bytes(worksheet: Worksheet, zone: Zone) -> float | None:
    """Return the bytes of a zone: its share of the usable capacity, or else those of its data."""
    if zone.share is not None:
        return zone.share * worksheet.capacity.usable
    sizes = [it.size for it in worksheet.data if it.zone == zone.name]
    if sizes and None not in sizes:
        return math.fsum(it or 0.0 for it in sizes)
    return worksheet.capacity.usable if len(worksheet.zones) == 1 else None


def cheapest_price(catalogue: Catalogue) -> float | None:
    """Return the least price of a byte of a disk; None without prices."""
    prices = [
        it.price / it.capacity for it in catalogue.disks if it.price is not None and it.capacity > 0
    ]
    return min(prices, default=None)


def capacity_disk(catalogue: Catalogue) -> DiskModel | None:
    """Return the disk with the cheapest byte of those made for arrays: not of the desktop class.

    The largest one if none has a price.
    """
    disks = [it for it in catalogue.disks if it.disk_class != "desktop" and it.capacity > 0]
    priced = [it for it in disks if it.price is not None]
    if priced:
        return min(priced, key=lambda it: (it.price or 0.0) / it.capacity)
    return max(disks, key=lambda it: it.capacity, default=None)


def _any(answers: Iterable[bool | None]) -> bool | None:
    """Return whether one answer is yes; None if none is and one is unknown, or there is none."""
    found = list(answers)
    if any(found):
        return True
    return False if found and None not in found else None


def _mean(numbers: Sequence[float]) -> float | None:
    return math.fsum(numbers) / len(numbers) if numbers else None


def _striping(data: Data, one: ClassOfData) -> bool | None:
    if data.striping is not None:
        return data.striping
    return None if data.data_class == "many-files" else "striping" in one.benefits


def _striping_share(site: Site) -> float | None:
    share = site.part(_striping)
    if share is not None:
        return share
    # Without classes, the files of the applications say how large they are.
    sizes = [it.file_size for it in site.applications if it.file_size is not None]
    return _mean([float(it > LARGE_FILE) for it in sizes])


def _simple(data: Data, one: ClassOfData) -> bool | None:
    if data.striping is not None:
        return not data.striping
    if data.data_class == "many-files":
        return None
    return "simple-distribution" in one.benefits or "striping" in one.suffers


def _random_share(site: Site) -> float | None:
    patterns = [it.pattern for it in site.applications if it.pattern is not None]
    if patterns:
        return _mean([float(it == "random") for it in patterns])
    return site.part(lambda _, one: None if one.access == "any" else one.access == "random")


def _in_classes(*names: str) -> Callable[[Site], float | None]:
    return lambda site: site.part(lambda data, _: data.data_class in names)


def _file_count(site: Site) -> float | None:
    counts = [it.files for it in site.data]
    return None if not counts or None in counts else float(sum(it or 0 for it in counts))


def _many_files(site: Site) -> bool | None:
    if any(it.data_class in ("many-files", "small-files") for it in site.data):
        return True
    count = _file_count(site)
    return None if count is None else count >= 1e6


def _file_size(site: Site) -> float | None:
    count = _file_count(site)
    sizes = [it.size for it in site.data]
    if count and sizes and None not in sizes:
        return math.fsum(it or 0.0 for it in sizes) / count
    return _mean([it.file_size for it in site.applications if it.file_size is not None])


def _transfer(site: Site) -> float | None:
    return min((it.transfer for it in site.applications if it.transfer is not None), default=None)


def _read_share(site: Site) -> float | None:
    return _mean([it.read_share for it in site.applications if it.read_share is not None])


def _latency_matters(site: Site) -> bool | None:
    return _any(True if it.latency is not None else it.latency_matters for it in site.applications)


def _throughput(site: Site) -> float | None:
    known = [it.throughput for it in site.applications if it.throughput is not None]
    return math.fsum(known) if known else None


def _clients(site: Site) -> float | None:
    return float(sum(it.count for it in site.groups)) if site.groups else None


def _parallel_clients(site: Site) -> float | None:
    counts = {it.name: it.count for it in site.worksheet.clients}
    return max(
        (float(sum(counts.get(name, 0) for name in it.clients)) for it in site.applications),
        default=None,
    )


def _windows(fast: bool) -> Callable[[Site], float | None]:
    def count(site: Site) -> float | None:
        if not site.groups:
            return None
        return float(
            sum(
                it.count
                for it in site.groups
                if it.system == "windows" and (it.high_throughput or not fast)
            )
        )

    return count


def _slow_clients(site: Site) -> bool | None:
    if not site.groups:
        return None
    return all(
        not it.high_throughput or (it.source_rate is not None and it.source_rate <= GIGABIT)
        for it in site.groups
    )


def _level(site: Site) -> str | None:
    return max((it.throughput for it in site.zones), key=LEVELS.index, default=None)


def _demanded_distribution(site: Site) -> str | None:
    found: set[Distribution] = {it.distribution for it in site.zones}
    only = found.pop() if len(found) == 1 else None
    return None if only == "either" else only


def _demanded_copies(site: Site) -> str | None:
    copies = [it.copies for it in site.zones if it.copies is not None]
    return str(max(copies)) if copies else None


def _backup(site: Site) -> str | None:
    if site.zone is not None and site.zone.backup:
        return site.zone.backup
    return site.worksheet.recovery.backup or None


def _lifetime(site: Site) -> float | None:
    return site.zone.lifetime if site.zone is not None else None


def _cleared(site: Site) -> bool:
    """Return whether a flow takes data out of the zone for good."""
    names = {it.name for it in site.zones}
    return any(it.removes and it.source in names for it in site.worksheet.flows)


def _regenerable(site: Site) -> bool | None:
    answers = [it.regenerable for it in site.data]
    if False in answers:
        return False
    if answers and None not in answers:
        return True
    return site.worksheet.recovery.regenerable


def _bytes(site: Site) -> float | None:
    if site.zone is None:
        return site.worksheet.capacity.usable
    return zone_bytes(site.worksheet, site.zone)


def _backup_time(site: Site) -> float | None:
    amount = _bytes(site)
    return None if amount is None else amount / BACKUP_RATE


def _budget_factor(site: Site) -> float | None:
    price, budget = cheapest_price(site.catalogue), site.worksheet.budget.initial
    least = None if price is None else price * site.worksheet.capacity.first_purchase
    return None if not least or budget is None else budget / least


def _raid5_read_error(site: Site) -> float | None:
    disk = capacity_disk(site.catalogue)
    if disk is None or not 0.0 <= disk.bit_error_rate < 1.0:
        return None
    bits = 8.0 * disk.capacity * (FULL_ARRAY_DISKS - 1)
    return -math.expm1(bits * math.log1p(-disk.bit_error_rate))


def _capacity_disk_name(site: Site) -> str | None:
    disk = capacity_disk(site.catalogue)
    return None if disk is None else disk.name


def _least_disks(site: Site) -> float | None:
    largest = max((it.capacity for it in site.catalogue.disks), default=0.0)
    return math.ceil(site.worksheet.capacity.first_purchase / largest) if largest > 0 else None


def _one_node(site: Site) -> float | None:
    slots = max((it.slots for it in site.catalogue.nodes), default=0)
    disk = capacity_disk(site.catalogue)
    if disk is None or not slots:
        return None
    return 2.0 * site.worksheet.capacity.first_purchase / (slots * disk.capacity)


def _client_growth(site: Site) -> float | None:
    known = [it.growth for it in site.groups if it.growth is not None]
    return max(known, default=None)


def _has_ups(site: Site) -> bool | None:
    rating = site.worksheet.facility.ups_va
    return None if rating is None else rating > 0


def _managed(site: Site) -> bool:
    return all(it.manager or it.removal or it.lifetime is not None for it in site.zones)


_CLASSES = ("data.data_class",)
_ALL = (
    Fact(
        "throughput_level",
        "word",
        "throughput of the zone: low, medium, high",
        ("zones.throughput",),
        _level,
    ),
    Fact(
        "demanded_distribution",
        "word",
        "distribution that the worksheet demands",
        (),
        _demanded_distribution,
    ),
    Fact("demanded_copies", "word", "copies that the worksheet demands", (), _demanded_copies),
    Fact("demanded_backup", "word", "backup policy that the worksheet demands", (), _backup),
    Fact(
        "striping_share",
        "part",
        "part of the data whose class benefits from striping",
        _CLASSES,
        _striping_share,
    ),
    Fact(
        "simple_share",
        "part",
        "part of the data whose class benefits from simple distribution, or suffers from striping",
        _CLASSES,
        lambda site: site.part(_simple),
    ),
    Fact(
        "small_share",
        "part",
        "part of the data in small files",
        _CLASSES,
        _in_classes("small-files"),
    ),
    Fact(
        "database_share",
        "part",
        "part of the data in databases",
        _CLASSES,
        _in_classes("large-database", "medium-database"),
    ),
    Fact(
        "hot_spot_share",
        "part",
        "part of the data whose class may be striped against hot spots",
        _CLASSES,
        lambda site: site.part(lambda _, one: "striping-of-hot-spots" in one.benefits),
    ),
    Fact(
        "latency_share",
        "part",
        "part of the data whose class suffers from the latency of the network",
        _CLASSES,
        lambda site: site.part(lambda _, one: "network-latency" in one.suffers),
    ),
    Fact(
        "read_ahead_share",
        "part",
        "part of the data whose class benefits from read-ahead and write-back",
        _CLASSES,
        lambda site: site.part(lambda _, one: "read-ahead" in one.benefits),
    ),
    Fact(
        "replication_share",
        "part",
        "part of the data whose class is a candidate for replication",
        _CLASSES,
        lambda site: site.part(lambda _, one: "replication" in one.candidate),
    ),
    Fact(
        "random_share",
        "part",
        "part of the applications, or else of the data, with random access",
        ("applications.pattern",),
        _random_share,
    ),
    Fact(
        "many_files",
        "yes",
        "a class of small or many files, or a million files",
        ("data.files",),
        _many_files,
    ),
    Fact("file_size", "B", "mean size of a file", ("data.files",), _file_size),
    Fact(
        "transfer", "B", "smallest call of the applications", ("applications.transfer",), _transfer
    ),
    Fact(
        "read_share",
        "part",
        "part of the bytes that applications read",
        ("applications.read_share",),
        _read_share,
    ),
    Fact(
        "latency_matters",
        "yes",
        "the latency of calls matters to an application",
        ("applications.latency_matters",),
        _latency_matters,
    ),
    Fact(
        "wanted_throughput",
        "B/s",
        "throughput that the applications need together",
        ("applications.throughput",),
        _throughput,
    ),
    Fact("clients", "count", "clients", ("clients",), _clients),
    Fact(
        "parallel_clients",
        "count",
        "most clients that one application runs on",
        ("applications.clients",),
        _parallel_clients,
    ),
    Fact(
        "mpi_io",
        "yes",
        "an application writes by MPI-IO (presets of IOR, checkpoint)",
        (),
        lambda site: any(it.preset in MPI_PRESETS for it in site.applications),
    ),
    Fact("windows_clients", "count", "clients with Windows", ("clients",), _windows(fast=False)),
    Fact(
        "fast_windows_clients",
        "count",
        "clients with Windows that need a high throughput",
        ("clients",),
        _windows(fast=True),
    ),
    Fact(
        "slow_clients",
        "yes",
        "no client needs a high throughput, or its source is slower than gigabit Ethernet",
        ("clients",),
        _slow_clients,
    ),
    Fact(
        "client_growth",
        "part",
        "growth of the number of clients in a year",
        ("clients.growth",),
        _client_growth,
    ),
    Fact(
        "critical",
        "yes",
        "data is critical to business",
        ("recovery.critical",),
        lambda site: site.worksheet.recovery.critical,
    ),
    Fact(
        "regenerable",
        "yes",
        "lost data can be generated again",
        ("recovery.regenerable",),
        _regenerable,
    ),
    Fact(
        "access_critical",
        "yes",
        "access is critical to business",
        ("recovery.access_critical",),
        lambda site: site.worksheet.recovery.access_critical,
    ),
    Fact(
        "downtime",
        "s",
        "accepted unscheduled downtime a month",
        ("recovery.downtime",),
        lambda site: site.worksheet.recovery.downtime,
    ),
    Fact(
        "loss_probability",
        "ratio",
        "accepted probability of data loss",
        ("recovery.loss_probability",),
        lambda site: site.worksheet.recovery.loss_probability,
    ),
    Fact(
        "survives_node",
        "yes",
        "data must outlive the loss of a node",
        ("recovery.survives_node",),
        lambda site: site.worksheet.recovery.survives_node,
    ),
    Fact("lifetime", "s", "time after which data is removed", (), _lifetime),
    Fact("cleared", "yes", "a flow removes data of the zone", (), _cleared),
    Fact("bytes", "B", "size of the zone", ("zones.share",), _bytes),
    Fact(
        "full_backup_time", "s", "time of a full backup at 100 MB/s", ("zones.share",), _backup_time
    ),
    Fact(
        "growth",
        "part",
        "growth of the capacity in a year",
        ("capacity.growth",),
        lambda site: site.worksheet.capacity.growth,
    ),
    Fact(
        "budget_factor",
        "ratio",
        "budget / price of the usable capacity on the cheapest disks",
        ("budget.initial",),
        _budget_factor,
    ),
    Fact(
        "raid5_read_error",
        "part",
        "probability of a read error while a RAID-5 of eight of the catalogue's disks is rebuilt",
        (),
        _raid5_read_error,
    ),
    Fact(
        "capacity_disk",
        "word",
        "disk with the cheapest byte, without the desktop class",
        (),
        _capacity_disk_name,
    ),
    Fact("least_disks", "count", "fewest disks that hold the usable capacity", (), _least_disks),
    Fact(
        "one_node_load",
        "ratio",
        "usable capacity / half the disks of the largest node",
        (),
        _one_node,
    ),
    Fact(
        "place",
        "word",
        "where the system is housed: on-site, co-location",
        ("facility.place",),
        lambda site: site.worksheet.facility.place,
    ),
    Fact("has_ups", "yes", "the site has a UPS", ("facility.ups_va",), _has_ups),
    Fact(
        "generator",
        "yes",
        "the site has a generator",
        ("facility.generator",),
        lambda site: site.worksheet.facility.generator,
    ),
    Fact(
        "vendor_agreement",
        "yes",
        "the vendor maintains the system",
        ("budget.vendor_agreement",),
        lambda site: site.worksheet.budget.vendor_agreement,
    ),
    Fact(
        "managed", "yes", "each zone has a manager, a rule of removal or a lifetime", (), _managed
    ),
)
FACTS: Mapping[str, Fact] = {it.name: it for it in _ALL}
"""All facts by their names."""
