"""Power, current, UPS and cooling of loads (Hindman 2011, section 2.8).

Every load has two powers. Circuits are laid out for that of its label. The UPS, cooling and the
price of electricity follow that measured at its peak.

Not modelled: inrush currents, phases, losses of the UPS and of its battery's charging, people and
lighting as sources of heat.
"""

from collections.abc import Sequence

import msgspec

from headrace.design.figure import Figure, Input, by_key
from headrace.quantities import number, quantity

POWER_SOURCE = "Hindman 2011, section 2.8.1"
COOLING_SOURCE = "Hindman 2011, section 2.8.2"
BTU_PER_WATT = 3.41
TONS_PER_WATT = 0.000283
"""Factors of section 2.8.2."""
POWER_FACTOR = 1.0
"""Power factor of servers: section 2.8.1 has "approaching 1.0"."""


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


def _text(figure: Figure) -> str:
    return quantity(figure.value, figure.unit)
