"""Figure of the growth of a system: the need, and the capacity and price of each purchase plan."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from headrace.design.growth import PurchasePlan, PurchaseUnit, need_at
from headrace.design.worksheet import CapacityNeed
from headrace.quantities import figure as digits
from headrace.render.style import COLOURS, DASHES, legend_below, sheet

POINTS = 200


def draw(
    name: str, need: CapacityNeed, unit: PurchaseUnit, plans: Sequence[PurchasePlan]
) -> Figure:
    """Usable capacity over the years: a curve of the need, and steps for each plan."""
    figure, axes = sheet("Growth and purchase plans", name)
    years = np.linspace(0, need.years, POINTS)
    most = max(plan.units * unit.usable for plan in plans)
    factor, label = (1e15, "PB") if most >= 1e15 else (1e12, "TB")
    axes.plot(
        years,
        [need_at(need, float(year)) / factor for year in years],
        color="#000000",
        linewidth=2,
        label="need",
    )
    for number, plan in enumerate(plans):
        steps = [it.year for it in plan.purchases] + [need.years]
        stand = np.cumsum([it.units for it in plan.purchases]) * unit.usable / factor
        axes.step(
            steps,
            [*stand, stand[-1]],
            where="post",
            color=COLOURS[number],
            linestyle=DASHES[number],
            label=f"{plan.title}: {digits(plan.price)}",
        )
    if unit.units_per_rack is not None:
        room = unit.units_per_rack * (unit.racks or 1) * unit.usable / factor
        if room <= 1.5 * most / factor:
            axes.axhline(room, color="#888888", linewidth=1)
            axes.annotate(
                "the racks are full",
                (0, room),
                xytext=(4, 3),
                textcoords="offset points",
                color="#444444",
                fontsize="small",
            )
    axes.set_xlim(0, need.years)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("years")
    axes.set_ylabel(f"usable capacity in {label}")
    legend_below(axes, 2)
    return figure
