"""Calibrations and validations as tables for a terminal."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.report.fitted_table import FittedTable
from headrace.report.plain import plain
from headrace.report.units import milliseconds, percent, whole

Document = Mapping[str, Any]


def calibration(document: Document) -> RenderableType:
    """A row for each parameter, those that were measured with their spread, and for each check."""
    measured = FittedTable("Measured", 1, ["field", "median", "least", "most"])
    read = FittedTable("Read", 1, ["field", "value", "from"], ["from"])
    for it in document["parameters"]:
        if it["values"]:
            measured.add_row(it["field"], it["value"], it["least"], it["most"])
        else:
            read.add_row(it["field"], it["value"], it["method"])
    columns = ["", "bound by", "measured ms", "simulated ms", "error %"]
    checks = FittedTable("Checks, from which nothing follows", 1, columns)
    for it in document["checks"]:
        checks.add_row(
            it["name"],
            it["bound"],
            milliseconds(it["measured_s"]),
            milliseconds(it["predicted_s"]),
            f"{100 * it['error']:+.1f}",
        )
    return Group(read, Text(), measured, Text(), checks)


def validation(document: Document) -> RenderableType:
    """A row for each point, and the errors of each group."""
    columns = ["", "measured ms", "least", "most", "predicted ms", "from", "to", "error %"]
    points = FittedTable("Time in calls", 1, columns, ["from", "to", "least", "most"])
    group = None
    for point in document["points"]:
        if group is not None and point["group"] != group:
            points.add_section()
        group = point["group"]
        least, most = point["interval_s"] or (None, None)
        among = "*" if point["among_repetitions"] else ""
        points.add_row(
            point["name"],
            milliseconds(point["measured_median_s"]),
            milliseconds(min(point["measured_s"])),
            milliseconds(max(point["measured_s"])),
            milliseconds(point["predicted_s"]),
            milliseconds(least),
            milliseconds(most),
            f"{100 * point['error']:+.1f}{among}",
        )
    points.caption = "* among the repetitions"
    columns = ["", "points", "median error %", "worst %", "bias %", "measured in interval %"]
    errors = FittedTable("Errors", 1, columns)
    for group, it in document["summary"].items():
        errors.add_row(
            group,
            str(it["points"]),
            percent(it["median_error"]),
            f"{100 * it['worst_error']:+.1f}",
            f"{100 * it['bias']:+.1f}",
            percent(it["covered"]),
        )
    notes = [
        Text(f"Note: {plain(warning['message'])}.", style="yellow")
        for warning in document.get("warnings", [])
        if warning["condition"] != "fits-in-memory"
    ]
    return Group(points, Text(), errors, *_breakdowns(document), *notes)


def _breakdowns(document: Document) -> list[RenderableType]:
    """Where the time went: measured and simulated, by component, and what that points at."""
    if not document["breakdowns"]:
        return []
    of_all = document["breakdowns"]
    names = list(dict.fromkeys(name for it in of_all for name in it["difference_s"]))
    counted = any(it["measured_transfers"] is not None for it in of_all)
    columns = ["", *(column for name in names for column in (f"{name} ms", "simulated"))]
    columns += ["transfers", "simulated"] if counted else []
    table = FittedTable(f"Where the time went, by the {of_all[0]['source']}", 1, columns)
    for it in of_all:
        times = [milliseconds(it[key].get(n, 0.0)) for n in names for key in BOTH]
        transfers = [whole(it[f"{of}_transfers"]) for of in ("measured", "simulated")]
        table.add_row(it["name"], *times, *(transfers if counted else []))
    return [Text(), table, Text(), Text(plain(document["discrepancy"]["paragraph"]))]


BOTH = ("measured_s", "simulated_s")
