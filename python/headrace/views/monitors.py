"""Monitors of a net over time, a chart for each."""

from collections.abc import Sequence

from headrace.net.results import NetResult
from headrace.render import units
from headrace.render.blocks import Axis, Chart, Line, Note, View

MOST = 12
"""Most charts."""


def view(result: NetResult, names: Sequence[str]) -> View:
    """Return monitors over time, each with the band over the runs.

    Raises KeyError if there is no such monitor, ValueError if one has no values over time.
    """
    first, runs = result.runs[0], len(result.runs)
    heading = f"Monitors of {result.name}"
    if len(names) > MOST:
        heading += f" ({len(names) - MOST} more are not drawn)"
    x = Axis("simulated time", units.TIME)
    start = first["time"] - first["measured"]
    kinds = {monitor["name"]: monitor["kind"] for monitor in first.get("monitors", ())}
    charts = []
    for name in names[:MOST]:
        known = result.transient(name).drop_nulls("mean")
        line = Line.of_means(
            name,
            known["time_s"].to_list(),
            known["mean"].to_list(),
            known["half_width"].to_list() if runs > 1 else (),
        )
        per_second = ", firings per second" if kinds[name] == "counter" else ""
        marks = {"end of the warm-up": start} if start > 0 else {}
        interval = f"mean and 95 % interval of {runs} runs" if runs > 1 else ""
        charts.append(
            Chart("monitors", f"{name}{per_second}", x, Axis(), [line], marks, statistic=interval)
        )
    empty = "no monitor has values over time"
    return [Note("", heading), *(charts or [Chart("monitors", "", x, Axis(), [], empty=empty)])]
