"""A load sweep: by loads, by processes or by client hosts."""

from collections.abc import Mapping, Sequence
from typing import Any

from headrace.measure.sweep_steps import LoadPoint, SweepDocument, SweepStep
from headrace.quantities import NOT_KNOWN, duration, figure, numbered, whole
from headrace.render import units
from headrace.render.blocks import (
    Axis,
    Block,
    Chart,
    Column,
    Headline,
    Line,
    Note,
    Record,
    Records,
    Span,
    Table,
    View,
)
from headrace.render.units import Unit
from headrace.views.measured import records
from headrace.views.parts import half_width, warning_note

ENDS = {
    "interrupted": "Interrupted: partial steps.",
    "failed": "An operation failed: partial steps.",
    "unfinished": "Not complete: partial steps.",
}
WIDE = 10.0
"""Loads that differ by more than this factor are drawn on logarithmic axes."""
POINTS = {"knee": "knee", "kept_up": "sustained", "cut_off": "cut-off"}


def view(result: SweepDocument) -> View:
    """Return the steps of a sweep and what they show."""
    complete = [step for step in result.steps if not step.partial]
    return [
        _heading(result),
        *_repeats(result),
        _headline(result, complete),
        *VARIABLES[result.of](result, complete),
        *([Note(ENDS[result.stop.reason])] if result.stop.reason in ENDS else []),
        *map(warning_note, result.warnings or ()),
        Records([row for step in complete for row in _records(step)]),
    ]


def _headline(result: SweepDocument, steps: Sequence[SweepStep]) -> Headline:
    """Return the highest sustained load, or rate of processes, and its p99."""
    if result.of == "clients":
        rates = {step.operations_per_second or 0.0: step for step in steps}
        best, shown = rates.get(max(rates, default=0.0)), "highest rate"
    else:
        curves = result.curves if result.of == "client-hosts" else [result]
        loads = {
            (one.kept_up.requested_per_second, one.client_hosts) for one in curves if one.kept_up
        }
        keys = {(step.requested_per_second, step.client_hosts): step for step in steps}
        best = keys.get(max(loads, key=lambda load: load[0], default=(None, None)))
        rates, shown = (
            {best.requested_per_second or 0.0: best} if best else {},
            "highest sustained load",
        )
    if best is None:
        return Headline({})
    figures = {shown: units.RATE.full(max(rates))}
    latency = best.service if result.of == "clients" else best.response
    if latency and latency.p99 is not None:
        figures["its p99"] = units.MILLISECONDS.full(latency.p99)
    return Headline(figures | ({} if result.of == "loads" else {"at": best.name}))


def compared(sweeps: Mapping[str, SweepDocument]) -> View:
    """Return mean response time against achieved load of several sweeps, by their labels."""
    lines = []
    for label, sweep in sweeps.items():
        overall = sweep.overall_response_s
        response = "" if not overall else f" (overall {1e3 * overall:.3g} ms)"
        lines.append(_curve(f"{label}{response}", sweep.steps))
    loads = [load for line in lines for load in line.x]
    limits = sorted({sweep.criteria.response_s for sweep in sweeps.values()})
    lines += [_limit(loads, limit) for limit in limits if loads]
    return [
        Chart(
            "load-sweeps",
            "Response time against the load achieved",
            Axis("achieved", units.RATE, _scale(loads)),
            Axis("mean response time", units.MILLISECONDS, "log"),
            lines,
        )
    ]


def _loads(result: SweepDocument, steps: Sequence[SweepStep]) -> list[Block]:
    return [
        *_load_charts({"achieved": result}, result, ("mean", "p95", "p99")),
        _steps(result),
        Note("\n".join(["", _criteria(result), *_findings(result)])),
    ]


def _clients(result: SweepDocument, steps: Sequence[SweepStep]) -> list[Block]:
    processes = [step.processes for step in steps]
    achieved = _line("achieved", processes, steps, "operations_per_second")
    lines = [achieved]
    if steps and steps[0].operations_per_second:
        each = steps[0].operations_per_second / processes[0]
        ideal = [each * count for count in processes]
        lines.append(Line("linear scaling", processes, ideal, is_reference=True))
    past = []
    if processes and processes[-1] > result.cores:
        past = [Span("oversubscribed", result.cores, processes[-1])]
    x = Axis("processes", units.COUNT)
    blocks: list[Block] = [
        Chart(
            "clients",
            "Operations a second with more processes",
            x,
            Axis("", units.RATE),
            lines,
            spans=past,
        ),
        Chart(
            "clients",
            "Service time by number of processes",
            x,
            Axis("", units.MILLISECONDS, "log"),
            [_line(key, processes, steps, "service", key) for key in ("mean", "p99")],
        ),
        _client_table(result),
    ]
    if any(step.oversubscribed for step in result.steps):
        text = (
            f"\nOversubscribed: more processes than the {result.cores} processors that there are."
        )
        blocks.append(Note(text))
    return blocks


def _client_table(result: SweepDocument) -> Table:
    steps = result.steps
    return Table(
        "Operations a second, and service time",
        [
            Column(
                "processes",
                [f"{it.processes}{', oversubscribed' * bool(it.oversubscribed)}" for it in steps],
            ),
            _column("operations/s", units.FIGURE, steps, "operations_per_second"),
            _column("times the first", units.FIGURE, steps, "speedup"),
            Column(
                "efficiency %", [step.efficiency for step in steps], units.SHARE, absent=NOT_KNOWN
            ),
            _column("mean ms", units.MILLISECONDS, steps, "service", "mean"),
            _column("p99 ms", units.MILLISECONDS, steps, "service", "p99", spare=1),
            *_cache(steps, (2, 3)),
        ],
        names=0,
    )


def _client_hosts(result: SweepDocument, steps: Sequence[SweepStep]) -> list[Block]:
    curves = {
        numbered(curve.client_hosts or 0, "client host"): result.curve(curve.client_hosts)
        for curve in result.curves
    }
    across = [curve.client_hosts for curve in result.curves]
    most = [curve.achieved_at_most_per_second for curve in result.curves]
    left = _left(result)
    return [
        *_load_charts(curves, result, ("mean",)),
        Chart(
            "client-hosts",
            "Highest achieved load by client hosts",
            Axis("client hosts", units.COUNT),
            Axis("", units.RATE),
            [Line("achieved at most", across, most)],
        ),
        _steps(result),
        Table(
            "By the number of client hosts, in operations a second",
            [
                Column("hosts", [str(count) for count in across]),
                *(
                    Column(label, [_load_text(getattr(curve, key)) for curve in result.curves])
                    for key, label in (
                        ("knee", "knee"),
                        ("kept_up", "kept up with"),
                        ("cut_off", "cut-off"),
                    )
                ),
                Column("achieved at most", ["-" if x is None else figure(x) for x in most]),
                Column(
                    "overall ms",
                    [
                        "-"
                        if not curve.overall_response_s
                        else units.MILLISECONDS.text(curve.overall_response_s)
                        for curve in result.curves
                    ],
                ),
            ],
        ),
        Note(f"\n{_criteria(result)}"),
        *([Note(left)] if left else []),
    ]


VARIABLES = {"loads": _loads, "clients": _clients, "client-hosts": _client_hosts}
"""Blocks by the variable of the sweep."""


def _load_text(point: LoadPoint | None) -> str:
    return "-" if point is None else figure(point.requested_per_second)


def _load_charts(
    curves: Mapping[str, SweepDocument], result: SweepDocument, keys: Sequence[str]
) -> list[Block]:
    """Return achieved load and response time over the requested load, a line for each curve."""
    picture = "load-sweep" if result.of == "loads" else result.of
    achieved: list[Line] = []
    times: list[Line] = []
    for name, curve in curves.items():
        steps = [step for step in curve.steps if not step.partial]
        loads = [step.requested_per_second for step in steps]
        achieved.append(_line(name, loads, steps, "achieved_per_second"))
        for key in keys:
            times.append(_line(key if len(curves) == 1 else name, loads, steps, "response", key))
    requested = sorted({load for line in achieved for load in line.x})
    ends = [requested[0], requested[-1]] if requested else []
    if requested:
        achieved.append(Line("requested", ends, ends, is_reference=True))
        times.append(_limit(requested, result.criteria.response_s))
    scale = _scale(requested)
    marks = {
        label: point.requested_per_second
        for key, label in POINTS.items()
        if (point := getattr(result, key))
    }
    x = Axis("requested", units.RATE, scale)
    by_hosts = ", by client hosts" if result.of == "client-hosts" else ""
    return [
        Chart(
            picture,
            f"Achieved against requested load{by_hosts}",
            x,
            Axis("achieved", units.RATE, scale),
            achieved,
            marks,
        ),
        Chart(
            picture,
            f"Response time against load{by_hosts}",
            x,
            Axis("response time", units.MILLISECONDS, "log"),
            times,
            marks,
        ),
    ]


def _scale(loads: Sequence[float]) -> Any:
    return "log" if loads and max(loads) > WIDE * min(loads) else "linear"


def _limit(loads: Sequence[float], limit: float) -> Line:
    return Line("limit of the mean", [min(loads), max(loads)], [limit, limit], is_reference=True)


def _curve(label: str, steps: Sequence[SweepStep]) -> Line:
    """Return the steps of a curve in order of load, up to the first that was not sustained."""
    complete = [step for step in steps if not step.partial]
    kept = next((at for at, step in enumerate(complete) if not step.keeps_up), len(complete))
    shown = [step for step in complete[: kept + 1] if step.response and step.response.mean]
    return Line(
        label, [step.achieved_per_second for step in shown], _values(shown, "response", "mean")
    )


def _values(steps: Sequence[SweepStep], which: str, key: str) -> list[float | None]:
    """Return a figure of each step, or a time of a latency of each."""
    values = [getattr(step, which) for step in steps]
    return [value and getattr(value, key) for value in values] if key else values


def _halves(steps: Sequence[SweepStep], which: str, key: str) -> list[float | None]:
    """Return half the widths of the intervals of a figure over the repetitions."""
    return [half_width(step.intervals, which, *([key] if key else [])) for step in steps]


def _line(
    name: str, x: Sequence[Any], steps: Sequence[SweepStep], which: str, key: str = ""
) -> Line:
    """Return a line over the steps, with the intervals of its means."""
    return Line.of_means(name, x, _values(steps, which, key), _halves(steps, which, key))


def _column(
    name: str, unit: Unit, steps: Sequence[SweepStep], which: str, key: str = "", spare: int = 0
) -> Column:
    # Percentiles in tables are over all repetitions.
    halves = _halves(steps, which, key) if key in ("", "mean") else []
    return Column(
        name, _values(steps, which, key), unit, spare, half_widths=halves, absent=NOT_KNOWN
    )


def _heading(result: SweepDocument) -> Note:
    match result.calls:
        case "posix":
            text = ""
        case "null":
            text = ": no calls were made: figures show the benchmark's own cost"
        case calls:
            text = f": by {calls} calls"
    return Note(text, result.scenario.name or "")


def _repeats(result: SweepDocument) -> list[Note]:
    """Return the number of repetitions of each step in words, if there are several."""
    repeats = result.wanted_repeats
    if repeats == 1:
        return []
    done = [len(step.repetitions or ()) for step in result.steps]
    least, most = min(done, default=0), max(done, default=0)
    many = f"{most}" if least == most else f"{least} to {most}"
    text = f"{many} repeats" if least == repeats else f"{many} of {repeats} repeats"
    if any(step.intervals for step in result.steps):
        text += ", ± half the width of the 95 % interval of their mean (t)"
    return [Note(f"{text}; percentiles are over all operations")]


def _cache(steps: Sequence[SweepStep], spare: tuple[int, int]) -> list[Column]:
    """Return the hit and read-ahead shares of reads."""
    hits = [step.cache.hit_rate for step in steps]
    ahead = [
        step.cache.read_ahead_bytes / step.cache.asked_bytes
        if isinstance(step.cache.read_ahead_bytes, int) and step.cache.asked_bytes
        else None
        for step in steps
    ]
    return [
        Column("cache hits %", hits, units.SHARE, spare[0], absent=NOT_KNOWN),
        Column("read ahead %", ahead, units.SHARE, spare[1], absent=NOT_KNOWN),
    ]


def _steps(result: SweepDocument) -> Table:
    steps = result.steps
    hosts = [step.client_hosts for step in steps]
    by_hosts = any(count is not None for count in hosts)
    ended = ["ended early" if step.partial else "yes" if step.keeps_up else "no" for step in steps]
    unfinished = [None if step.unfinished is None else step.unfinished.count for step in steps]
    return Table(
        "Operations a second, and response time from the intended start",
        [
            *([Column("hosts", [str(count) for count in hosts])] if by_hosts else []),
            Column("requested", [step.requested_per_second for step in steps], units.FIGURE),
            Column("offered", [step.offered_per_second for step in steps], units.FIGURE, 4),
            _column("achieved", units.FIGURE, steps, "achieved_per_second"),
            _column("mean ms", units.MILLISECONDS, steps, "response", "mean"),
            _column("p50 ms", units.MILLISECONDS, steps, "response", "p50", spare=2),
            _column("p99 ms", units.MILLISECONDS, steps, "response", "p99"),
            Column("unfinished", unfinished, units.COUNT, 5),
            _column("service ms", units.MILLISECONDS, steps, "service", "mean", spare=1),
            _column("service p99 ms", units.MILLISECONDS, steps, "service", "p99", spare=3),
            *_cache(steps, (0, 6)),
            Column("keeps up", ended),
        ],
        names=int(by_hosts),
        sections=[row for row in range(1, len(steps)) if by_hosts and hosts[row] != hosts[row - 1]],
    )


def _left(result: SweepDocument) -> str:
    """Return the steps with requests that were due and never issued, in words."""
    left = [
        f"{whole(one.unfinished.count)} at {one.name} (up to {duration(one.unfinished.max or 0.0)}"
        " late by then)"
        for one in result.steps
        if one.unfinished and one.unfinished.count
    ]
    if not left:
        return ""
    return (
        f"Due before the end of a step and not issued: {', '.join(left)}. Response times contain"
        " them, as lower bounds."
    )


def _findings(result: SweepDocument) -> list[str]:
    lines = []
    if result.knee:
        lines.append(f"Knee: {_point(result.knee)}{_of_each(result, 'knee')}.")
    if result.kept_up:
        best = f"{_point(result.kept_up)}{_of_each(result, 'kept_up')}"
        lines.append(f"Highest sustained load: {best}.")
    if result.cut_off:
        lines.append(
            f"Cut-off: from {figure(result.cut_off.requested_per_second)} operations/s on the load"
            f" is not sustained ({figure(result.cut_off.achieved_per_second)} achieved)."
        )
    else:
        lines.append("All loads tried were sustained: there is no knee.")
    if result.overall_response_s is not None:
        lines.append(
            f"Overall response time: {duration(result.overall_response_s)} (area under the curve of"
            " sustained loads, divided by the largest achieved load)."
        )
    return [*lines, *filter(None, [_left(result)])]


def _criteria(result: SweepDocument) -> str:
    criteria = result.criteria
    return (
        f"A load is sustained if at least {100 * criteria.achieved:g} % of the offered load is"
        f" achieved and the mean response time is {duration(criteria.response_s)} at most."
    )


def _of_each(result: SweepDocument, which: str) -> str:
    """Return the range of a point over the repetitions, if they differ."""
    points = [getattr(repetition, which) for repetition in result.repetitions]
    loads = [point.requested_per_second for point in points if point]
    if not loads or min(loads) == max(loads):
        return ""
    return f" (over the repetitions {figure(min(loads))} to {figure(max(loads))})"


def _point(point: LoadPoint) -> str:
    return (
        f"{figure(point.requested_per_second)} operations/s,"
        f" mean response {duration(point.response_mean_s)}"
    )


def _records(step: SweepStep) -> list[Record]:
    names = ("client_hosts", "requested_per_second", "achieved_per_second", "operations_per_second")
    own = {"step": step.name} | {
        name: value for name in names if (value := getattr(step, name)) is not None
    }
    return [own | row for row in records(step)]
