"""Calibrations and validations as tables for a terminal."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.calibrate.other_load import describe
from headrace.plain_text import plain
from headrace.quantities import duration, figure, milliseconds, percent, whole
from headrace.render.fitted_table import FittedTable

Document = Mapping[str, Any]


def calibration(document: Document) -> RenderableType:
    """A row for each parameter, those that were measured with their spread, and for each check."""
    # A value is of the middles of the rounds' times: all that the rounds gave may be to one side.
    title = "Measured values, with the range over single rounds"
    measured = FittedTable(title, 1, ["field", "value", "least", "most"])
    read = FittedTable("Read", 1, ["field", "value", "from"], ["from"])
    for it in document["parameters"]:
        if it["values"]:
            measured.add_row(it["field"], it["value"], it["least"], it["most"])
        else:
            read.add_row(it["field"], it["value"], it["method"])
    columns = ["", "bound by", "measured ms", "simulated ms", "error %"]
    checks = FittedTable("Checks, which no parameter depends on", 1, columns)
    for it in document["checks"]:
        checks.add_row(
            it["name"],
            it["bound"],
            milliseconds(it["measured_s"]),
            milliseconds(it["predicted_s"]),
            f"{100 * it['error']:+.1f}",
        )
    kernel = _in_kernel(document["kernel"]) if "kernel" in document else []
    others = document.get("others")
    load = [Text(), Text(describe(others))] if others else []
    return Group(read, Text(), measured, Text(), checks, *kernel, *load, *_notes(document))


def _in_kernel(kernel: Document) -> list[RenderableType]:
    """Return the parameters as the kernel trace gives them, and the device's service times."""
    columns = ["", "field", "in the kernel", "5 %", "95 %", "n", "from outside", "difference %"]
    times = FittedTable("In the kernel", 1, columns, ["5 %", "95 %", "n", "field"])
    for it in kernel["times"]:
        value, least, most, outside = it["texts"]
        difference = "" if it["difference"] is None else f"{100 * it['difference']:+.1f}"
        cells = (value, least, most, whole(it["count"]), outside or "", difference)
        times.add_row(it["what"], it["field"] or "", *cells)
    columns = ["direction", "bytes", "in order", "in device", "n", "ms", "5 %", "95 %", "queued"]
    service = FittedTable("Requests of the device", 1, columns, ["5 %", "95 %", "queued"])
    for it in kernel["service"][:MOST]:
        order = "yes" if it["in_order"] else "no"
        kind = (it["direction"], whole(it["bytes"]), order, whole(it["depth"]), whole(it["count"]))
        seconds = (it[name] for name in ("median_s", "p5_s", "p95_s", "queued_median_s"))
        service.add_row(*kind, *map(milliseconds, seconds))
    return [Text(), times, Text(), service, Text(), Text(_of_trace(kernel))]


MOST = 20
"""Kinds of requests that a table has: the most frequent ones."""


def validation(document: Document) -> RenderableType:
    """A row for each point, and the errors of each group."""
    columns = ["", "measured ms", "least", "most", "predicted ms", "from", "to", "error %"]
    title = "Run time" if "application" in document else "Time in calls"
    points = FittedTable(title, 1, columns, ["from", "to", "least", "most"])
    group = None
    for point in document["points"]:
        if group is not None and point["group"] != group:
            points.add_section()
        group = point["group"]
        least, most = point["interval_s"] or (None, None)
        among = "*" if point["among_repetitions"] else ""
        points.add_row(
            point["name"],
            milliseconds(point["measured_middle_s"]),
            milliseconds(min(point["measured_s"])),
            milliseconds(max(point["measured_s"])),
            milliseconds(point["predicted_s"]),
            milliseconds(least),
            milliseconds(most),
            f"{100 * point['error']:+.1f}{among}",
        )
    points.caption = "* within the range of the measured repetitions (least to most)"
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
    return Group(
        *_settings(document),
        points,
        Text(),
        errors,
        *_of_intervals(document),
        *_application(document),
        *_breakdowns(document),
        *_notes(document),
    )


def _of_intervals(document: Document) -> list[RenderableType]:
    """Return the coverage of the prediction intervals, where there are any."""
    if all(point["interval_s"] is None for point in document["points"]):
        return []
    return [Text(), Text(INTERVALS)]


INTERVALS = (
    '"from" and "to" are the 90 % prediction interval: 9 of 10 further measurements of a case are'
    " expected between them. The interval is wide where the rounds of the calibration differ, or"
    ' where its checks show that the model errs. "measured in interval" is the share of the'
    " repetitions that did lie there. A share far below 90 % means that the machine has changed"
    " since its calibration, or that the model is wrong."
)


def _notes(document: Document) -> list[Text]:
    """Return the warnings, without those that cached reads cause on purpose."""
    return [
        Text(f"Note: {plain(warning['message'])}.", style="yellow")
        for warning in document.get("warnings", [])
        if warning["condition"] != "fits-in-memory"
    ]


def _settings(document: Document) -> list[RenderableType]:
    """Return the settings that override the scenario or the machine's file."""
    if sets := document["scenario"].get("sets"):
        return [Text(plain(f"With {', '.join(sets)}.")), Text()]
    settings = document.get("settings")
    if not settings:
        return []
    changed = [it for it in settings if it["changed"]]
    if not changed:
        return [Text("The settings are those of the machine's file."), Text()]
    table = FittedTable("Other than in the machine's file", 1, ["field", "file", "used", "from"])
    for it in changed:
        was = "" if it["file"] is None else str(it["file"])
        table.add_row(it["field"], was, str(it["used"]), it["source"])
    return [table, Text()]


def _breakdowns(document: Document) -> list[RenderableType]:
    """Return the measured and simulated time by component, and the component that differs."""
    of_all = document["breakdowns"]
    if not of_all:
        return []
    every = dict.fromkeys(name for it in of_all for name in it["difference_s"])
    names = [name for name in every if any(it[key].get(name) for it in of_all for key in BOTH)]
    table = FittedTable(
        f"Time breakdown by the {of_all[0]['source']}: ms measured / simulated",
        1,
        ["", *names, "transfers"],
    )
    for it in of_all:
        times = [" / ".join(milliseconds(it[key].get(name, 0.0)) for key in BOTH) for name in names]
        transfers = (whole(it[f"{of}_transfers"]) for of in ("measured", "simulated"))
        table.add_row(it["name"], *times, " / ".join(transfers))
    lines = [document["discrepancy"]["paragraph"]]
    if "trace" in document:
        lines += [_of_trace(document["trace"])]
    return [Text(), table, *(line for it in lines for line in (Text(), Text(plain(it))))]


def _application(document: Document) -> list[RenderableType]:
    """Return the parts of a program's predicted time, and the calls that were not simulated."""
    application = document.get("application")
    if application is None:
        return []
    table = FittedTable(
        "Predicted time by part, summed over processes",
        1,
        ["", "calls", "predicted ms", "captured ms"],
    )
    for part in application["parts"]:
        calls = "" if part["calls"] is None else whole(part["calls"])
        captured = "" if part["captured_s"] is None else milliseconds(part["captured_s"])
        table.add_row(part["name"], calls, milliseconds(part["predicted_s"]), captured)
    tracer = application["tracer"]
    added = sum(1e6 * tracer[name][0] for name in ("gap_s", "duration_s"))
    lines = (
        f"{whole(application['simulated_calls'])} calls on files in the working directory were"
        f" simulated. {whole(application['measured_calls'])} other calls, with"
        f" {duration(application['measured_calls_s'])} in them, were taken as measured.",
        f"The tracer added {figure(added)} \N{MICRO SIGN}s per call;"
        f" {duration(tracer['removed_s'])} were removed from the time between simulated calls.",
    )
    return [Text(), table, *(part for line in lines for part in (Text(), Text(plain(line))))]


BOTH = ("measured_s", "simulated_s")


def _of_trace(trace: Document) -> str:
    """Return the effect of tracing on the figures."""
    lost = f"; {trace['lost']:,} records were lost" if trace["lost"] else ""
    return f"Tracing changed the times by {100 * trace['cost']:+.1f} % (median){lost}."
