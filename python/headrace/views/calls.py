"""Calls of a trace: their latency, the files that they use, and the processes that make them."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from headrace.plain_text import plain_line
from headrace.profile.characteristics import Characteristics, Operation, Quantiles
from headrace.profile.document import Activity
from headrace.quantities import duration, number, numbered, whole
from headrace.render import units
from headrace.render.blocks import Axis, Block, Chart, Column, HeatMap, Line, Table

MOST = 12
"""Rows of a table."""
LEAST_SHARE = 0.005
"""Files with a smaller share of both time and bytes are merged, and calls with a smaller share of
the time that occur less often than `FEWEST`."""
FEWEST = 2
QUANTILES = {"1 %": "p1_s", "median": "p50_s", "90 %": "p90_s", "99 %": "p99_s", "max": "max_s"}
SPARE = {"1 %": 2, "90 %": 1}
"""Percentiles that narrow terminals omit."""
KINDS = {"calls": "in file calls", "processor": "on processors"}


def characteristics_of(document: Mapping[str, Any] | None) -> Characteristics | None:
    """Return the characteristics in a profile; None without a trace, or of an earlier version."""
    try:
        return None if document is None else msgspec.convert(document, Characteristics)
    except msgspec.ValidationError:
        return None


def view(trace: Characteristics) -> list[Block]:
    """Return the latency of calls, and time and bytes by file."""
    calls = _ranked(trace.operations)
    return [latency_table(calls), *latency_chart(calls), files_table(trace)] if calls else []


def _ranked(operations: Sequence[Operation]) -> list[Operation]:
    """Return the kinds of calls by time and number. The others are merged into one without a
    latency."""
    ranked = sorted(operations, key=lambda kind: (-(kind.time_s or 0.0), -kind.count))
    least_s = LEAST_SHARE * sum(kind.time_s or 0.0 for kind in ranked)
    shown = [
        kind for kind in ranked if kind.count >= FEWEST or 0 < least_s <= (kind.time_s or 0.0)
    ][:MOST]
    others = [kind for kind in ranked if kind not in shown]
    if len(others) < FEWEST:
        return ranked
    times = [kind.time_s for kind in others if kind.time_s is not None]
    merged = Operation(
        operation=numbered(len(others), "other kind"),
        count=sum(kind.count for kind in others),
        share=sum(kind.share for kind in others),
        bytes=sum(kind.bytes for kind in others),
        time_s=sum(times) if times else None,
        failed=sum(kind.failed for kind in others),
    )
    return [*shown, merged]


def latency_table(calls: Sequence[Operation]) -> Table:
    """Return number, time and percentiles by kind of call."""

    def times(key: str) -> list[float | None]:
        return [getattr(kind.latency, key) if kind.latency else None for kind in calls]

    columns = [
        Column("call", [kind.operation for kind in calls]),
        Column("calls", [kind.count for kind in calls], units.COUNT),
        Column("failed", [kind.failed for kind in calls], units.COUNT, spare=4),
        Column("data", [kind.bytes or None for kind in calls], units.SIZE, spare=3),
    ]
    caption = ""
    if any(kind.latency for kind in calls):
        columns.append(Column("time", [kind.time_s for kind in calls], units.TIME))
        columns += [
            Column(name, times(key), units.TIME, spare=SPARE.get(name, 0))
            for name, key in QUANTILES.items()
        ]
        caption = (
            "time: of all calls of all processes, added up, with system time and waits for a core;"
            " percentiles: within 5 %"
        )
    return Table("Calls by time", columns, caption=caption)


def latency_chart(calls: Sequence[Operation]) -> list[Chart]:
    """Return median and range by kind of call; none without durations."""
    timed: list[tuple[str, Quantiles]] = [
        (kind.operation, kind.latency)
        for kind in calls
        if kind.latency and kind.latency.max_s and kind.count >= FEWEST
    ]
    if not timed:
        return []
    names = [name for name, _ in timed]
    low, median, high, most = (
        [getattr(times, key) for _, times in timed] for key in ("p1_s", "p50_s", "p99_s", "max_s")
    )
    lines = [
        Line("median, 1 % to 99 %", names, median, low, high, shape="mark"),
        Line("longest", names, most, shape="mark"),
    ]
    y = Axis("latency", units.MILLISECONDS, "log")
    return [Chart("latency", "Latency by call", Axis("call", scale="names"), y, lines)]


def files_table(trace: Characteristics) -> Table:
    """Return time and bytes by file. The rest is merged in the last row."""
    time_s = sum(kind.time_s or 0.0 for kind in trace.operations)
    shown = [
        file
        for file in trace.busiest_files
        if (file.share_of_bytes or 0.0) >= LEAST_SHARE
        or (file.time_s or 0.0) >= LEAST_SHARE * time_s
    ][:MOST]
    others = trace.files - len(shown)

    def with_rest(total: float, key: str) -> list[Any]:
        values = [getattr(file, key) for file in shown]
        return [*values, max(total - sum(values), 0)] if others else values

    names = [plain_line(file.file) for file in shown]
    patterns = [file.pattern if file.reads or file.writes else "" for file in shown]
    if others:
        names.append(numbered(others, "other file"))
        patterns.append("")
    columns = [
        Column("file", names),
        Column("calls", with_rest(trace.records, "operations"), units.COUNT),
        Column("read", with_rest(trace.bytes_read, "bytes_read"), units.SIZE),
        Column("written", with_rest(trace.bytes_written, "bytes_written"), units.SIZE),
        Column("pattern", patterns, spare=1),
    ]
    if time_s > 0 and all(file.time_s is not None for file in shown):
        columns.insert(1, Column("time", with_rest(time_s, "time_s"), units.TIME))
    caption = "time: in all calls on the file, added up over all processes"
    return Table("Files by time", columns, caption=caption * (len(columns) > 5))


def activity_map(activity: Activity | None) -> list[HeatMap]:
    """Return the use of time by process; none without one."""
    if activity is None:
        return []
    names = [plain_line(name) for name in activity.processes]
    names += [f"{whole(activity.merged)} others, added up"] * (activity.merged > 0)
    rows = [
        f"{name}: {duration(sum(shares) * activity.column_s)}"
        for name, shares in zip(names, activity.shares, strict=True)
    ]
    columns = [number(at * activity.column_s) for at in range(len(activity.shares[0]))]
    most = max(share for row in activity.shares for share in row)
    return [
        HeatMap(
            "process-map",
            f"Share of time {KINDS[activity.kind]}, by process or thread",
            Axis("time, s"),
            Axis("process or thread"),
            columns,
            rows,
            activity.shares,
            units.SHARE,
            most,
            downwards=True,
        )
    ]


def activity_caption(activity: Activity) -> str:
    """Return how the map of processes is to be read."""
    times = f"{duration(activity.processor_s)} on processors, as far as samples see the processes"
    if activity.calls_s is not None:
        times = f"{duration(activity.calls_s)} in file calls, {times}"
    rest = " The last row is the sum of the least active ones." if activity.merged else ""
    return (
        f"Share of each {duration(activity.column_s)} that a process or thread spends"
        f" {KINDS[activity.kind]}. In all: {times};"
        f" the larger one is shown.{rest}"
    )
