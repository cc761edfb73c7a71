"""Power, cooling, space and weight of a design, and what the facility lacks for it."""

import math
from collections.abc import Iterable, Sequence

from headrace.design.evaluation import Violation
from headrace.design.figure import Figure, Input, by_key
from headrace.design.inventory import Part, parts
from headrace.design.power import Load, Supply, power_figures
from headrace.design.system import Design
from headrace.design.worksheet import Facility
from headrace.quantities import number, quantity, size

DEFINITION = "definition"
RACK_WEIGHT = 125.0
"""Kilograms of an empty rack: declared."""
LIMITED = {
    "facility.racks": "the number of racks",
    "facility.floor_load": "the weight of a rack",
    "facility.cooling": "the heat",
    "facility.ups_va": "the UPS's rating",
}
"""Names of limited figures in messages, by the field of their limit; of others their titles."""


def facility(design: Design, facility: Facility) -> tuple[Figure, ...]:
    """Return power, heat, space and weight of a design.

    Keys: `power`, `va`, `amperes`, `heat` and `cooling-tons`, and each of them with `max-` before
    it; `cooling-power`, `total-power`, `ups-va`, `power-per-tb`. Keys of space: `rack-units`,
    `racks`, `density`, and with all weights known `weight` and `weight-per-rack`.

    Args:
        design: The design.
        facility: Voltage, power factor of the UPS, overhead of cooling, units of a rack.
    """
    built = parts(design)
    loads = [
        Load(
            name=part.title,
            count=part.count,
            power=part.power,
            max_power=part.max_power,
            source=f"catalogue: {part.entry}",
        )
        for part in built
        if part.power or part.max_power
    ]
    supply = Supply(
        voltage=facility.voltage,
        ups_power_factor=facility.ups_power_factor,
        cooling_overhead=facility.cooling_overhead,
    )
    raw = sum(one.disks * one.disk.capacity for one in design.each_pool)
    figures = [*power_figures(loads, supply), *_space(design, built, facility)]
    power, units = by_key(figures)["power"], by_key(figures)["rack-units"]
    terabytes = Input("raw capacity", size(raw), "raw capacity")
    figures.append(
        Figure(
            key="power-per-tb",
            title="power of a raw TB",
            value=power.value / (raw / 1e12),
            unit="W/TB",
            formula="power at peak / raw capacity",
            inputs=(Input("power at peak", quantity(power.value, "W"), power.title), terabytes),
            source=DEFINITION,
        )
    )
    figures.append(
        Figure(
            key="density",
            title="raw TB in a rack unit",
            value=raw / 1e12 / units.value if units.value else math.inf,
            unit="TB/U",
            formula="raw capacity / rack units",
            inputs=(terabytes, Input("rack units", number(units.value), units.title)),
            source=DEFINITION,
        )
    )
    return tuple(figures)


def _space(design: Design, listed: Sequence[Part], facility: Facility) -> list[Figure]:
    housed = [part for part in listed if part.rack_units]
    units = Figure(
        key="rack-units",
        title="rack units",
        value=sum(part.count * part.rack_units for part in housed),
        unit="U",
        formula=" + ".join(f"{part.title} x units of {part.title}" for part in housed),
        inputs=tuple(
            one
            for it in housed
            for one in (
                Input(it.title, str(it.count), "design"),
                Input(f"units of {it.title}", f"{it.rack_units:g} U", f"catalogue: {it.entry}"),
            )
        ),
        source=DEFINITION,
    )
    racks = Figure(
        key="racks",
        title="racks",
        value=float(racks_for(_blocks(design, listed), facility.rack_units)),
        unit="1",
        formula=f"racks of {facility.rack_units} U that hold rack units, first fit",
        inputs=(Input("rack units", f"{number(units.value)} U", units.title),),
        source="declared: a server and its shelves stay in one rack, the largest first",
    )
    return [units, racks, *_weight(listed, racks)]


def _blocks(design: Design, housed: Sequence[Part]) -> list[float]:
    """Return the rack units of each block that stays in one rack: a server with its shelves."""
    blocks = []
    for part in housed:
        height = part.rack_units
        if part.kind == "node" and design.shelf is not None:
            height += design.shelves_per_node * design.shelf.rack_units
        if part.kind != "shelf" and height:
            blocks += [height] * part.count
    return blocks


def racks_for(blocks: Iterable[float], rack_units: float) -> int:
    """Return the number of racks that blocks of rack units need, the largest first.

    A block that is larger than a rack takes as many racks as its units need.

    Raises:
        ValueError: A rack has no units, or there are too many blocks.
    """
    if not rack_units > 0:
        raise ValueError(f"rack of {rack_units:g} U: expected a height such as 42")
    free: list[float] = []
    racks = 0
    for block in sorted(blocks, reverse=True):
        if block > rack_units:
            racks += math.ceil(block / rack_units)
            continue
        for index, room in enumerate(free):
            if room >= block:
                free[index] = room - block
                # Full racks are not checked again.
                if room - block < 1e-9:
                    free.pop(index)
                break
        else:
            racks += 1
            if rack_units - block > 1e-9:
                free.append(rack_units - block)
    return racks


def _weight(listed: Sequence[Part], racks: Figure) -> list[Figure]:
    """Return the weights, if the catalogue has those of all parts."""
    weighed = [part for part in listed if part.weight is None or part.weight]
    if any(part.weight is None for part in weighed):
        return []
    total = Figure(
        key="weight",
        title="weight without racks",
        value=sum(part.count * (part.weight or 0.0) for part in weighed),
        unit="kg",
        formula=" + ".join(f"{part.title} x weight of {part.title}" for part in weighed),
        inputs=tuple(
            one
            for it in weighed
            for one in (
                Input(it.title, str(it.count), "design"),
                Input(
                    f"weight of {it.title}",
                    f"{it.weight:g} kg",
                    "declared: 10 kg a unit" if it.kind == "switch" else f"catalogue: {it.entry}",
                ),
            )
        ),
        source=DEFINITION,
    )
    each = Figure(
        key="weight-per-rack",
        title="weight of a rack",
        value=RACK_WEIGHT + total.value / max(racks.value, 1.0),
        unit="kg",
        formula="empty rack + weight / racks",
        inputs=(
            Input("empty rack", f"{RACK_WEIGHT:g} kg", "declared"),
            Input("weight", quantity(total.value, "kg"), total.title),
            Input("racks", number(racks.value), racks.title),
        ),
        source=DEFINITION,
        note="mean over the racks; the heaviest may weigh more",
    )
    return [total, each]


def facility_limits(facility: Facility) -> tuple[tuple[str, float | None, str], ...]:
    """Return the limits of a facility: field of the worksheet, limit, key of the limited figure.

    On site the power includes that of cooling; at a co-location cooling is the provider's.
    Circuits are compared with the current by the labels, all else with the peak.
    """
    own_cooling = facility.place != "co-location"
    return (
        ("facility.power", facility.power, "total-power" if own_cooling else "power"),
        ("facility.racks", facility.racks, "racks"),
        ("facility.floor_load", facility.floor_load, "weight-per-rack"),
        ("facility.cooling", facility.cooling if own_cooling else None, "power"),
        ("facility.ups_va", facility.ups_va or None, "ups-va"),
        ("facility.circuits", facility.amperes, "max-amperes"),
    )


def facility_violations(figures: Iterable[Figure], facility: Facility) -> tuple[Violation, ...]:
    """Return the limits of the facility that a design exceeds, from its figures."""
    keyed = by_key(figures)
    return tuple(
        _violation(field, limit, keyed[key])
        for field, limit, key in facility_limits(facility)
        if limit is not None and key in keyed and keyed[key].value > limit * (1 + 1e-9)
    )


def _violation(field: str, limit: float, figure: Figure) -> Violation:
    subject = LIMITED.get(field, figure.title)
    limit_, got = quantity(limit, figure.unit), quantity(figure.value, figure.unit)
    return Violation(
        field=field,
        wanted=f"at most {limit_}",
        got=got,
        message=f"{subject[:1].upper()}{subject[1:]} is {got}; the facility has {limit_}.",
    )
