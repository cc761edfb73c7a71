"""Figure of a client sweep: operations a second against processes."""

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from headrace.report.figures.steps import draw_steps
from headrace.report.figures.style import nothing, sheet


def draw(document: Mapping[str, Any]) -> Figure:
    """Draw the achieved throughput beside that of linear scaling from the first step."""
    figure, axes = sheet("Operations a second with more processes", _name(document))
    axes.set_xlabel("processes")
    axes.set_ylabel("operations/s")
    steps = [step for step in document["steps"] if not step.get("partial")]
    if not steps:
        nothing(axes, "no step was finished")
        return figure
    processes = [step["processes"] for step in steps]
    achieved = [step["operations_per_second"] for step in steps]
    each = achieved[0] / processes[0]
    ideal = [each * count for count in processes]
    axes.plot(processes, ideal, color="#999999", linewidth=1.0, label="linear scaling")
    draw_steps(axes, processes, steps, ["operations_per_second"], label="achieved")
    cores = document["cores"]
    if processes[-1] > cores:
        axes.axvspan(cores, processes[-1], color="#dddddd", alpha=0.5, label="oversubscribed")
    # There are no parts of a process.
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return figure


def _name(document: Mapping[str, Any]) -> str:
    return str(document["scenario"].get("name", ""))
