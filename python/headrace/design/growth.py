"""Growth of a system over the years: what to buy when, at falling prices, and when racks are full.

Three plans are compared. The first buys at once what the last year needs. The second buys at the
start of each year what that year needs. The third buys whenever the system is 80 % full. A unit of
purchase is a server with its disks. The price of disks falls from year to year; that of servers
does not (declared).

Not modelled: larger disks in later years, interest, servers that wear out, power.
"""

import math
from collections.abc import Sequence

import msgspec

from headrace.design.capacity import capacity
from headrace.design.catalogue import Catalogue
from headrace.design.figure import Figure, Input, by_key
from headrace.design.inventory import parts
from headrace.design.raw_need import whole_units
from headrace.design.system import Design, shelves_for
from headrace.design.worksheet import CapacityNeed, Worksheet
from headrace.quantities import YEAR, number, numbered, size

HINDMAN = "Hindman 2011, section 2.3"
FULL = 0.8
"""Part of the capacity in use at which the third plan buys."""
MONTHS = 12
MOST_YEARS = 50.0
MOST_UNITS = 10**6
"""Units above which a plan is taken for a mistake."""


class PurchaseUnit(msgspec.Struct, frozen=True, kw_only=True):
    """A unit of purchase: a server with its disks."""

    usable: float
    """Usable bytes of one."""
    node_price: float
    """Price of what does not become cheaper."""
    disks_price: float
    """Price of its disks today."""
    price_decline: float = 0.15
    """Part by which the price of disks falls in a year."""
    units_per_rack: int | None = None
    racks: int | None = None
    """Racks that the facility has."""

    def price(self, year: float) -> float:
        """Return the price of one after a number of years."""
        return float(self.node_price + self.disks_price * (1 - self.price_decline) ** year)


class Purchase(msgspec.Struct, frozen=True, kw_only=True):
    """Units that are bought on a day."""

    year: float
    """Years from the start."""
    units: int
    price: float
    """Price of all of them."""


class PurchasePlan(msgspec.Struct, frozen=True, kw_only=True):
    """A plan: its purchases with their times and prices."""

    key: str
    """`at-once`, `yearly` or `when-full`."""
    title: str
    purchases: tuple[Purchase, ...]
    racks_full: float | None = None
    """Years after which the racks of the facility have no room for what is bought; none: never."""

    @property
    def units(self) -> int:
        """Units at the end."""
        return sum(purchase.units for purchase in self.purchases)

    @property
    def price(self) -> float:
        """Price of all purchases, each in the money of its day."""
        return sum(purchase.price for purchase in self.purchases)


def need_at(need: CapacityNeed, year: float) -> float:
    """Return the usable bytes that users need after a number of years, without a reserve."""
    return float(need.usable * (1 + (need.growth or 0.0)) ** year)


def check_growth(need: CapacityNeed, unit: PurchaseUnit) -> None:
    """Raise ValueError if a value is impossible or absurd."""
    growth = need.growth or 0.0
    for name, value, least, most, example in (
        ("usable capacity", need.usable, 1.0, 1e21, "20 TB"),
        ("growth", growth, -0.99, 10.0, "30 %"),
        ("years", need.years, 1 / MONTHS, MOST_YEARS, "3"),
        ("reserve", need.reserve, 0.0, 10.0, "20 %"),
        ("usable capacity of a unit", unit.usable, 1.0, 1e21, "32 TB"),
        ("price of a server", unit.node_price, 0.0, 1e12, "4000"),
        ("price of disks", unit.disks_price, 0.0, 1e12, "3000"),
        ("price decline", unit.price_decline, 0.0, 0.99, "15 %"),
    ):
        if not least <= value <= most:
            raise ValueError(f"{name} {value:g}: expected {least:g} to {most:g}, such as {example}")
    for name, count in (("units of a rack", unit.units_per_rack), ("racks", unit.racks)):
        if count is not None and count < 1:
            raise ValueError(f"{name} {count}: expected at least 1")
    most_needed = need_at(need, need.years) * (1 + need.reserve) / FULL
    if most_needed / unit.usable > MOST_UNITS:
        raise ValueError(
            f"{number(most_needed / unit.usable)} units: expected larger units, or less growth"
        )


def plans(need: CapacityNeed, unit: PurchaseUnit) -> tuple[PurchasePlan, ...]:
    """Return the three plans, the cheapest first.

    Args:
        need: Usable capacity, its growth and reserve, and the years to plan for.
        unit: What is bought at a time.

    Raises:
        ValueError: A value is impossible or absurd.
    """
    check_growth(need, unit)
    made = [
        _plan("at-once", "all at once", _at_once(need), unit),
        _plan("yearly", "every year", _yearly(need), unit),
        _plan("when-full", f"when {FULL:.0%} full".replace("%", " %"), _when_full(need), unit),
    ]
    return tuple(sorted(made, key=lambda plan: plan.price))


def _plan(
    key: str, title: str, steps: Sequence[tuple[float, float]], unit: PurchaseUnit
) -> PurchasePlan:
    """Return a plan that has the wanted bytes from each time on."""
    purchases: list[Purchase] = []
    stand = 0
    for year, bytes_ in steps:
        units = whole_units(bytes_, unit.usable) - stand
        if units > 0:
            stand += units
            purchases.append(Purchase(year=year, units=units, price=units * unit.price(year)))
    return PurchasePlan(
        key=key, title=title, purchases=tuple(purchases), racks_full=_racks_full(purchases, unit)
    )


def _racks_full(purchases: Sequence[Purchase], unit: PurchaseUnit) -> float | None:
    if unit.units_per_rack is None:
        return None
    room = unit.units_per_rack * (unit.racks or 1)
    stand = 0
    for purchase in purchases:
        stand += purchase.units
        if stand > room:
            return purchase.year
    return None


def _at_once(need: CapacityNeed) -> list[tuple[float, float]]:
    return [(0.0, max(need.first_purchase, need_at(need, need.years)))]


def _yearly(need: CapacityNeed) -> list[tuple[float, float]]:
    steps = []
    for year in range(math.ceil(need.years)):
        end = min(year + 1.0, need.years)
        bytes_ = max(need_at(need, float(year)), need_at(need, end))
        steps.append((float(year), max(need.first_purchase, bytes_) if year == 0 else bytes_))
    return steps


def _when_full(need: CapacityNeed) -> list[tuple[float, float]]:
    """Return the capacity of each month with which the system is at most 80 % full."""
    months = math.floor(need.years * MONTHS + 1e-9)
    steps = [(0.0, max(need.first_purchase, need.usable / FULL))]
    for month in range(1, months + 1):
        year = month / MONTHS
        steps.append((year, need_at(need, year) / FULL))
    return steps


def growth_figures(need: CapacityNeed, unit: PurchaseUnit) -> tuple[Figure, ...]:
    """Return the needs and the price of each plan, the cheapest first.

    Keys: `first-capacity`, `last-capacity`, `price-at-once`, `price-yearly`, `price-when-full`,
    and `racks-full-` with the key of a plan that does not fit in the racks.

    Raises:
        ValueError: A value is impossible or absurd.
    """
    check_growth(need, unit)
    growth = need.growth or 0.0
    figures = [
        Figure(
            key="first-capacity",
            title="capacity to buy first",
            value=need.first_purchase,
            unit="B",
            formula="initial need x (1 + reserve)",
            inputs=(
                Input("initial need", size(need.usable), "capacity.usable"),
                Input("reserve", f"{need.reserve:g}", "capacity.reserve"),
            ),
            source=HINDMAN,
        ),
        Figure(
            key="last-capacity",
            title=f"need after {numbered(need.years, 'year')}",
            value=need_at(need, need.years),
            unit="B",
            formula="initial need x (1 + growth)^years",
            inputs=(
                Input("initial need", size(need.usable), "capacity.usable"),
                Input("growth", f"{growth:g}", "capacity.growth"),
                Input("years", f"{need.years:g}", "capacity.years"),
            ),
            source="definition",
            note="the growth is unknown: none is assumed" if need.growth is None else "",
        ),
    ]
    for plan in plans(need, unit):
        figures.append(_price(plan, unit))
        if plan.racks_full is not None:
            figures.append(_full(plan, unit))
    return tuple(figures)


def _price(plan: PurchasePlan, unit: PurchaseUnit) -> Figure:
    terms, inputs = [], []
    for index, purchase in enumerate(plan.purchases, 1):
        terms.append(f"units {index} x price {index}")
        inputs += [
            Input(
                f"units {index}",
                str(purchase.units),
                f"bought after {numbered(purchase.year, 'year')}",
            ),
            Input(
                f"price {index}",
                number(purchase.price / purchase.units),
                f"{unit.node_price:g} + {unit.disks_price:g} x (1 -"
                f" {unit.price_decline:g})^{purchase.year:.3g}",
            ),
        ]
    return Figure(
        key=f"price-{plan.key}",
        title=f"price ({plan.title})",
        value=plan.price,
        unit="money",
        formula=" + ".join(terms),
        inputs=tuple(inputs),
        source=HINDMAN,
        note=f"at least {100 * (1 - FULL):.0f} % stay free, which the other plans do not keep"
        if plan.key == "when-full"
        else "",
    )


def _full(plan: PurchasePlan, unit: PurchaseUnit) -> Figure:
    return Figure(
        key=f"racks-full-{plan.key}",
        title=f"racks are full after ({plan.title})",
        value=(plan.racks_full or 0.0) * YEAR,
        unit="s",
        formula="first purchase beyond racks x units of a rack",
        inputs=(
            Input("racks", str(unit.racks or 1), "facility.racks"),
            Input("units of a rack", str(unit.units_per_rack), "given"),
        ),
        source="definition",
    )


def unit_of(design: Design, catalogue: Catalogue, worksheet: Worksheet) -> PurchaseUnit:
    """Return the unit of purchase that a design grows by: a data server with its disks.

    Raises:
        ValueError: The catalogue lacks a price; the message names the entry.
    """
    bought = [part for part in parts(design) if part.kind in ("node", "disk", "shelf", "adapter")]
    for part in bought:
        if part.price is None:
            raise ValueError(f"{part.entry}: has no price in the catalogue: growth needs one")
    disks = sum(part.count * (part.price or 0.0) for part in bought if part.kind == "disk")
    adapters = design.paths * sum(row.price or 0.0 for row in bought if row.kind == "adapter")
    rest = sum(row.count * (row.price or 0.0) for row in bought if row.kind in ("node", "shelf"))
    shelves = 0.0 if design.shelf is None else design.shelves_per_node * design.shelf.rack_units
    height = design.node.rack_units + shelves
    return PurchaseUnit(
        usable=by_key(capacity(design))["usable-capacity"].value / design.nodes,
        node_price=rest / design.nodes + adapters,
        disks_price=disks / design.nodes,
        price_decline=catalogue.price_decline,
        units_per_rack=max(int(worksheet.facility.rack_units // height), 1) if height else None,
        racks=worksheet.facility.racks,
    )


def years_until_full(need: CapacityNeed, usable: float) -> float:
    """Return the years until a usable capacity is full; infinite if it never is."""
    if not need.growth or usable <= 0:
        return 0.0 if usable < need.usable else math.inf
    return max(math.log(usable / need.usable) / math.log1p(need.growth), 0.0)


def later_purchases(
    design: Design, usable: float, need: CapacityNeed, price_decline: float
) -> tuple[Purchase, ...]:
    """Return what is bought at the start of each year so that the year's need fits.

    An array in every server comes first, with shelves for its disks, as long as slots are free.
    Then come whole servers with adapters and ports, each with the disks that the others have.
    Parts without a price count as free.

    Args:
        design: The design at first.
        usable: Its usable bytes.
        need: Capacity, growth and years.
        price_decline: Part by which the price of disks falls in a year.
    """
    node, shelf, network = design.node, design.shelf, design.network
    shelf_slots = 0 if shelf is None else shelf.slots
    slots = node.slots + node.shelves * shelf_slots
    arrays, servers, disks = design.arrays_per_node, design.nodes, design.disks_per_node
    least = 1
    if design.file_system == "glusterfs":
        # Servers come in whole sets of copies or of a code.
        least = design.copies if design.code is None else design.code.data + design.code.parity
    of_array = usable / (servers * arrays)
    disk_price = design.disk.price or 0.0
    shelf_price = 0.0 if shelf is None else shelf.price or 0.0
    ports = design.paths * (network.price or 0.0)
    purchases = []
    for year in range(math.ceil(need.years)):
        needed = need_at(need, min(year + 1.0, need.years)) * (1 - 1e-9)
        units, bought, fixed = 0, 0, 0.0
        while servers * arrays * of_array < needed and disks + design.array.disks <= slots:
            shelves = [
                shelves_for(each, node, shelf) for each in (disks, disks + design.array.disks)
            ]
            fixed += servers * (shelves[1] - shelves[0]) * shelf_price
            bought += servers * design.array.disks
            units += servers
            arrays, disks = arrays + 1, disks + design.array.disks
        lacking = math.ceil(max(needed / (arrays * of_array) - servers, 0) / least) * least
        fixed += lacking * (
            (node.price or 0.0) + ports + shelves_for(disks, node, shelf) * shelf_price
        )
        bought += lacking * disks
        servers, units = servers + lacking, units + lacking * arrays
        if units:
            price = fixed + bought * disk_price * (1 - price_decline) ** year
            purchases.append(Purchase(year=float(year), units=units, price=price))
    return tuple(purchases)


def later_figures(
    design: Design, usable: float, catalogue: Catalogue, need: CapacityNeed, maintenance: float
) -> list[Figure]:
    """Return the time until a design is full, and the price of what is bought later.

    Keys: `full-after`, `later-purchases`; none without growth.

    Args:
        design: The design at first.
        usable: Its usable bytes.
        catalogue: Fall of the price of disks.
        need: Capacity, growth and years.
        maintenance: Maintenance a year, as a part of the purchase.
    """
    full = years_until_full(need, usable)
    if not math.isfinite(full):
        return []
    inputs = []
    terms, total = [], 0.0
    later = later_purchases(design, usable, need, catalogue.price_decline)
    for index, purchase in enumerate(later, 1):
        left = need.years - purchase.year
        total += purchase.price * (1 + maintenance * left)
        terms.append(f"price {index} x (1 + maintenance x years left {index})")
        after = numbered(purchase.year, "year")
        text = f"{numbered(purchase.units, 'array')}, bought after {after}"
        inputs += [
            Input(f"price {index}", number(purchase.price), text),
            Input(f"years left {index}", f"{left:g}", "worksheet: capacity.years"),
        ]
    if terms:
        inputs.append(Input("maintenance", f"{maintenance:g}", "catalogue: maintenance_share"))
    return [
        Figure(
            key="full-after",
            title="full after, if nothing is bought later",
            value=full * YEAR,
            unit="s",
            formula="ln(usable capacity / initial need) / ln(1 + growth) years",
            inputs=(
                Input("usable capacity", size(usable), "figure: usable capacity"),
                Input("initial need", size(need.usable), "worksheet: capacity.usable"),
                Input("growth", f"{need.growth or 0:g}", "worksheet: capacity.growth"),
            ),
            source="definition",
        ),
        Figure(
            key="later-purchases",
            title="later purchases with their maintenance",
            value=total,
            unit="money",
            formula=" + ".join(terms) or "0",
            inputs=tuple(inputs),
            source=HINDMAN,
            note="bought at the start of the year whose need they hold; their power is not counted"
            if terms
            else "",
        ),
    ]


class RackLayout(msgspec.Struct, frozen=True, kw_only=True):
    """Servers of one rack that may have empty slots."""

    nodes: int
    slots: int
    """Disk slots of a node."""
    disks: int
    """Disks in each node."""
    disk_capacity: float
    """Bytes."""
    nodes_per_rack: int
    """Nodes that the rack holds at most."""


def rack_growth(layout: RackLayout) -> tuple[Figure, ...]:
    """Return the raw capacity of a rack now, at most, and the factor between them.

    Keys: `rack-capacity`, `full-rack-capacity`, `growth-factor`.

    Raises:
        ValueError: More disks than slots, or more nodes than the rack holds.
    """
    if not 1 <= layout.disks <= layout.slots:
        raise ValueError(f"{layout.disks} disks in {layout.slots} slots: expected 1 to the slots")
    if not 1 <= layout.nodes <= layout.nodes_per_rack:
        raise ValueError(
            f"{layout.nodes} nodes in a rack of {layout.nodes_per_rack}: expected 1 to the rack"
        )
    if not layout.disk_capacity > 0:
        raise ValueError(f"disk capacity {layout.disk_capacity:g} B: expected more than 0")
    disk_capacity = Input("capacity of a disk", size(layout.disk_capacity), "given")
    now = Figure(
        key="rack-capacity",
        title="raw capacity of the rack",
        value=layout.nodes * layout.disks * layout.disk_capacity,
        unit="B",
        formula="nodes x disks x capacity of a disk",
        inputs=(
            Input("nodes", str(layout.nodes), "given"),
            Input("disks", str(layout.disks), "given"),
            disk_capacity,
        ),
        source=HINDMAN,
    )
    most = Figure(
        key="full-rack-capacity",
        title="raw capacity of the full rack",
        value=layout.nodes_per_rack * layout.slots * layout.disk_capacity,
        unit="B",
        formula="nodes of a full rack x slots x capacity of a disk",
        inputs=(
            Input("nodes of a full rack", str(layout.nodes_per_rack), "given"),
            Input("slots", str(layout.slots), "given"),
            disk_capacity,
        ),
        source=HINDMAN,
    )
    factor = Figure(
        key="growth-factor",
        title="growth in the rack",
        value=most.value / now.value,
        unit="1",
        formula="full rack / rack now",
        inputs=(
            Input("full rack", size(most.value), most.title),
            Input("rack now", size(now.value), now.title),
        ),
        source=HINDMAN,
    )
    return now, most, factor
