"""A measurement of one load: throughput and times of each operation."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from headrace.measure.report import (
    CacheFigures,
    FileSet,
    GroupFigures,
    Latency,
    OperationFigures,
    Report,
    Sharing,
)
from headrace.quantities import NOT_KNOWN, duration, percent, size, whole
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
    Table,
    View,
    bars,
)
from headrace.render.units import Unit
from headrace.views import io500, training
from headrace.views.parts import (
    half_width,
    latency_by_percentile,
    left_out_line,
    left_out_table,
    machine,
    times_record,
    warning_note,
)

if TYPE_CHECKING:
    import polars as pl

    from headrace.live_rates import LiveRates

LATENCIES = ("mean", "p50", "p95", "p99", "max")
SPARE = {"p50": 6, "p95": 5, "data": 4, "max": 2, "operations": 1}
CHARTED = {"mean": "mean", "p50": "median", "p99": "p99"}
ENDS = {
    "workload": "It ended with its workload.",
    "time": "It ended at run.stop.time.",
    "requests": "It ended after run.stop.requests.",
    "interrupted": "Interrupted: partial figures.",
    "failed": "An operation failed: partial figures.",
}
SHARES = {
    "cpu_own": "processors, the benchmark's own",
    "cpu_iowait": "processors waiting for I/O",
    "device_busy": "device busy",
}
MOST_HEADLINES = 2
FLOWS = {"device_read_bytes_per_s": "device reads", "device_write_bytes_per_s": "device writes"}
MOST, FEWEST, IN_WINDOW = 100, 10, 20
"""Windows of a line, and operations in one, on average."""


def view(
    result: Report,
    series: "pl.DataFrame | None" = None,
    counters: "pl.DataFrame | None" = None,
    histograms: "pl.DataFrame | None" = None,
) -> View:
    """Return the figures of each operation, and of the machine.

    Parameters:
        result: The measurement.
        series: Operations over time; counters: of the machine, over time; histograms: of times.
            With these, there are charts over time and of percentiles.
    """
    return [
        _heading(result),
        headline(result),
        *_charts(result),
        *([] if series is None else _over_time(series)),
        *latency_by_percentile("latency", histograms),
        *([] if counters is None else _machine_over_time(counters)),
        *figures(result),
        Note("\n" + ENDS[result.stop.reason]),
        *left_out_line(result.left_out),
        Records(
            [*records(result), *training.records(result.trainings), *io500.records(result.io500)]
        ),
    ]


def headline(result: Report) -> Headline:
    """Return the rate and p99 of the two most frequent operations."""
    frequent = sorted(result.operations.items(), key=lambda pair: -pair[1].count)
    shown: dict[str, str] = {}
    for one in result.trainings[:1]:
        shown |= training.main_figures(one)
    if result.io500 is not None:
        shown |= io500.main_figures(result.io500)
    for name, each in frequent[:MOST_HEADLINES]:
        if moved := result.throughput.get(name):
            shown[f"{name} throughput"] = units.THROUGHPUT.full(moved)
        elif each.per_second:
            shown[f"{name} rate"] = units.RATE.full(each.per_second)
        if (latency := result.latency.get(name)) and latency.p99 is not None:
            shown[f"{name} p99 latency"] = units.MILLISECONDS.full(latency.p99)
    return Headline(shown)


def figures(result: Report) -> list[Block]:
    """Return the figures of a measurement, or of a step of a load sweep, without its heading and
    its end."""
    blocks: list[Block] = [
        *training.tables(result.trainings, result.intervals),
        *io500.tables(result.io500),
        _performance(result),
    ]
    if len(result.operation_groups or {}) > 1:
        blocks.append(_operation_groups(result))
    if intended := result.latency_from_intended:
        counts = [latency.count for latency in intended.values()]
        blocks.append(
            Table(
                "Response time, from the intended start",
                [
                    Column("operation", list(intended)),
                    Column("operations", counts, units.COUNT, SPARE["operations"]),
                    *_times(result, intended, ("latency_from_intended",)),
                ],
            )
        )
    if text := unfinished(result):
        blocks.append(Note("\n" + text))
    if result.sharing is not None:
        blocks.append(Note("\n" + _sharing(result.sharing)))
    if result.file_sets:
        blocks.append(Note("\n" + _file_sets(result.file_sets)))
    blocks += left_out_table(result.left_out)
    blocks.append(Note("\n" + machine(result.counters)))
    if text := _cache(result.cache):
        blocks.append(Note(text))
    return [*blocks, *map(warning_note, result.warnings)]


def records(result: Report) -> list[Record]:
    """Return a row for each operation."""
    rows = []
    for name, counted in result.operations.items():
        latency, intended = result.latency.get(name), result.latency_from_intended.get(name)
        rows.append(
            {
                "operation": name,
                "count": counted.count,
                "bytes": counted.bytes,
                "per_second": counted.per_second,
                "throughput_bytes_per_s": result.throughput.get(name),
                **({} if latency is None else times_record("latency", latency)),
                **({} if intended is None else times_record("response", intended)),
            }
        )
    return rows


def of_repeats(result: Report, done: int) -> str:
    """Return the number of repeats, and what the figures are of them."""
    repeats = result.wanted_repeats or done
    text = f"{done} repeats" if done == repeats else f"{done} of {repeats} repeats"
    if result.intervals:
        text += ", ± half the width of the 95 % interval of their mean (t)"
    return f"{text}; percentiles are over all operations"


def unfinished(result: Report) -> str:
    """Return the number of requests that were due before the end of the run and not issued, if
    any."""
    left = result.unfinished
    if left is None or left.mean is None or left.max is None:
        return ""
    return (
        f"{whole(left.count)} requests were due before the end of the run and not issued: their"
        f" latency was {duration(left.mean)} on average and {duration(left.max)} at most by then,"
        " and counts, as a lower bound, from the intended start."
    )


def _heading(result: Report) -> Note:
    scenario, many = result.scenario, result.processes != 1
    text = f": {scenario.description}" if scenario.description else ""
    text += (
        f"\nmeasured for {duration(result.measured_seconds)}"
        f" with {whole(result.processes)} process{'es' if many else ''},"
        f" after {duration(result.prepare_seconds)} of preparation; seed {result.seed}"
    )
    # Results of earlier versions do not say it.
    if result.calls and result.calls != "posix":
        text += f"; by {result.calls} calls"
    if result.repetitions:
        text += f"\n{of_repeats(result, len(result.repetitions))}"
    return Note(text, scenario.name)


def _charts(result: Report) -> list[Chart]:
    rates = {name: each.per_second for name, each in result.operations.items() if each.per_second}
    times = {name: each for name, each in result.latency.items() if each.count}
    return [
        *bars(
            "operations",
            "Throughput",
            "operation",
            Axis("", units.THROUGHPUT),
            {"MB/s": {name: rate for name, rate in result.throughput.items() if rate}},
        ),
        *bars(
            "operations",
            "Operations a second",
            "operation",
            Axis("", units.RATE),
            {units.RATE.name: rates},
        ),
        *bars(
            "operations",
            "Service time",
            "operation",
            Axis("", units.MILLISECONDS, "log"),
            {
                label: {name: getattr(each, key) for name, each in times.items()}
                for key, label in CHARTED.items()
            },
        ),
    ]


def _performance(result: Report) -> Table:
    intervals = result.intervals
    operations = result.operations
    return Table(
        "Throughput and service time",
        [
            Column("operation", list(operations)),
            *_amounts(operations.values()),
            Column(
                "MB/s",
                [result.throughput.get(name) for name in operations],
                units.THROUGHPUT,
                half_widths=[half_width(intervals, "throughput", name) for name in operations],
            ),
            Column(
                "operations/s",
                [each.per_second for each in operations.values()],
                units.FIGURE,
                half_widths=[
                    half_width(intervals, "operations", name, "per_second") for name in operations
                ],
            ),
            *_times(result, {name: result.latency[name] for name in operations}, ("latency",)),
        ],
    )


def _operation_groups(result: Report) -> Table:
    """Return the table of operation groups, with response time beside service time where there is
    one."""
    groups = result.operation_groups
    rows = list(groups.values())

    def column(name: str, key: str, unit: Unit) -> Column:
        halves = [half_width(result.intervals, "operation_groups", group, key) for group in groups]
        return Column(name, [getattr(row, key) for row in rows], unit, half_widths=halves)

    responses = [row.latency_from_intended for row in rows]
    return Table(
        "Groups of operations",
        [
            Column("group", list(groups)),
            *_amounts(rows),
            column("MB/s", "throughput", units.THROUGHPUT),
            column("operations/s", "per_second", units.FIGURE),
            *_times(
                result,
                {name: group.latency for name, group in groups.items()},
                ("operation_groups", "*", "latency"),
            ),
            *(
                Column(
                    f"response {key} ms",
                    [response and getattr(response, key) for response in responses],
                    units.MILLISECONDS,
                    3 if key == "mean" else 0,
                )
                for key in ("mean", "p99")
                if any(responses)
            ),
        ],
    )


def _amounts(rows: Collection[OperationFigures | GroupFigures]) -> list[Column]:
    return [
        Column("operations", [row.count for row in rows], units.COUNT, SPARE["operations"]),
        Column("data", [row.bytes or None for row in rows], units.SIZE, SPARE["data"]),
    ]


def _times(result: Report, latencies: Mapping[str, Latency], path: Sequence[str]) -> list[Column]:
    """Return the columns of times; the means with their intervals, which are below `path` in the
    document. A name replaces its `*`, or follows it."""

    def half(name: str) -> float | None:
        keys = [name if key == "*" else key for key in path]
        return half_width(result.intervals, *keys, *([] if "*" in path else [name]), "mean")

    return [
        Column(
            f"{key} ms",
            [getattr(latency, key) for latency in latencies.values()],
            units.MILLISECONDS,
            SPARE.get(key, 0),
            [half(name) for name in latencies] if key == "mean" else (),
            absent=NOT_KNOWN,
        )
        for key in LATENCIES
    ]


def _cache(cache: CacheFigures) -> str:
    """Return the cache hit rate in words, if it is known."""
    if cache.hit_rate is None:
        return ""
    text = f"Of the bytes read {percent(cache.hit_rate)} % were in the page cache"
    if isinstance(cache.read_ahead_bytes, int) and cache.asked_bytes:
        text += f", {percent(cache.read_ahead_bytes / cache.asked_bytes)} % had been read ahead"
    return f"{text}."


def _sharing(sharing: Sharing) -> str:
    """Return the number of rounds in which processes issued an operation together, in words."""
    text = f"Processes shared an operation {whole(sharing.rounds)} times"
    if sharing.broken_off:
        text += f"; {whole(sharing.broken_off)} more were aborted"
    if sharing.coordination is not None:
        announced, go_ahead = (
            sharing.coordination.announced.mean,
            sharing.coordination.go_ahead.mean,
        )
        if announced is not None and go_ahead is not None:
            text += (
                f"; the hosts agreed on each in {announced * 1e3:.2f} ms, and"
                f" {go_ahead * 1e3:.2f} ms for the go-ahead"
            )
    return f"{text}."


def _file_sets(sets: Sequence[FileSet]) -> str:
    """Return the file sets that groups of operations have to themselves."""
    named = (f"{each.group} {whole(each.files)} ({size(each.bytes)})" for each in sets)
    return f"Files of each group: {', '.join(named)}."


def _first(table: "pl.DataFrame") -> "pl.DataFrame":
    """Return the rows of the first repetition; those of others would lie on top of them."""
    return table.filter(repetition=1) if "repetition" in table.columns else table


def _over_time(series: "pl.DataFrame") -> list[Chart]:
    """Return bytes a second of each operation; operations a second if none moved bytes."""
    table = _first(series)
    lines: list[Line] = []
    moves = table["bytes"].sum() > 0
    column = "bytes" if moves else "count"
    if table.height:
        for (operation,), part in _wider(table).group_by("operation", maintain_order=True):
            if part[column].sum():
                rates = (part[column] / part["window_s"]).to_list()
                lines.append(_steps(str(operation), part, rates))
    y = Axis("throughput", units.THROUGHPUT) if moves else Axis("", units.RATE)
    return [Chart("throughput", "Throughput over time", Axis("time", units.TIME), y, lines)]


def _machine_over_time(counters: "pl.DataFrame") -> list[Chart]:
    """Return the utilisation of processors and device, and the device's throughput."""
    table = _first(counters)
    return [
        Chart(
            "counters",
            title,
            Axis("time", units.TIME),
            y,
            [
                _steps(label, table, table[name].to_list())
                for name, label in names.items()
                if table[name].count()
            ],
        )
        for title, y, names in (
            ("What the machine did", Axis("share of the time", units.SHARE), SHARES),
            ("Throughput of the device", Axis("", units.THROUGHPUT), FLOWS),
        )
        # Without a block device below the directory there are no device counters.
        if any(table[name].count() for name in names) or names is SHARES
    ]


def _wider(series: "pl.DataFrame") -> "pl.DataFrame":
    """Return windows so long that a line has no more than it can show, and shows no single
    requests."""
    import polars as pl

    window = series["window_s"][0]
    windows = series["time_s"].max() / window + 1
    most = min(MOST, max(series["count"].sum() / IN_WINDOW, FEWEST))
    wide = window * math.ceil(windows / most)
    start = (pl.col("time_s") / wide + 1e-9).floor() * wide
    return (
        series.group_by("operation", start.alias("time_s"), maintain_order=True)
        .agg(pl.col("count", "bytes").sum())
        .with_columns(pl.lit(wide).alias("window_s"))
        .sort("time_s", maintain_order=True)
    )


def _steps(name: str, table: "pl.DataFrame", values: Sequence[float | None]) -> Line:
    """Return a line that is level for the length of each window."""
    starts = table["time_s"].to_list()
    lengths = table["window_s"].to_list()
    edges: list[float] = [starts[0]]
    heights: list[float | None] = []
    for start, length, value in zip(starts, lengths, values, strict=True):
        # Windows in which nothing ended are not in the table.
        if start > edges[-1] + 1e-9:
            edges.append(start)
            heights.append(0.0)
        edges.append(max(start + length, edges[-1]))
        heights.append(value)
    return Line(name, edges, [*heights, heights[-1]], shape="level")


def live(now: "LiveRates") -> View:
    """Return the progress of a running measurement."""
    state = duration(now.seconds)
    if now.preparing:
        state = "making files"
        if now.prepared[1]:
            state += f", {whole(now.prepared[0])} of {whole(now.prepared[1])}"
    if now.removed is not None:
        state = f"removing files, {whole(now.removed)} gone"
    rates = [now.rates.get(name, (None, None)) for name in now.operations]
    columns = [
        Column("operation", list(now.operations)),
        Column("operations", [count for count, _ in now.operations.values()], units.COUNT),
        Column("data", [moved or None for _, moved in now.operations.values()], units.SIZE),
        Column("operations/s", [rate for rate, _ in rates], units.FIGURE),
        Column("MB/s", [throughput or None for _, throughput in rates], units.THROUGHPUT),
    ]
    return [Note(f"  {state}", now.title), Table("", columns)]
