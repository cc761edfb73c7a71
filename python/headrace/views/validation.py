"""A validation: predictions against measurements, and the time of both by component."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headrace.quantities import duration, figure, milliseconds, percent, whole
from headrace.render import units
from headrace.render.blocks import Axis, Block, Chart, Headline, Line, Note, Table, View
from headrace.views.parts import effect_of_tracing, unexpected_warnings

Document = Mapping[str, Any]

BANDS = (0.1, 0.2)
"""Relative errors of the bands of Nguyen 2011, chapter 7."""
MOST_OF_MEASURED = 2.0
"""Parts of the measured time at which a chart ends."""


def view(document: Document) -> View:
    """Return a row for each point, the errors of each group, and the time by component."""
    points = document["points"]
    worst = max((point["error"] for point in points), key=abs, default=0.0)
    return [
        Headline({"points": whole(len(points)), "largest error": f"{100 * worst:+.1f} %"}),
        *_settings(document),
        _chart(document["scenario"]["name"], points),
        _points(document),
        Note(""),
        _errors(document["summary"]),
        *_of_intervals(document),
        *_application(document),
        *_breakdowns(document),
        *unexpected_warnings(document),
    ]


def _chart(name: str, points: Sequence[Document]) -> Chart:
    """Return predicted over measured time, with the range of the repetitions and the interval of
    the prediction."""
    times = [
        time for it in points for time in (it["measured_middle_s"], it["predicted_s"]) if time > 0
    ]
    ends = [min(times, default=1e-3) / 2, max(times, default=1e-3) * 2]
    bands = [
        Line(
            f"±{100 * part:.0f} %",
            ends,
            ends,
            [(1 - part) * end for end in ends],
            [(1 + part) * end for end in ends],
            is_reference=True,
        )
        for part in BANDS
    ]
    groups = dict.fromkeys(point["group"] for point in points)
    return Chart(
        "validation",
        f"{name}: predicted and measured",
        Axis("measured", units.MILLISECONDS, "log"),
        Axis("predicted", units.MILLISECONDS, "log"),
        [
            *(_group(group, [row for row in points if row["group"] == group]) for group in groups),
            Line("as measured", ends, ends, is_reference=True),
            *bands,
        ],
    )


def _group(name: str, points: Sequence[Document]) -> Line:
    predicted = [point["predicted_s"] for point in points]
    intervals = [row["interval_s"] or (row["predicted_s"], row["predicted_s"]) for row in points]
    return Line(
        name,
        [point["measured_middle_s"] for point in points],
        predicted,
        [min(time, low) for time, (low, _) in zip(predicted, intervals, strict=True)],
        [max(time, high) for time, (_, high) in zip(predicted, intervals, strict=True)],
        shape="mark",
        x_low=[min(point["measured_s"]) for point in points],
        x_high=[max(point["measured_s"]) for point in points],
    )


def _points(document: Document) -> Table:
    points = document["points"]
    rows = []
    for point in points:
        least, most = point["interval_s"] or (None, None)
        among = "*" if point["among_repetitions"] else ""
        cells = (
            point["name"],
            milliseconds(point["measured_middle_s"]),
            milliseconds(min(point["measured_s"])),
            milliseconds(max(point["measured_s"])),
            milliseconds(point["predicted_s"]),
            milliseconds(least),
            milliseconds(most),
            f"{100 * point['error']:+.1f}{among}",
        )
        rows.append(cells)
    groups = [point["group"] for point in points]
    return Table.of_rows(
        "Run time" if "application" in document else "Time in calls",
        ["", "measured ms", "least", "most", "predicted ms", "from", "to", "error %"],
        rows,
        spare=["from", "to", "least", "most"],
        sections=[row for row in range(1, len(rows)) if groups[row] != groups[row - 1]],
        caption="* within the range of the measured repetitions (least to most)",
    )


def _errors(summary: Document) -> Table:
    rows = [
        (
            group,
            str(value["points"]),
            percent(value["median_error"]),
            f"{100 * value['worst_error']:+.1f}",
            f"{100 * value['bias']:+.1f}",
            percent(value["covered"]),
        )
        for group, value in summary.items()
    ]
    columns = ["", "points", "median error %", "worst %", "bias %", "measured in interval %"]
    return Table.of_rows("Errors", columns, rows)


def _of_intervals(document: Document) -> list[Block]:
    """Return the coverage of the prediction intervals, where there are any."""
    if all(point["interval_s"] is None for point in document["points"]):
        return []
    return [Note(""), Note(INTERVALS)]


INTERVALS = (
    '"from" and "to" are the 90 % prediction interval: 9 of 10 further measurements of a case are'
    " expected between them. The interval is wide where the rounds of the calibration differ, or"
    ' where its checks show that the model errs. "measured in interval" is the share of the'
    " repetitions that did lie there. A share far below 90 % means that the machine has changed"
    " since its calibration, or that the model is wrong."
)


def _settings(document: Document) -> list[Block]:
    """Return the settings that override the scenario or the machine's file."""
    if sets := document["scenario"].get("sets"):
        return [Note(f"With {', '.join(sets)}."), Note("")]
    settings = document.get("settings")
    if not settings:
        return []
    changed = [setting for setting in settings if setting["changed"]]
    if not changed:
        return [Note("The settings are those of the machine's file."), Note("")]
    rows = [
        (
            row["field"],
            "" if row["file"] is None else str(row["file"]),
            str(row["used"]),
            row["source"],
        )
        for row in changed
    ]
    columns = ["field", "file", "used", "from"]
    table = Table.of_rows("Other than in the machine's file", columns, rows, spare=["from"])
    return [table, Note("")]


def _breakdowns(document: Document) -> Iterator[Block]:
    """Yield the measured and simulated time by component, and the component that differs."""
    cases = document["breakdowns"]
    if not cases:
        return
    every = dict.fromkeys(name for case in cases for name in case["difference_s"])
    names = [name for name in every if any(case[key].get(name) for case in cases for key in BOTH)]
    yield from _parts(cases, names)
    rows = []
    for it in cases:
        times = [" / ".join(milliseconds(it[key].get(name, 0.0)) for key in BOTH) for name in names]
        transfers = (whole(it[f"{side}_transfers"]) for side in ("measured", "simulated"))
        rows.append((it["name"], *times, " / ".join(transfers)))
    yield Note("")
    yield Table.of_rows(
        f"Time breakdown by the {cases[0]['source']}: ms measured / simulated",
        ["", *names, "transfers"],
        rows,
    )
    yield Note("")
    yield Note(document["discrepancy"]["paragraph"])
    if "trace" in document:
        yield Note("")
        yield Note(effect_of_tracing(document["trace"]))


def _parts(cases: Sequence[Document], names: Sequence[str]) -> Iterator[Chart]:
    """Yield the measured and the simulated time of the cases, in parts of the measured time."""
    titles = [case["name"] for case in cases]
    for key in BOTH:
        yield Chart(
            "breakdown",
            key.removesuffix("_s"),
            Axis("case", scale="names"),
            Axis("part of the measured time", units.FIGURE, most=MOST_OF_MEASURED),
            [
                Line(name, titles, [_part(case, key, name) for case in cases], shape="bar")
                for name in names
            ],
            is_stacked=True,
            statistic=f"Time breakdown by the {cases[0]['source']}, cut at"
            f" {MOST_OF_MEASURED:g} times the measured time",
        )


def _part(case: Document, key: str, name: str) -> float:
    """Return a component's share of the measured time. Negative shares, as of a device that worked
    on afterwards, are 0."""
    total = sum(case["measured_s"].values())
    return max(case[key].get(name, 0.0), 0.0) / total if total > 0 else 0.0


def _application(document: Document) -> list[Block]:
    """Return the parts of a program's predicted time, and the calls that were not simulated."""
    application = document.get("application")
    if application is None:
        return []
    rows = []
    for part in application["parts"]:
        calls = "" if part["calls"] is None else whole(part["calls"])
        captured = "" if part["captured_s"] is None else milliseconds(part["captured_s"])
        rows.append((part["name"], calls, milliseconds(part["predicted_s"]), captured))
    table = Table.of_rows(
        "Predicted time by part, summed over processes",
        ["", "calls", "predicted ms", "captured ms"],
        rows,
    )
    tracer = application["tracer"]
    added = sum(1e6 * tracer[name][0] for name in ("gap_s", "duration_s"))
    lines = (
        f"{whole(application['simulated_calls'])} calls on files in the working directory were"
        f" simulated. {whole(application['measured_calls'])} other calls, with"
        f" {duration(application['measured_calls_s'])} in them, were taken as measured.",
        f"The tracer added {figure(added)} \N{MICRO SIGN}s per call;"
        f" {duration(tracer['removed_s'])} were removed from the time between simulated calls.",
    )
    return [Note(""), table, *(part for line in lines for part in (Note(""), Note(line)))]


BOTH = ("measured_s", "simulated_s")
