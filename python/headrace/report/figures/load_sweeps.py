"""Figure of several load sweeps: response time against achieved rate."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from headrace.report.figures.style import COLOURS, DASHES, nothing, sheet, short

LABEL = 48
"""Letters of a label at the most."""
WIDE = 10.0
"""Loads that differ by more than this factor are drawn on a logarithmic axis."""


def draw(sweeps: Mapping[str, Mapping[str, Any]]) -> Figure:
    """Draw a curve for each sweep, by its label: mean response time from the intended start."""
    figure, axes = sheet("Response time against the load achieved", "", height=5.0)
    axes.set_xlabel("achieved (operations/s)")
    axes.set_ylabel("mean response time (ms)")
    drawn: list[float] = []
    for number, (label, document) in enumerate(sweeps.items()):
        steps = _steps(document)
        achieved = [step["achieved_per_second"] for step in steps]
        responses = [1e3 * step["response"]["mean"] for step in steps]
        axes.plot(
            achieved,
            responses,
            "o",
            color=COLOURS[number % len(COLOURS)],
            linestyle=DASHES[number // len(COLOURS) % len(DASHES)],
            markersize=4,
            label=_label(label, document),
        )
        drawn += achieved
    if not drawn:
        nothing(axes, "no step was finished")
        return figure
    limits = {document["criteria"]["response_s"] for document in sweeps.values()}
    for limit in sorted(limits):
        axes.axhline(1e3 * limit, color="#999999", linewidth=1.0)
    axes.set_yscale("log")
    if max(drawn) > WIDE * min(drawn):
        axes.set_xscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        # Names are no formulas in figures, and powers of ten would be shown as they are typed.
        if axis.get_scale() == "log":
            axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
            axis.set_minor_formatter(NullFormatter())
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), frameon=False)
    return figure


def _steps(document: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the steps of a curve in order of load, up to the first that was not sustained."""
    whole = [step for step in document["steps"] if not step.get("partial")]
    kept = next((at for at, step in enumerate(whole) if not step["keeps_up"]), len(whole))
    return [step for step in whole[: kept + 1] if step["response"]["mean"] > 0]


def _label(label: str, document: Mapping[str, Any]) -> str:
    overall = document.get("overall_response_s")
    response = "" if overall is None else f" (overall {1e3 * overall:.3g} ms)"
    return f"{short(label, LABEL)}{response}"
