"""Power, cooling, space and weight of a design, and what the facility lacks for it.

Every load has two powers. Circuits are laid out for that of its label. The UPS, cooling and the
price of electricity follow that measured at its peak.

Not modelled: inrush currents, phases, losses of the UPS and of its battery's charging, people and
lighting as sources of heat.
"""

import math
from collections.abc import Iterable, Sequence

import msgspec

from headrace.design.evaluation import Violation
from headrace.design.figure import Figure, Input, by_key
from headrace.design.inventory import Part, parts
from headrace.design.system import Design
from headrace.design.worksheet import Facility
from headrace.report.figure_tables import number, quantity

POWER_SOURCE = "Hindman 2011, section 2.8.1"
COOLING_SOURCE = "Hindman 2011, section 2.8.2"
DEFINITION = "definition"
BTU_PER_WATT = 3.41
TONS_PER_WATT = 0.000283
"""Factors of section 2.8.2."""
POWER_FACTOR = 1.0
"""Power factor of servers: section 2.8.1 has "approaching 1.0"."""
RACK_WEIGHT = 125.0
"""Kilograms of an empty rack: declared."""


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """Equal consumers of power."""

    name: str
    count: int
    power: float
    """Watts of one, measured at peak."""
    max_power: float
    """Watts of one, on the label."""
    source: str = ""


class Supply(msgspec.Struct, frozen=True, kw_only=True):
    """How power is supplied, without a worksheet."""

    voltage: float
    power_factor: float = POWER_FACTOR
    """Watts / volt-amperes of the loads."""
    ups_power_factor: float = 0.9
    cooling_overhead: float = 0.5
    """Watts of cooling and distribution for each watt of load: PUE - 1."""
    source: str = "worksheet: facility"


def facility(design: Design, facility: Facility) -> tuple[Figure, ...]:
    """Return power, heat, space and weight of a design.

    Keys: `power`, `va`, `amperes`, `heat` and `cooling-tons`, and each of them with `max-` before
    it; `cooling-power`, `total-power`, `ups-va`, `power-per-tb`. Keys of space: `rack-units`,
    `racks`, `density`, and with all weights known `weight` and `weight-per-rack`.

    Args:
        design: The design.
        facility: Voltage, power factor of the UPS, overhead of cooling, units of a rack.
    """
    found = parts(design)
    loads = [
        Load(
            name=it.title,
            count=it.count,
            power=it.power,
            max_power=it.max_power,
            source=f"catalogue: {it.entry}",
        )
        for it in found
        if it.power or it.max_power
    ]
    supply = Supply(
        voltage=facility.voltage,
        ups_power_factor=facility.ups_power_factor,
        cooling_overhead=facility.cooling_overhead,
    )
    raw = design.disks * design.disk.capacity
    figures = [*power_figures(loads, supply), *_space(design, found, facility)]
    power, units = by_key(figures)["power"], by_key(figures)["rack-units"]
    terabytes = Input("raw capacity", quantity(raw, "B").partition(" (")[0], "raw capacity")
    figures.append(
        Figure(
            key="power-per-tb",
            title="power of a raw TB",
            value=power.value / (raw / 1e12),
            unit="W/TB",
            formula="power at peak / raw capacity",
            inputs=(Input("power at peak", _text(power), power.title), terabytes),
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


def check_supply(supply: Supply) -> None:
    """Raise ValueError if a value of the supply is impossible."""
    if not 0 < supply.voltage <= 1e6:
        raise ValueError(f"voltage {supply.voltage:g} V: expected a voltage such as 120 or 230")
    for name, factor in (
        ("power factor", supply.power_factor),
        ("UPS power factor", supply.ups_power_factor),
    ):
        if not 0 < factor <= 1:
            raise ValueError(f"{name} {factor:g}: expected more than 0, and at most 1")
    if not 0 <= supply.cooling_overhead <= 10:
        raise ValueError(
            f"cooling overhead {supply.cooling_overhead:g}: expected 0 to 10: it is PUE - 1"
        )


def power_figures(loads: Sequence[Load], supply: Supply) -> list[Figure]:
    """Return power, current and heat of loads, at their measured peak and by their labels.

    Raises:
        ValueError: A load or the supply is impossible.
    """
    check_supply(supply)
    if not loads:
        raise ValueError("no load: expected at least one")
    for load in loads:
        if load.count < 1:
            raise ValueError(f"{load.name}: {load.count} of them: expected at least 1")
        for watts in (load.power, load.max_power):
            if not 0 <= watts <= 1e9:
                raise ValueError(f"{load.name}: {watts:g} W: expected a power such as 300")
        if load.power > load.max_power:
            raise ValueError(
                f"{load.name}: {load.power:g} W at peak is more than the {load.max_power:g} W of"
                " its label"
            )
    power = _power(loads, "power", "power at peak", False)
    label = _power(loads, "max-power", "power by the labels", True)
    figures = [power, label]
    figures += _electric("", power, supply) + _electric("max-", label, supply)
    cooling = Figure(
        key="cooling-power",
        title="power of cooling and distribution",
        value=power.value * supply.cooling_overhead,
        unit="W",
        formula="power at peak x cooling overhead",
        inputs=(
            Input("power at peak", _text(power), power.title),
            Input("cooling overhead", f"{supply.cooling_overhead:g}", supply.source),
        ),
        source="PUE - 1: ISO/IEC 30134-2",
    )
    figures += [cooling, _total(power, cooling), _ups(power, figures, supply)]
    return figures


def _power(loads: Sequence[Load], key: str, title: str, by_label: bool) -> Figure:
    def each(load: Load) -> float:
        return load.max_power if by_label else load.power

    terms, inputs = [], []
    for load in loads:
        count, watts = f"number of {load.name}", f"power of {load.name}"
        terms.append(f"{count} x {watts}")
        inputs += [
            Input(
                count,
                str(load.count),
                "design" if load.source.startswith("catalogue") else load.source,
            ),
            Input(watts, f"{number(each(load))} W", load.source),
        ]
    return Figure(
        key=key,
        title=title,
        value=sum(load.count * each(load) for load in loads),
        unit="W",
        formula=" + ".join(terms),
        inputs=tuple(inputs),
        source=POWER_SOURCE,
    )


def _electric(prefix: str, watts: Figure, supply: Supply) -> list[Figure]:
    """Return volt-amperes, amperes, heat and cooling for a power."""
    kind = "by the labels" if prefix else "at peak"
    given = Input(watts.title, _text(watts), watts.title)
    apparent = Figure(
        key=f"{prefix}va",
        title=f"apparent power {kind}",
        value=watts.value / supply.power_factor,
        unit="VA",
        formula=f"{watts.title} / power factor",
        inputs=(given, Input("power factor", f"{supply.power_factor:g}", POWER_SOURCE)),
        source=POWER_SOURCE,
    )
    amperes = Figure(
        key=f"{prefix}amperes",
        title=f"current {kind}",
        value=apparent.value / supply.voltage,
        unit="A",
        formula=f"{apparent.title} / voltage",
        inputs=(
            Input(apparent.title, quantity(apparent.value, "VA"), apparent.title),
            Input("voltage", f"{supply.voltage:g} V", supply.source),
        ),
        source=POWER_SOURCE,
    )
    heat = Figure(
        key=f"{prefix}heat",
        title=f"heat {kind}",
        value=BTU_PER_WATT * watts.value,
        unit="BTU/h",
        formula=f"{BTU_PER_WATT} x {watts.title}",
        inputs=(given,),
        source=COOLING_SOURCE,
    )
    tons = Figure(
        key=f"{prefix}cooling-tons",
        title=f"cooling {kind}",
        value=TONS_PER_WATT * watts.value,
        unit="t (cooling)",
        formula=f"{TONS_PER_WATT} x {watts.title}",
        inputs=(given,),
        source=COOLING_SOURCE,
    )
    return [apparent, amperes, heat, tons]


def _total(power: Figure, cooling: Figure) -> Figure:
    return Figure(
        key="total-power",
        title="power with cooling",
        value=power.value + cooling.value,
        unit="W",
        formula="power at peak + power of cooling",
        inputs=(
            Input("power at peak", _text(power), power.title),
            Input("power of cooling", _text(cooling), cooling.title),
        ),
        source=POWER_SOURCE,
    )


def _ups(power: Figure, figures: Sequence[Figure], supply: Supply) -> Figure:
    apparent = by_key(figures)["va"]
    return Figure(
        key="ups-va",
        title="rating of the UPS",
        value=max(power.value / supply.ups_power_factor, apparent.value),
        unit="VA",
        formula="max(power at peak / power factor of the UPS, apparent power)",
        inputs=(
            Input("power at peak", _text(power), power.title),
            Input("power factor of the UPS", f"{supply.ups_power_factor:g}", supply.source),
            Input("apparent power", quantity(apparent.value, "VA"), apparent.title),
        ),
        source=POWER_SOURCE,
        note="cooling is not on the UPS; 0.66 to 0.90 are usual power factors of UPSs",
    )


def ups_power(va: float, power_factor: float) -> Figure:
    """Return the watts that a UPS carries.

    Raises:
        ValueError: A value is impossible.
    """
    if not 0 < va <= 1e9:
        raise ValueError(f"UPS of {va:g} VA: expected a rating such as 1000")
    if not 0 < power_factor <= 1:
        raise ValueError(f"UPS power factor {power_factor:g}: expected more than 0, at most 1")
    return Figure(
        key="ups-power",
        title="power that the UPS carries",
        value=va * power_factor,
        unit="W",
        formula="rating of the UPS x power factor of the UPS",
        inputs=(
            Input("rating of the UPS", f"{number(va)} VA", "given"),
            Input("power factor of the UPS", f"{power_factor:g}", "given"),
        ),
        source=POWER_SOURCE,
    )


def _space(design: Design, found: Sequence[Part], facility: Facility) -> list[Figure]:
    housed = [it for it in found if it.rack_units]
    units = Figure(
        key="rack-units",
        title="rack units",
        value=sum(it.count * it.rack_units for it in housed),
        unit="U",
        formula=" + ".join(f"{it.title} x units of {it.title}" for it in housed),
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
        value=float(racks_for(_blocks(design, found), facility.rack_units)),
        unit="1",
        formula=f"racks of {facility.rack_units} U that hold rack units, first fit",
        inputs=(Input("rack units", f"{number(units.value)} U", units.title),),
        source="declared: a server and its shelves stay in one rack, the largest first",
    )
    return [units, racks, *_weight(found, racks)]


def _blocks(design: Design, found: Sequence[Part]) -> list[float]:
    """Return the rack units of what stays together: a data server with its shelves, ..."""
    blocks = []
    for it in found:
        size = it.rack_units
        if it.kind == "node" and design.shelf is not None:
            size += design.shelves_per_node * design.shelf.rack_units
        if it.kind != "shelf" and size:
            blocks += [size] * it.count
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
                # Full racks are no longer looked at.
                if room - block < 1e-9:
                    free.pop(index)
                break
        else:
            racks += 1
            if rack_units - block > 1e-9:
                free.append(rack_units - block)
    return racks


def _weight(found: Sequence[Part], racks: Figure) -> list[Figure]:
    """Return the weights, if the catalogue has those of all parts."""
    weighed = [it for it in found if it.weight is None or it.weight]
    if any(it.weight is None for it in weighed):
        return []
    total = Figure(
        key="weight",
        title="weight without racks",
        value=sum(it.count * (it.weight or 0.0) for it in weighed),
        unit="kg",
        formula=" + ".join(f"{it.title} x weight of {it.title}" for it in weighed),
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


def missing_weights(design: Design) -> tuple[str, ...]:
    """Return the entries of the catalogue that lack a weight."""
    return tuple(dict.fromkeys(it.entry for it in parts(design) if it.weight is None))


def facility_violations(figures: Iterable[Figure], facility: Facility) -> tuple[Violation, ...]:
    """Return what the facility lacks for a design, from its figures.

    On site the power includes that of cooling; at a co-location cooling is the provider's.
    Circuits are compared with the current by the labels, all else with the peak.
    """
    found = by_key(figures)
    own_cooling = facility.place != "co-location"
    power = found["total-power" if own_cooling else "power"]
    limits: list[tuple[str, float | None, Figure | None, str]] = [
        ("facility.power", facility.power, power, power.title),
        ("facility.racks", facility.racks, found["racks"], "the number of racks"),
        (
            "facility.floor_load",
            facility.floor_load,
            found.get("weight-per-rack"),
            "the weight of a rack",
        ),
    ]
    if own_cooling:
        limits.append(("facility.cooling", facility.cooling, found["power"], "the heat"))
    if facility.ups_va:
        limits.append(("facility.ups_va", facility.ups_va, found["ups-va"], "the UPS's rating"))
    if facility.circuits is not None and facility.circuit_amperes is not None:
        amperes = facility.circuits * facility.circuit_amperes
        current = found["max-amperes"]
        limits.append(("facility.circuits", amperes, current, current.title))
    return tuple(
        _violation(field, limit, figure, what)
        for field, limit, figure, what in limits
        if limit is not None and figure is not None and figure.value > limit * (1 + 1e-9)
    )


def _violation(field: str, limit: float, figure: Figure, what: str) -> Violation:
    wanted, got = quantity(limit, figure.unit), quantity(figure.value, figure.unit)
    return Violation(
        field=field,
        wanted=f"at most {wanted}",
        got=got,
        message=f"{what[:1].upper()}{what[1:]} is {got}; the facility has {wanted}.",
    )


def _text(figure: Figure) -> str:
    return quantity(figure.value, figure.unit)
