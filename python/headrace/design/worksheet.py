"""A storage configuration worksheet: the requirements of a design (Hindman 2011, appendix A).

The fields, their defaults and sources are declared in `crates/spec/src/worksheet`; these types are
their Python view. Quantities are in SI units: bytes, seconds, bytes a second, watts.
`None` and an empty text are unknown answers.
"""

from typing import Literal

import msgspec

Concern = Literal["capacity", "performance", "reliability"]
Role = Literal["management", "developers", "engineers", "users"]
Level = Literal["low", "medium", "high"]
Distribution = Literal["simple", "striped", "either"]
System = Literal["linux", "windows", "macos", "unix"]
DataClass = Literal[
    "large-multimedia",
    "large-text",
    "large-compressed",
    "large-database",
    "medium-multimedia",
    "medium-text",
    "medium-compressed",
    "medium-database",
    "small-files",
    "many-files",
]
"""The ten classes of Hindman 2011, appendix B, B.1 to B.10."""


class Customer(msgspec.Struct, frozen=True):
    """Whom the system is designed for."""

    company: str = ""
    contact: str = ""
    date: str = ""


class Limitation(msgspec.Struct, frozen=True):
    """A limitation of the existing system."""

    text: str
    concern: Concern
    seen_by: Role | None = None


class Wish(msgspec.Struct, frozen=True):
    """Something the customer wants."""

    text: str
    concern: Concern


class Background(msgspec.Struct, frozen=True):
    """The problem that the customer wants to solve."""

    problem: str = ""
    reason: str = ""
    existing: str = ""
    limitations: tuple[Limitation, ...] = ()
    wishes: tuple[Wish, ...] = ()


class CapacityNeed(msgspec.Struct, frozen=True):
    """Usable capacity and its growth."""

    usable: float
    """Bytes at the start."""
    growth: float | None = None
    """Growth in a year, as a part: 0.3 is 30 %."""
    years: float = 3.0
    """Years to plan for."""
    reserve: float = 0.2
    """Part of the initial need that is bought in addition."""

    @property
    def first_purchase(self) -> float:
        """Usable bytes to buy first: the initial need and its reserve."""
        return self.usable * (1 + self.reserve)


class ClientGroup(msgspec.Struct, frozen=True):
    """Clients that are alike."""

    name: str
    count: int
    growth: float | None = None
    """Growth of their number in a year, as a part."""
    system: System = "linux"
    high_throughput: bool = False
    source_rate: float | None = None
    """Throughput of what feeds them (USB, Firewire), in bytes a second."""
    has_network: bool = False
    """Whether they have adapters and switch ports that the system can use."""


class Zone(msgspec.Struct, frozen=True):
    """Data with equal policies: throughput, distribution, copies, backup, lifetime."""

    name: str
    throughput: Level = "medium"
    distribution: Distribution = "either"
    copies: int | None = None
    """Copies over nodes that the customer demands."""
    share: float | None = None
    """Part of the usable capacity."""
    backup: str = ""
    """"none", or the policy in words: "nightly full"."""
    lifetime: float | None = None
    """Seconds after which data is removed."""
    manager: str = ""
    removal: str = ""
    """How data is removed, and by whom."""


class Data(msgspec.Struct, frozen=True):
    """A kind of data."""

    name: str
    data_class: DataClass
    zone: str
    size: float | None = None
    """Bytes in all."""
    files: int | None = None
    striping: bool | None = None
    """Whether it benefits from striping, if the customer knows."""
    regenerable: bool | None = None


class Flow(msgspec.Struct, frozen=True):
    """Data on its way: from a zone, clients or an outside name to another."""

    source: str
    target: str
    what: str = ""
    """What moves, and by what means: "digital pictures, USB"."""
    rate: float | None = None
    """Bytes a second."""
    removes: bool = False
    """Whether it takes the data out of the source."""


class Application(msgspec.Struct, frozen=True):
    """An application, where it runs, what it accesses and how."""

    name: str
    clients: tuple[str, ...]
    """Groups of clients."""
    zones: tuple[str, ...]
    profile: str | None = None
    """File of a profile, a workload or a trace, relative to the worksheet."""
    preset: str | None = None
    """Preset of a workload."""
    pattern: Literal["sequential", "random"] | None = None
    transfer: float | None = None
    """Bytes of a call."""
    read_share: float | None = None
    """Part of the bytes that is read."""
    file_size: float | None = None
    processes: int | None = None
    """Processes on each client."""
    accelerators: int | None = None
    """Accelerators of its training, on all its clients together."""
    au: float | None = None
    """Part of the time in which they must compute (accelerator utilisation)."""
    throughput: float | None = None
    """Bytes a second that all its processes need together."""
    operations: float | None = None
    """Calls a second that all its processes need together."""
    latency: float | None = None
    """Seconds that a read or a write may take on average."""
    latency_p99: float | None = None
    """Seconds that 99 % of reads and of writes may take at most."""
    synchronous: bool | None = None
    """Whether each write waits until it is on stable storage."""
    latency_matters: bool | None = None


class Recovery(msgspec.Struct, frozen=True):
    """Disaster recovery."""

    critical: bool | None = None
    """Whether data is critical to business."""
    regenerable: bool | None = None
    backup: str = ""
    access_critical: bool | None = None
    downtime: float | None = None
    """Seconds of unscheduled downtime a month that are accepted."""
    loss_probability: float | None = None
    """Accepted probability that data is lost within `loss_years`."""
    loss_years: float = 5.0
    survives_node: bool | None = None
    """Whether data must outlive the loss of a node."""


class Facility(msgspec.Struct, frozen=True):
    """Where the system is housed."""

    place: Literal["on-site", "co-location"] | None = None
    racks: int | None = None
    rack_units: int = 42
    """Units of a rack."""
    power: float | None = None
    """Watts available."""
    circuits: int | None = None
    voltage: float = 230.0
    circuit_amperes: float | None = None
    """Amperes of a circuit."""
    ups_va: float | None = None
    """Volt-amperes of the site's UPS; 0: there is none."""
    ups_power_factor: float = 0.9
    generator: bool | None = None
    cooling: float | None = None
    """Watts of heat that can be taken away."""
    cooling_overhead: float = 0.5
    """Power of cooling and distribution for each watt of load: PUE - 1."""
    floor_load: float | None = None
    """Kilograms that a rack may weigh."""

    @property
    def amperes(self) -> float | None:
        """Amperes of all circuits; None if their number or their current is unknown."""
        if self.circuits is None or self.circuit_amperes is None:
            return None
        return self.circuits * self.circuit_amperes


class Budget(msgspec.Struct, frozen=True):
    """Money, in the currency of the catalogue."""

    initial: float | None = None
    monthly_power: float | None = None
    yearly_maintenance: float | None = None
    vendor_agreement: bool | None = None
    spare_parts: float | None = None
    engineer_hour: float | None = None
    """Cost of an engineer's hour."""
    engineer_hours_month: float | None = None
    """Hours a month that an engineer has for the system."""
    electricity: float | None = None
    """Price of a kilowatt-hour."""
    rack_month: float | None = None
    """Price of a rack a month at a co-location."""


class Worksheet(msgspec.Struct, frozen=True):
    """The requirements of a storage system."""

    name: str
    capacity: CapacityNeed
    description: str = ""
    customer: Customer = Customer()
    background: Background = Background()
    clients: tuple[ClientGroup, ...] = ()
    zones: tuple[Zone, ...] = ()
    data: tuple[Data, ...] = ()
    flows: tuple[Flow, ...] = ()
    applications: tuple[Application, ...] = ()
    recovery: Recovery = Recovery()
    facility: Facility = Facility()
    budget: Budget = Budget()
    outside: tuple[str, ...] = ()
    """Places outside the system and its clients that flows name."""


FLOW_TRANSFER = float(1 << 20)
"""Bytes of a call of a flow (declared: as of sequential applications)."""


def with_flows(worksheet: Worksheet) -> Worksheet:
    """Return a worksheet whose flows with a rate are applications, so that designs serve them.

    A flow reads its zone or writes to it, in sequence. It runs on its group of clients, or on one
    host for its outside place, whose network exists. One between zones reads and writes on all
    clients.
    """
    groups = {group.name for group in worksheet.clients}
    zones = {zone.name for zone in worksheet.zones}
    known = {application.name for application in worksheet.applications}
    hosts, moves = [], []
    for number, flow in enumerate(worksheet.flows):
        ends = (flow.source, flow.target)
        touched = tuple(end for end in ends if end in zones)
        name = f"flow {number}: {flow.source} to {flow.target}"
        if not flow.rate or not touched or name in known:
            continue
        others = tuple(end for end in ends if end not in zones)
        hosts += [ClientGroup(end, 1, has_network=True) for end in others if end not in groups]
        moves.append(
            Application(
                name=name,
                clients=others,
                zones=touched,
                pattern="sequential",
                transfer=FLOW_TRANSFER,
                read_share=sum(end == flow.source for end in touched) / len(touched),
                throughput=flow.rate * len(touched),
            )
        )
    return msgspec.structs.replace(
        worksheet,
        clients=(*worksheet.clients, *dict.fromkeys(hosts)),
        applications=(*worksheet.applications, *moves),
    )


def requirement_path(worksheet: Worksheet, application: str, figure: str) -> str:
    """Return the field of a requirement of an application, or of the flow that it stands for."""
    if number := _flow_number(application):
        return f"flow.{number}.rate"
    names = [each.name for each in worksheet.applications]
    return f"application.{names.index(application) if application in names else 0}.{figure}"


def _flow_number(application: str) -> str:
    """Return the number of the flow that an application stands for; empty if for none."""
    word, _, number = application.partition(":")[0].partition(" ")
    return number if word == "flow" and number.isdecimal() else ""


def zone_shares(worksheet: Worksheet) -> dict[str, float]:
    """Return the part of the usable capacity of each zone; empty if one is unknown.

    Zones without a share have what the others leave, by the sizes of their data.
    """
    if len(worksheet.zones) == 1:
        return {worksheet.zones[0].name: 1.0}
    known = {zone.name: zone.share for zone in worksheet.zones if zone.share is not None}
    sizes = {
        zone.name: [datum.size or 0.0 for datum in worksheet.data if datum.zone == zone.name]
        for zone in worksheet.zones
        if zone.name not in known
    }
    left, data = 1 - sum(known.values()), sum(map(sum, sizes.values()))
    parts = {name: left * sum(sizes[name]) / data if data else 0.0 for name in sizes}
    shares = {zone.name: (parts | known)[zone.name] for zone in worksheet.zones}
    total = sum(shares.values())
    if min(shares.values(), default=0.0) <= 0:
        return {}
    return {name: share / total for name, share in shares.items()}


def pool_worksheet(worksheet: Worksheet, names: tuple[str, ...]) -> Worksheet:
    """Return the requirements of some zones with their part of the capacity; of no names all.

    An application belongs to the zones of the pool if all its zones do. A flow from or to another
    zone has an outside place there. Limits stay those of the whole system.
    """
    if not names:
        return worksheet
    shares = zone_shares(worksheet)
    part = sum(shares[name] for name in names)
    replace = msgspec.structs.replace
    return replace(
        worksheet,
        capacity=replace(worksheet.capacity, usable=worksheet.capacity.usable * part),
        zones=tuple(
            replace(zone, share=shares[zone.name] / part)
            for zone in worksheet.zones
            if zone.name in names
        ),
        data=tuple(datum for datum in worksheet.data if datum.zone in names),
        applications=tuple(
            each
            for each in worksheet.applications
            if set(each.zones) <= set(names) and not _flow_number(each.name)
        ),
        outside=(
            *worksheet.outside,
            *(zone.name for zone in worksheet.zones if zone.name not in names),
        ),
    )
