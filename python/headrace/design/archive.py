"""Cost of an archive over years: an erasure code over servers, tape, or an object store.

Not modelled: interest, staff, the room, a tape's wear, and the time to fetch a cartridge. Neither
are migration to a new generation and the price of reading from an object store.
"""

import math

import msgspec

from headrace.design.catalogue import FLEETS
from headrace.design.figure import Figure, Input
from headrace.design.system import Code
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
