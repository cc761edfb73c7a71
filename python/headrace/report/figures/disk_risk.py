"""Figure of the failure risk of disks."""

from matplotlib.figure import Figure

from headrace.design.smart.risk import FleetRisk
from headrace.quantities import DAY
from headrace.report.figures.style import COLOURS, nothing, sheet, short

MOST = 40
"""Disks that are shown, those with the highest probability."""
COLOUR_OF = {
    "replace": COLOURS[1],
    "test": COLOURS[4],
    "plan": COLOURS[3],
    "watch": COLOURS[5],
    "none": COLOURS[2],
}


def draw(risk: FleetRisk) -> Figure:
    """Draw a bar for each disk: its probability of a failure, coloured by what to do."""
    rated = [it for it in risk.disks if it.probability is not None]
    rated.sort(key=lambda it: -(it.probability or 0.0))
    shown = rated[:MOST]
    days = risk.horizon / DAY
    name = f"one or more of {len(rated)} fails: {100 * risk.probability:.3g} %"
    if len(rated) > MOST:
        name += f"; the first {MOST} are shown"
    title = f"Probability that a disk fails within {days:.4g} days"
    figure, axes = sheet(title, name, 1.7 + 0.24 * max(len(shown), 6))
    if not shown:
        nothing(axes, "no disk has a rate")
        return figure
    rows = range(len(shown))
    for action, colour in COLOUR_OF.items():
        of = [row for row in rows if shown[row].action == action]
        if of:
            values = [100 * (shown[row].probability or 0.0) for row in of]
            axes.barh(of, values, color=colour, height=0.7, label=f"{action}: {len(of)}")
    recent = [row for row in rows if shown[row].factor > 1]
    if recent:
        axes.scatter(
            [100 * (shown[row].probability_if_recent or 0.0) for row in recent],
            recent,
            marker="|",
            color="#000000",
            label="if the counters rose lately",
            zorder=3,
        )
    axes.set_yticks(rows, [short(it.report.name, 30) for it in shown])
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel("probability, %")
    axes.grid(visible=False, axis="y")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return figure
