"""Simulated performance of an application as figures."""

from headrace.design.evaluation import ApplicationPerformance
from headrace.design.figure import Figure, Input
from headrace.quantities import quantity
from headrace.report.document.content import foreign

SIMPLIFIED = "the simulation is simplified; the risks list how"
MEAN = "sum of the times of its reads or its writes / their number, the greater"
P99 = "99th percentile of the times of its reads or its writes, the greater"
AU = "time in which accelerators compute / time from the end of the first step"
SOURCE = "simulation of the design, as by headrace run"

GOALS = {
    "throughput": "throughput",
    "operations": "calls a second",
    "au": "accelerator utilisation (AU)",
    "latency": "mean latency",
    "latency_p99": "latency of 99 % of the calls",
}
"""Figures of an application that a worksheet may limit, with their names in tables."""


def performance_goals(performance: ApplicationPerformance) -> dict[str, float | None]:
    """Return the wanted values of an application by the names of its figures; AU in percent."""
    goals = {name: getattr(performance, f"wanted_{name}") for name in GOALS}
    return goals | {"au": None if goals["au"] is None else 100 * goals["au"]}


def performance_figures(performance: ApplicationPerformance) -> dict[str, Figure]:
    """Return throughput, operations, AU and latency of an application by these names."""
    name = foreign(performance.application, 60)
    inputs = (
        Input("detail", performance.detail, "search"),
        Input("limiting resource", performance.limiting_resource or "unknown", "utilisations"),
    )
    note = SIMPLIFIED if performance.notes else ""
    error = performance.throughput_error
    limits = Input("limits", "as those of the throughput", f"throughput of {name}")
    interval: tuple[Input, ...] = ()
    if error is not None:
        half = quantity(error, "B/s")
        interval = (Input("half of the 95 % interval", half, "replications with other seeds"),)
    return {
        "throughput": Figure(
            key=f"{performance.application}-throughput",
            title=f"throughput of {name}",
            value=performance.throughput,
            unit="B/s",
            formula="bytes that its processes moved / simulated time",
            inputs=(*inputs, *interval),
            source=SOURCE,
            note=note,
        ),
        "operations": Figure(
            key=f"{performance.application}-operations",
            title=f"operations of {name}",
            value=performance.operations,
            unit="1/s",
            formula="calls of its processes / simulated time",
            inputs=(*inputs, limits),
            source=SOURCE,
        ),
        **{
            key: Figure(
                key=f"{performance.application}-{key}",
                title=f"{title} of {name}",
                value=value,
                unit="%" if key == "au" else "s",
                formula=formula,
                inputs=(*inputs, limits),
                source=SOURCE,
            )
            for key, title, value, formula in (
                ("au", "AU", None if performance.au is None else 100 * performance.au, AU),
                ("latency", "latency", performance.latency, MEAN),
                ("latency_p99", "slowest 1 % of calls", performance.latency_p99, P99),
            )
            if value is not None
        },
    }
