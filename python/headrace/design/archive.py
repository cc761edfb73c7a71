"""Cost of an archive over years: an erasure code over servers, tape, or an object store.

`alternatives` compares them with the disks of a design, for each zone of a worksheet that is an
archive. Such a zone needs little throughput, and has large or medium files that are no databases.

Not modelled: interest, staff, the room, a tape's wear, and the time to fetch a cartridge. Neither
are migration to a new generation and the price of reading from an object store.
"""

import math
from collections.abc import Iterator

import msgspec

from headrace.design.catalogue import FLEETS, Catalogue
from headrace.design.cost import cost
from headrace.design.enumeration import horizon_capacity
from headrace.design.evaluation import ArchiveAlternative, Evaluation, Violation
from headrace.design.figure import Figure, Input, by_key
from headrace.design.options import CODES
from headrace.design.system import Code
from headrace.design.worksheet import (
    Application,
    Worksheet,
    Zone,
    pool_worksheet,
    requirement_path,
    with_flows,
    zone_shares,
)
from headrace.quantities import HOURS_A_MONTH, number, quantity, size

DEFINITION = "definition"
MONTHS_YEAR = 12.0
COOLING = 1.5
"""Watts with cooling and distribution for a watt of load, as `facility.cooling_overhead` has it."""


class Servers(msgspec.Struct, frozen=True, kw_only=True):
    """Servers with single disks, and a code over them."""

    code: Code
    disks: int
    """Disks of a server."""
    disk_capacity: float
    """Bytes."""
    disk_price: float
    node_price: float
    """Price of a server with adapter and port, without disks."""
    watts: float = 300.0
    """Of a server without disks."""
    disk_watts: float = 8.0
    electricity: float = 0.0
    """Price of a kilowatt-hour."""


class Tape(msgspec.Struct, frozen=True, kw_only=True):
    """A library with drives and cartridges."""

    cartridge: float
    """Bytes of a cartridge, not compressed."""
    cartridge_price: float
    drives: int
    drive_price: float
    library_price: float
    copies: int = 2


TAPE = Tape(cartridge=18e12, cartridge_price=90, drives=2, drive_price=4500, library_price=9000)
"""A small library with drives of LTO-9 (declared prices: orders of magnitude in euros)."""
TAPE_RATE = 300e6
"""Bytes a second of a drive: LTO-9 of half height, manual of the IBM TS2290."""
TAPE_FIRST_BYTE = 81.0
"""Seconds until a cartridge is ready and at an average place: 16 s and 65 s, the same manual. The
robot and the wait for a drive are not in it."""
OBJECT_PRICE = 4.0
"""Price of a terabyte and month in an object store (declared: archive classes that need no
restore)."""
OBJECT_FIRST_BYTE = 0.2
"""Seconds until an object store answers: Amazon S3 User Guide, "Best practices design patterns",
100 to 200 ms."""


def archive(
    usable: float,
    years: float,
    servers: Servers | None = None,
    tape: Tape | None = None,
    object_price: float | None = None,
) -> tuple[Figure, ...]:
    """Return the cost of each alternative that is given.

    Args:
        usable: Bytes of the archive.
        years: Years of operation.
        servers: Servers for a code.
        tape: A tape library.
        object_price: Price of a terabyte and month in an object store.

    Returns:
        Figures with the keys `code-servers`, `code-purchase`, `code-failures`, `code-power`,
        `code-total`; `tape-cartridges`, `tape-total`; `object-total`.

    Raises:
        ValueError: A value is impossible.
    """
    if not usable > 0 or not years > 0:
        raise ValueError(f"{usable:g} B for {years:g} years: expected more than 0 of both")
    figures: list[Figure] = []
    if servers is not None:
        figures += _servers(servers, usable, years)
    if tape is not None:
        figures += _tape(tape, usable)
    if object_price is not None:
        figures.append(_rented(object_price, usable, years))
    return tuple(figures)


def _servers(given: Servers, usable: float, years: float) -> list[Figure]:
    code, width = given.code, given.code.data + given.code.parity
    if given.disks < 1 or not given.disk_capacity > 0:
        raise ValueError(f"{given.disks} disks of a server: expected at least 1, with a capacity")
    raw = usable * width / code.data
    count = max(math.ceil(raw / (given.disks * given.disk_capacity) * (1 - 1e-9)), width)
    fleet = FLEETS["nearline"]
    watts = given.watts + given.disks * given.disk_watts
    hours = HOURS_A_MONTH * MONTHS_YEAR * years
    servers = Input("servers", str(count), "servers of the code")
    disks = Input("disks of a server", str(given.disks), "given")
    price = Input("price of a disk", number(given.disk_price), "given")
    span = Input("years", f"{years:g}", "given")
    purchase = count * (given.node_price + given.disks * given.disk_price)
    failures = count * given.disks * fleet.yearly_rate * years * given.disk_price
    power = count * watts * COOLING / 1e3 * hours * given.electricity
    return [
        _figure(
            "code-servers", f"servers of the code {code.data}+{code.parity}", count,
            "usable x nodes of a code / data nodes / (disks of a server x capacity), or nodes of"
            " a code",
            Input("usable", size(usable), "given"),
            Input("nodes of a code", str(width), "given"),
            Input("data nodes", str(code.data), "given"),
            disks,
            Input("capacity", size(given.disk_capacity), "given"),
            unit="1",
        ),
        _figure(
            "code-purchase", "purchase of servers and disks", purchase,
            "servers x (price of a server + disks of a server x price of a disk)",
            servers, Input("price of a server", number(given.node_price), "given"), disks, price,
        ),
        _figure(
            "code-failures", "disks that fail", failures,
            "servers x disks of a server x failures a year x years x price of a disk",
            servers, disks,
            Input("failures a year", f"{fleet.yearly_rate:.4f}", fleet.source), span, price,
        ),
        _figure(
            "code-power", "power and cooling of the servers", power,
            "servers x power of a server x 1.5 x 8760 h x years x price of a kWh",
            servers, Input("power of a server", quantity(watts, "W"), "given"), span,
            Input("price of a kWh", f"{given.electricity:g}", "given"),
        ),
        _figure(
            "code-total", "total of the code over servers", purchase + failures + power,
            "purchase + failed disks + power",
            Input("purchase", number(purchase), "code-purchase"),
            Input("failed disks", number(failures), "code-failures"),
            Input("power", number(power), "code-power"),
        ),
    ]  # fmt: skip


def _tape(given: Tape, usable: float) -> list[Figure]:
    if given.copies < 1 or given.drives < 1 or not given.cartridge > 0:
        raise ValueError("tape: expected at least one copy and one drive, and a cartridge's bytes")
    # Each copy begins a cartridge of its own.
    cartridges = given.copies * math.ceil(usable / given.cartridge * (1 - 1e-9))
    total = (
        given.library_price + given.drives * given.drive_price + cartridges * given.cartridge_price
    )
    return [
        _figure(
            "tape-cartridges", "cartridges", cartridges, "copies x usable / cartridge, rounded up",
            Input("copies", str(given.copies), "given"),
            Input("usable", size(usable), "given"),
            Input("cartridge", size(given.cartridge), "given"),
            unit="1",
        ),
        _figure(
            "tape-total", "total of tape", total,
            "library + drives x price of a drive + cartridges x price of a cartridge",
            Input("library", number(given.library_price), "given"),
            Input("drives", str(given.drives), "given"),
            Input("price of a drive", number(given.drive_price), "given"),
            Input("cartridges", str(cartridges), "tape-cartridges"),
            Input("price of a cartridge", number(given.cartridge_price), "given"),
        ),
    ]  # fmt: skip


def _rented(price: float, usable: float, years: float) -> Figure:
    return _figure(
        "object-total", "total of an object store", usable / 1e12 * price * MONTHS_YEAR * years,
        "TB x price of a month x 12 x years",
        Input("TB", number(usable / 1e12), "given"),
        Input("price of a month", number(price), "given"),
        Input("years", f"{years:g}", "given"),
    )  # fmt: skip


def _figure(
    key: str, title: str, value: float, formula: str, *inputs: Input, unit: str = "money"
) -> Figure:
    return msgspec.convert(
        {
            "key": key,
            "title": title,
            "value": float(value),
            "unit": unit,
            "formula": formula,
            "inputs": inputs,
            "source": DEFINITION,
        },
        Figure,
    )


def alternatives(
    worksheet: Worksheet, catalogue: Catalogue, chosen: Evaluation | None = None
) -> tuple[ArchiveAlternative, ...]:
    """Return what can hold the data of each zone that is an archive, with its cost and limits.

    All hold what the zone needs after the years of the worksheet.

    Args:
        worksheet: The requirements.
        catalogue: Servers, disks and networks of the erasure code.
        chosen: The design whose disks are compared, with its cost.
    """
    shares = zone_shares(worksheet)
    networks = catalogue.networks if chosen is None else [chosen.design.network]
    port = min((one.price for one in networks if one.price is not None), default=None)
    listed: list[ArchiveAlternative] = []
    for zone in worksheet.zones:
        if zone.name not in shares or not _is_archive(zone, worksheet):
            continue
        sheet = with_flows(pool_worksheet(worksheet, (zone.name,)))
        if chosen is not None:
            listed += _disks(zone.name, shares[zone.name], chosen, worksheet, catalogue)
        listed += _code(zone.name, sheet, catalogue, port)
        listed += [_tape_of(zone, sheet), _store_of(zone.name, sheet)]
    return tuple(listed)


def _is_archive(zone: Zone, worksheet: Worksheet) -> bool:
    classes = [datum.data_class for datum in worksheet.data if datum.zone == zone.name]
    return (
        zone.throughput == "low"
        and bool(classes)
        and all(
            name.startswith(("large-", "medium-")) and not name.endswith("-database")
            for name in classes
        )
    )


def _disks(
    zone: str, share: float, chosen: Evaluation, worksheet: Worksheet, catalogue: Catalogue
) -> Iterator[ArchiveAlternative]:
    """Yield the disks of the design: servers of the zone's own, or the zone's part of all."""
    own = next((one for one in chosen.design.each_pool if one.zones == (zone,)), None)
    figures = chosen.cost
    if own is not None:
        figures = cost(own, catalogue, pool_worksheet(worksheet, own.zones))
    total = by_key(figures).get("total-cost")
    if total is None:
        return
    part = 1.0 if own is not None else share
    figure = _figure(
        "disk-total", "total of the disks of the design", total.value * part,
        "total of the zone's servers, with a switch" if own is not None
        else "total of the design x share of the zone",
        Input("total", number(total.value), "figure: total"),
        Input("share", f"{part:g}", "worksheet: zone.share"),
    )  # fmt: skip
    yield ArchiveAlternative(zone=zone, name="disks of the design", figures=(figure,))


def _code(
    zone: str, sheet: Worksheet, catalogue: Catalogue, port: float | None
) -> Iterator[ArchiveAlternative]:
    """Yield the cheapest erasure code over servers with nearline disks, if prices are known."""
    priced = [
        archive(
            horizon_capacity(sheet),
            sheet.capacity.years,
            Servers(
                code=code,
                disks=disks,
                disk_capacity=disk.capacity,
                disk_price=disk.price,
                node_price=node.price + port,
                watts=node.power,
                disk_watts=disk.power,
                electricity=sheet.budget.electricity or 0.0,
            ),
        )
        for code in CODES
        for node in catalogue.nodes
        for disk in catalogue.disks
        if disk.disk_class == "nearline" and node.takes(disk)
        if node.price is not None and disk.price is not None and port is not None
        for disks in range(1, node.slots + 1)
    ]
    if priced:
        yield ArchiveAlternative(
            zone=zone,
            name="erasure code over servers",
            figures=min(priced, key=lambda figures: figures[-1].value),
            limits=("small writes update every part of a stripe", "no simulation shows its rate"),
        )


def _tape_of(zone: Zone, sheet: Worksheet) -> ArchiveAlternative:
    """Return a library with the drives that the zone's applications keep busy."""
    copies = max(TAPE.copies, zone.copies or 1)
    moved = sum(
        (one.throughput or 0.0) * (share + (1 - share) * copies)
        for one in sheet.applications
        for share in (0.5 if one.read_share is None else one.read_share,)
    )
    drives = max(TAPE.drives, math.ceil(moved / TAPE_RATE))
    tape = msgspec.structs.replace(TAPE, drives=drives, copies=copies)
    return ArchiveAlternative(
        zone=zone.name,
        name="tape",
        figures=archive(horizon_capacity(sheet), sheet.capacity.years, tape=tape),
        first_byte=TAPE_FIRST_BYTE,
        limits=(
            "no POSIX access: files come back to disks first",
            "no random access: each place is a wait",
            f"{quantity(TAPE_RATE, 'B/s')} for a stream",
        ),
        violations=tuple(_waits(sheet, TAPE_FIRST_BYTE, has_places=False)),
    )


def _store_of(zone: str, sheet: Worksheet) -> ArchiveAlternative:
    figures = archive(horizon_capacity(sheet), sheet.capacity.years, object_price=OBJECT_PRICE)
    return ArchiveAlternative(
        zone=zone,
        name="object store",
        figures=figures,
        first_byte=OBJECT_FIRST_BYTE,
        limits=(
            "no POSIX access: HTTP, or a gateway in front",
            "reading is billed by the byte",
            "no faster than the link of the site",
        ),
        violations=tuple(_waits(sheet, OBJECT_FIRST_BYTE, has_places=True)),
    )


def _waits(sheet: Worksheet, first_byte: float, *, has_places: bool) -> Iterator[Violation]:
    """Yield the requirements of applications that a time to the first byte misses.

    Args:
        sheet: The requirements of the zone.
        first_byte: Seconds.
        has_places: Whether each call can read another place without waiting for a cartridge.
    """

    def missed(one: Application, figure: str, goal: str) -> Violation:
        got = quantity(first_byte, "s")
        return Violation(
            requirement_path(sheet, one.name, figure),
            goal,
            got,
            f"{one.name} waits {got} for a first byte; {goal} is accepted.",
        )

    for one in sheet.applications:
        for figure, most in (("latency", one.latency), ("latency_p99", one.latency_p99)):
            if most is not None and most < first_byte:
                yield missed(one, figure, f"at most {quantity(most, 's')}")
        if not has_places and (one.operations or one.pattern == "random"):
            rate = one.operations or (one.throughput or 0.0) / (one.transfer or 1e6)
            if rate * first_byte > 1:
                yield missed(one, "operations", f"{number(rate)} calls a second")
        if one.latency_matters and first_byte > 1:
            yield missed(one, "latency_matters", "no such wait, as its latency matters,")
