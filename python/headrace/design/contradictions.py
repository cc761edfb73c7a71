"""Requirements of a worksheet that clash with each other before any design is searched.

Each check compares two answers, or an answer with the least that any design of the catalogue
needs. A bound is never above the need of a real design, so that no feasible worksheet is refused.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from headrace.design.catalogue import Catalogue
from headrace.design.evaluation import Violation
from headrace.design.recommendation.facts import DAY, GIGABIT, cheapest_price, zone_bytes
from headrace.design.worksheet import Worksheet
from headrace.quantities import (
    HOURS_A_MONTH,
    YEAR,
    duration,
    figure,
    numbered,
    percent,
    rate_text,
    size,
)

REBOOT = 300.0
"""Seconds of a server's restart. Declared: five minutes."""
TOLERANCE = 1e-9
"""Relative difference that is rounding."""


def contradictions(worksheet: Worksheet, catalogue: Catalogue) -> tuple[Violation, ...]:
    """Return the requirements that clash, each with both sides and by how much.

    Unknown answers and entries without a price clash with nothing.
    """
    least = least_system(worksheet, catalogue)
    return tuple(violation for check in _CHECKS for violation in check(worksheet, catalogue, least))


@dataclass(frozen=True)
class LeastSystem:
    """Bounds below those of every design that holds the usable capacity of a worksheet."""

    bytes: float
    """Bytes of all copies that the worksheet demands."""
    price: float | None
    """Price of the disks."""
    power: float
    """Watts of disks and nodes."""
    units: float
    """Rack units of nodes and shelves."""
    weight: float | None
    """Kilograms of disks and nodes."""


def least_system(worksheet: Worksheet, catalogue: Catalogue) -> LeastSystem:
    """Return bounds below those of every design that holds the usable capacity.

    They count the copies that zones demand, and no other redundancy, spares or reserve. All nodes
    and shelves are full of disks. There is one node at least.
    """
    needed = worksheet.capacity.usable * _mean_copies(worksheet)
    price = cheapest_price(catalogue)
    slot_power, slot_units = _per_slot(catalogue)
    disks = [disk for disk in catalogue.disks if disk.capacity > 0]
    power = min((needed / disk.capacity * (disk.power + slot_power) for disk in disks), default=0.0)
    power = max(power, min((node.power for node in catalogue.nodes), default=0.0))
    one_node = min((node.rack_units for node in catalogue.nodes), default=0.0)
    largest = max((disk.capacity for disk in disks), default=math.inf)
    weights = [disk.weight / disk.capacity for disk in disks if disk.weight is not None]
    return LeastSystem(
        bytes=needed,
        price=None if price is None else needed * price,
        power=power,
        units=max(needed / largest * slot_units, one_node),
        weight=needed * min(weights) if len(weights) == len(disks) and disks else None,
    )


def _mean_copies(worksheet: Worksheet) -> float:
    """Return the copies that zones demand, weighted by their shares of the capacity."""
    parts = []
    for zone in worksheet.zones:
        share = zone.share
        if share is None:
            amount = zone_bytes(worksheet, zone)
            usable = worksheet.capacity.usable
            share = amount / usable if amount is not None and usable > 0 else 0.0
        parts.append((min(max(share, 0.0), 1.0), float(max(zone.copies or 1, 1))))
    total = math.fsum(share for share, _ in parts)
    extra = math.fsum(share * (copies - 1.0) for share, copies in parts)
    return 1.0 + (extra / total if total > 1.0 else extra)


def _per_slot(catalogue: Catalogue) -> tuple[float, float]:
    """Return the least watts and rack units of a disk's slot in a node or shelf."""
    boxes: list[tuple[float, float, int]] = [
        (node.power, node.rack_units, node.slots) for node in catalogue.nodes if node.slots > 0
    ]
    boxes += [(row.power, row.rack_units, row.slots) for row in catalogue.shelves if row.slots > 0]
    return (
        min((power / slots for power, _, slots in boxes), default=0.0),
        min((units / slots for _, units, slots in boxes), default=0.0),
    )


_Check = Callable[[Worksheet, Catalogue, LeastSystem], Iterator[Violation]]


def _exceeds(value: float, limit: float) -> bool:
    return value > limit * (1.0 + TOLERANCE)


def _watts(value: float) -> str:
    return f"{figure(value / 1000)} kW" if value >= 1000 else f"{figure(value)} W"


def _shares(worksheet: Worksheet, _: Catalogue, __: LeastSystem) -> Iterator[Violation]:
    shares = [(zone.name, zone.share) for zone in worksheet.zones if zone.share is not None]
    total = math.fsum(share for _, share in shares)
    if _exceeds(total, 1.0):
        parts = ", ".join(f"{name} {percent(share)} %" for name, share in shares)
        yield Violation(
            "zones",
            "at most 100 % together",
            f"{percent(total)} %",
            f"the shares of the zones ({parts}) exceed the usable capacity by"
            f" {percent(total - 1.0)} %",
        )


def _zone_sizes(worksheet: Worksheet, _: Catalogue, __: LeastSystem) -> Iterator[Violation]:
    for index, zone in enumerate(worksheet.zones):
        if zone.share is None:
            continue
        room = zone.share * worksheet.capacity.usable
        amount = math.fsum(datum.size or 0.0 for datum in worksheet.data if datum.zone == zone.name)
        if _exceeds(amount, room):
            yield Violation(
                f"zones.{index}.share",
                f"{size(amount)} of data",
                f"{size(room)}: {percent(zone.share)} % of capacity.usable",
                f"the data of zone {zone.name} exceeds its share of the capacity by"
                f" {size(amount - room)}",
            )


def _all_data(worksheet: Worksheet, _: Catalogue, __: LeastSystem) -> Iterator[Violation]:
    amount = math.fsum(datum.size or 0.0 for datum in worksheet.data)
    room = worksheet.capacity.usable
    if _exceeds(amount, room):
        yield Violation(
            "capacity.usable",
            f"{size(amount)} for data.size",
            size(room),
            f"the data exceeds the usable capacity by {size(amount - room)}",
        )


def _price(worksheet: Worksheet, catalogue: Catalogue, least: LeastSystem) -> Iterator[Violation]:
    budget = worksheet.budget.initial
    if budget is None or least.price is None or not _exceeds(least.price, budget):
        return
    copies = " with the copies that zones demand" if _demands_copies(worksheet) else ""
    yield Violation(
        "budget.initial",
        f"at most {budget:,.0f} {catalogue.currency}",
        f"{least.price:,.0f} {catalogue.currency}",
        f"the cheapest disks for capacity.usable = {size(worksheet.capacity.usable)}{copies} cost"
        f" {least.price - budget:,.0f} {catalogue.currency} more than budget.initial",
    )


def _demands_copies(worksheet: Worksheet) -> bool:
    return any((zone.copies or 1) > 1 for zone in worksheet.zones)


def _power(worksheet: Worksheet, _: Catalogue, least: LeastSystem) -> Iterator[Violation]:
    facility = worksheet.facility
    limits: list[tuple[str, float | None, str]] = [
        ("facility.power", facility.power, "power"),
        ("facility.cooling", facility.cooling, "heat"),
    ]
    if facility.amperes is not None:
        limits.append(("facility.circuits", facility.amperes * facility.voltage, "power"))
    if facility.ups_va:
        limit = facility.ups_va * facility.ups_power_factor
        limits.append(("facility.ups_va", limit, "load of the UPS"))
    for field, known, text in limits:
        if known is not None and _exceeds(least.power, known):
            yield Violation(
                field,
                f"at most {_watts(known)}",
                _watts(least.power),
                f"the least {text} of any design with capacity.usable ="
                f" {size(worksheet.capacity.usable)} is {_watts(least.power - known)} above"
                f" {field}",
            )


def _monthly_power(
    worksheet: Worksheet, catalogue: Catalogue, least: LeastSystem
) -> Iterator[Violation]:
    budget = worksheet.budget
    if budget.monthly_power is None or budget.electricity is None:
        return
    cost = least.power / 1000.0 * HOURS_A_MONTH * budget.electricity
    if _exceeds(cost, budget.monthly_power):
        yield Violation(
            "budget.monthly_power",
            f"at most {budget.monthly_power:,.0f} {catalogue.currency}",
            f"{cost:,.0f} {catalogue.currency}",
            f"the least power, {_watts(least.power)}, at budget.electricity costs"
            f" {cost - budget.monthly_power:,.0f} {catalogue.currency} a month more than"
            " budget.monthly_power",
        )


def _racks(worksheet: Worksheet, _: Catalogue, least: LeastSystem) -> Iterator[Violation]:
    facility = worksheet.facility
    if facility.racks is None:
        return
    room = facility.racks * facility.rack_units
    units = math.ceil(least.units - TOLERANCE)
    if units > room:
        yield Violation(
            "facility.racks",
            f"at most {room} rack units in {numbered(facility.racks, 'rack')}",
            f"{units} rack units",
            f"the densest nodes or shelves full of the largest disks for capacity.usable ="
            f" {size(worksheet.capacity.usable)} need {units - room} rack units more than"
            " facility.racks have",
        )
    elif facility.floor_load is not None and least.weight is not None:
        limit = facility.racks * facility.floor_load
        if _exceeds(least.weight, limit):
            yield Violation(
                "facility.floor_load",
                f"at most {limit:,.0f} kg in {numbered(facility.racks, 'rack')}",
                f"{least.weight:,.0f} kg",
                f"the disks alone are {least.weight - limit:,.0f} kg heavier than facility.racks"
                " with facility.floor_load may be",
            )


def _clients(worksheet: Worksheet, catalogue: Catalogue, _: LeastSystem) -> Iterator[Violation]:
    """Compare each application's throughput with what feeds or connects its clients."""
    port = _fastest_port(catalogue)
    groups = {client.name: client for client in worksheet.clients}
    for index, application in enumerate(worksheet.applications):
        members = [groups[name] for name in application.clients if name in groups]
        if application.throughput is None or not members:
            continue
        limit = math.fsum(one.count * min(port, _rate(one.source_rate)) for one in members)
        if not _exceeds(application.throughput, limit):
            continue
        by_source = [one for one in members if _rate(one.source_rate) < port]
        text = (
            "clients.source_rate of " + ", ".join(one.name for one in by_source)
            if by_source
            else "the fastest network of the catalogue at each client"
        )
        yield Violation(
            f"applications.{index}.throughput",
            f"{size(application.throughput)}/s",
            f"{size(limit)}/s",
            f"{text} lets its {numbered(sum(one.count for one in members), 'client')} move"
            f" {size(application.throughput - limit)}/s less than the application wants",
        )
    for index, group in enumerate(worksheet.clients):
        if group.high_throughput and group.source_rate is not None and group.source_rate < GIGABIT:
            yield Violation(
                f"clients.{index}.source_rate",
                "125 MB/s or more for clients.high_throughput",
                f"{size(group.source_rate)}/s",
                f"clients {group.name} want a high throughput, but their source gives"
                f" {size(GIGABIT - group.source_rate)}/s less than gigabit Ethernet carries",
            )


def _fastest_port(catalogue: Catalogue) -> float:
    """Return the bytes a second of a port of the fastest network."""
    return max((network.bandwidth for network in catalogue.networks), default=math.inf)


def _rate(rate: float | None) -> float:
    return math.inf if rate is None else rate


def _loss(worksheet: Worksheet, catalogue: Catalogue, least: LeastSystem) -> Iterator[Violation]:
    """Compare the accepted loss with that of disks without any redundancy, if none can exist."""
    limit = worksheet.recovery.loss_probability
    if limit is not None and limit <= 0:
        yield Violation(
            "recovery.loss_probability",
            "0",
            "above 0 for every design",
            "no design is without any risk of loss: expected a probability such as 1e-6",
        )
        return
    if limit is None or not catalogue.nodes or not catalogue.disks:
        return
    single = [each for each in worksheet.zones if each.copies == 1]
    slots = max(node.slots for node in catalogue.nodes)
    if catalogue.shelves and any(node.shelves for node in catalogue.nodes):
        slots += max(shelf.slots for shelf in catalogue.shelves)
    if slots >= 2 or not single:
        return
    years = worksheet.recovery.loss_years
    for zone in single:
        amount = zone_bytes(worksheet, zone) or 0.0
        expected = min(
            (
                math.ceil(amount / disk.capacity) * years * YEAR / disk.observed_mttf
                for disk in catalogue.disks
                if disk.capacity > 0 and disk.mttf > 0
            ),
            default=0.0,
        )
        loss = -math.expm1(-expected)
        if _exceeds(loss, limit):
            yield Violation(
                "recovery.loss_probability",
                f"at most {limit:.3g} in {numbered(years, 'year')}",
                f"{loss:.3g}",
                f"zones.{zone.name}.copies = 1, and no node of the catalogue has the two disks of"
                f" an array: its loss is {loss / limit:.3g} times the accepted one",
            )


def _survival(worksheet: Worksheet, _: Catalogue, __: LeastSystem) -> Iterator[Violation]:
    recovery = worksheet.recovery
    single = [zone.name for zone in worksheet.zones if zone.copies == 1]
    if recovery.survives_node and single:
        yield Violation(
            "recovery.survives_node",
            "copies over 2 nodes or more",
            "zones.copies = 1 of " + ", ".join(single),
            f"data must outlive a node, but zones {', '.join(single)} demand one copy: one node"
            " takes it",
        )
    downtime = recovery.downtime
    if downtime is None or downtime >= REBOOT:
        return
    if recovery.survives_node is False or single:
        cause = (
            "recovery.survives_node = false"
            if recovery.survives_node is False
            else f"zones.copies = 1 of {', '.join(single)}"
        )
        yield Violation(
            "recovery.downtime",
            f"at most {duration(downtime)} a month",
            f"{duration(REBOOT)} for one restart of a node",
            f"{cause} stops access while a node restarts, {duration(REBOOT - downtime)} longer"
            " than the accepted downtime",
        )


def _throughput(worksheet: Worksheet, catalogue: Catalogue, _: LeastSystem) -> Iterator[Violation]:
    """Compare the sum of throughputs with the fastest network and the most nodes."""
    total = math.fsum(application.throughput or 0.0 for application in worksheet.applications)
    port = _fastest_port(catalogue)
    limits = []
    room = worksheet.facility.racks
    units = min((node.rack_units for node in catalogue.nodes if node.rack_units > 0), default=0.0)
    if room is not None and units:
        nodes = math.floor(room * worksheet.facility.rack_units / units)
        limits.append(("facility.racks", nodes))
    prices = [node.price for node in catalogue.nodes]
    known = [price for price in prices if price is not None]
    budget = worksheet.budget.initial
    if budget is not None and known and len(known) == len(prices) and min(known) > 0:
        limits.append(("budget.initial", math.floor(budget / min(known))))
    for field, nodes in limits:
        if _exceeds(total, nodes * port):
            yield Violation(
                "applications.throughput",
                f"{size(total)}/s together",
                f"{size(nodes * port)}/s",
                f"{field} has room for {numbered(nodes, 'node')} at most: the fastest network of"
                f" the catalogue gives them {size(total - nodes * port)}/s less than the"
                " applications want"
                if nodes
                else f"{field} has room for no node of the catalogue",
            )


def _flows(worksheet: Worksheet, catalogue: Catalogue, _: LeastSystem) -> Iterator[Violation]:
    """Compare rates of flows with their clients, and lifetimes with the time to move the data."""
    groups = {client.name: client for client in worksheet.clients}
    zones = {area.name: (index, area) for index, area in enumerate(worksheet.zones)}
    port = _fastest_port(catalogue)
    for number, flow in enumerate(worksheet.flows):
        if flow.rate is None or not flow.rate > 0:
            continue
        group = groups.get(flow.source) or groups.get(flow.target)
        source = group.source_rate if group and flow.source == group.name else None
        # An outside place is one host.
        limit = (group.count if group else 1) * min(port, _rate(source))
        if (group or {flow.source, flow.target} & {*worksheet.outside}) and _exceeds(
            flow.rate, limit
        ):
            yield Violation(
                f"flows.{number}.rate",
                f"{size(flow.rate)}/s",
                f"{size(limit)}/s",
                f"{f'clients {group.name} move' if group else 'one port moves'}"
                f" {size(flow.rate - limit)}/s less than the flow from {flow.source} to"
                f" {flow.target} states",
            )
        index, zone = zones.get(flow.source, (-1, None))
        if zone is None or zone.lifetime is None or flow.removes:
            continue
        amount = math.fsum(datum.size or 0.0 for datum in worksheet.data if datum.zone == zone.name)
        needed = amount / flow.rate
        if _exceeds(needed, zone.lifetime):
            yield Violation(
                f"zones.{index}.lifetime",
                f"{duration(needed)} for {size(amount)} at {rate_text(flow.rate)}",
                duration(zone.lifetime),
                f"zone {zone.name} removes data {duration(needed - zone.lifetime)} before the"
                f" flow to {flow.target} has moved it",
            )


def _backups(worksheet: Worksheet, catalogue: Catalogue, _: LeastSystem) -> Iterator[Violation]:
    """Compare full backups each night with the day that they have."""
    port = _fastest_port(catalogue)
    for index, zone in enumerate(worksheet.zones):
        words = zone.backup.lower()
        amount = zone_bytes(worksheet, zone)
        if amount is None or "incremental" in words or "full" not in words:
            continue
        if not any(word in words for word in ("nightly", "daily", "every day", "every night")):
            continue
        needed = amount / port
        if _exceeds(needed, DAY):
            yield Violation(
                f"zones.{index}.backup",
                f"a full backup of {size(amount)} in 24 h",
                duration(needed),
                f"a full backup of zone {zone.name} each day over one port of the fastest network"
                f" takes {duration(needed - DAY)} longer than a day",
            )


def _answers(worksheet: Worksheet, _: Catalogue, __: LeastSystem) -> Iterator[Violation]:
    """Compare answers on kinds of data with those on the whole and on zones."""
    if worksheet.recovery.regenerable:
        for data in worksheet.data:
            if data.regenerable is False:
                yield Violation(
                    "recovery.regenerable",
                    "true",
                    f"data.{data.name}.regenerable = false",
                    f"all data can be generated again, but {data.name} cannot",
                )
    zones = {area.name: (index, area) for index, area in enumerate(worksheet.zones)}
    for data in worksheet.data:
        index, zone = zones.get(data.zone, (-1, None))
        if zone is None or data.striping is None or zone.distribution == "either":
            continue
        if data.striping != (zone.distribution == "striped"):
            yield Violation(
                f"zones.{index}.distribution",
                zone.distribution,
                f"data.{data.name}.striping = {str(data.striping).lower()}",
                f"zone {zone.name} is {zone.distribution}, but its data {data.name}"
                f" {'benefits' if data.striping else 'does not benefit'} from striping",
            )


_CHECKS: tuple[_Check, ...] = (
    _shares,
    _zone_sizes,
    _all_data,
    _price,
    _power,
    _monthly_power,
    _racks,
    _clients,
    _loss,
    _survival,
    _throughput,
    _flows,
    _backups,
    _answers,
)
