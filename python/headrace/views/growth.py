"""The growth of a system: the need, and the capacity and price of each purchase plan."""

import itertools
from collections.abc import Sequence

from headrace.design.growth import PurchasePlan, PurchaseUnit, need_at
from headrace.design.worksheet import CapacityNeed
from headrace.quantities import figure, size
from headrace.render.blocks import Axis, Chart, Line, Note, View
from headrace.render.units import Unit

POINTS = 200
TERABYTES, PETABYTES = Unit("TB", 1e-12, size), Unit("PB", 1e-15, size)


def view(name: str, need: CapacityNeed, unit: PurchaseUnit, plans: Sequence[PurchasePlan]) -> View:
    """Return usable capacity over the years: a curve of the need, and steps for each plan."""
    years = [need.years * step / (POINTS - 1) for step in range(POINTS)]
    lines = [Line("need", years, [need_at(need, year) for year in years])]
    for plan in plans:
        steps = [purchase.year for purchase in plan.purchases] + [need.years]
        bought = itertools.accumulate(step.units * unit.usable for step in plan.purchases)
        capacities = [float(units) for units in bought]
        label = f"{plan.title}: {figure(plan.price)}"
        lines.append(Line(label, steps, [*capacities, capacities[-1]], shape="level"))
    most = max(plan.units * unit.usable for plan in plans)
    if unit.units_per_rack is not None:
        room = unit.units_per_rack * (unit.racks or 1) * unit.usable
        if room <= 1.5 * most:
            ends = [0.0, need.years]
            lines.append(Line("the racks are full", ends, [room, room], is_reference=True))
    y = Axis("usable capacity", PETABYTES if most >= 1e15 else TERABYTES)
    return [Note(name, "Growth: "), Chart("growth", "Purchase plans", Axis("years"), y, lines)]
