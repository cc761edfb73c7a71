"""Parts that views share."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from headrace.quantities import megabytes, percent, whole
from headrace.render import units
from headrace.render.blocks import Axis, Chart, Column, Line, Note, Record, Table

if TYPE_CHECKING:
    import polars as pl

    from headrace.measure.report import CounterMeans, LeftOut, ResultWarning, Stop
    from headrace.simulate.report import LeftOut as LeftOutOfRun
    from headrace.simulate.report import Warned

ENDS = {
    "interrupted": "Interrupted: partial figures.",
    "time": "Stopped by the time limit: partial figures.",
    "failed": "An operation failed: partial figures.",
    "unfinished": "Not complete: partial figures.",
}
MOST_KINDS = 6
"""Kinds of what was left out that a line names; the table and the document have all."""
QUANTILES = tuple(1 - 10 ** (-step / 10) for step in range(61))
"""0 to 0.999999, ten for each nine."""
STARTS = {"service": "from the actual start", "response": "from the intended start"}


def ending(stop: "Stop") -> list[Note]:
    """Return how a measurement ended, if it ended early."""
    return [Note(ENDS[stop.reason])] if stop.reason in ENDS else []


def warning_note(warning: "ResultWarning | Warned") -> Note:
    """Return a warning of a result."""
    return Note(f"Note: {warning.message}.", style="warning")


def unexpected_warnings(document: Mapping[str, Any]) -> list[Note]:
    """Return the warnings of a calibration or validation, without those that its cached reads
    cause on purpose."""
    return [
        Note(f"Note: {warning['message']}.", style="warning")
        for warning in document.get("warnings", [])
        if warning["condition"] != "fits-in-memory"
    ]


def effect_of_tracing(trace: Mapping[str, Any]) -> str:
    """Return the effect of tracing on the figures."""
    lost = f"; {trace['lost']:,} records were lost" if trace["lost"] else ""
    return f"Tracing changed the times by {100 * trace['cost']:+.1f} % (median){lost}."


def assumptions(lines: Iterable[str]) -> list[Note]:
    """Return a heading and the assumptions of a result, one a line."""
    return [Note("", "\nAssumptions"), *(Note(f"  {line}") for line in lines)]


def times_record(name: str, times: msgspec.Struct) -> Record:
    """Return times in seconds by the names of their columns in a CSV file."""
    figures = msgspec.to_builtins(times)
    return {f"{name}_{key}_s": value for key, value in figures.items() if key != "count"}


def half_width(intervals: Mapping[str, Any] | None, *path: str) -> float | None:
    """Return half the width of the 95 % interval of the figure at a path; None if there is none."""
    entry: Any = intervals or None
    for key in path:
        entry = entry.get(key) if entry else None
    return None if entry is None else float(entry)


def machine(counters: "CounterMeans") -> str:
    """Return the counters of the machine in one line."""
    # Ticks of 10 ms make more than all of a short time.
    used = min(counters.cpu_user + counters.cpu_system, 1.0)
    text = f"Processors {percent(used)} % busy, {percent(counters.cpu_iowait)} % waiting for I/O"
    if counters.device is None:
        return f"{text}; no block device below the directory."
    read, written = counters.device_read_bytes_per_s, counters.device_write_bytes_per_s
    if read is None or written is None:
        return f"{text}; {counters.device} reports no counters."
    return (
        f"{text}; {counters.device} {percent(counters.device_busy)} % busy, reading"
        f" {megabytes(read)} and writing {megabytes(written)} MB/s."
    )


def left_out_table(entries: "Sequence[LeftOut | LeftOutOfRun]") -> list[Table]:
    """Return the table of what was left out; none if nothing was."""
    columns = [
        Column("what", [entry.what for entry in entries]),
        Column("count", [entry.count for entry in entries], units.COUNT),
        Column("by", [entry.by for entry in entries], spare=1),
        Column("why", [entry.reason for entry in entries]),
    ]
    return [Table("Left out", columns)] if entries else []


def left_out_line(entries: "Sequence[LeftOut | LeftOutOfRun]") -> list[Note]:
    """Return what was left out in one line, the most frequent first; none if nothing was."""
    counts: dict[str, float] = {}
    for entry in entries:
        counts[entry.what] = counts.get(entry.what, 0) + entry.count
    if not counts:
        return []
    ranked = sorted(counts.items(), key=lambda pair: -pair[1])
    named = [f"{whole(count)} {name}" for name, count in ranked[:MOST_KINDS]]
    if len(ranked) > MOST_KINDS:
        named.append(f"{len(ranked) - MOST_KINDS} further kinds")
    return [Note(f"Not supported, or only in part: {', '.join(named)}.", style="warning")]


def latency_by_percentile(picture: str, histograms: "pl.DataFrame | None") -> list[Chart]:
    """Return a line for each operation and kind of time; none without histograms."""
    if histograms is None:
        return []
    from headrace.histograms import percentiles

    return [percentile_chart(picture, percentiles([histograms], QUANTILES))]


def percentile_chart(picture: str, percentiles: "pl.DataFrame") -> Chart:
    """Return percentiles, as `headrace.histograms.percentiles` has them, as a chart."""
    import polars as pl

    table = percentiles.filter(
        pl.col("operation") != "all",
        # With fewer operations than that, the percentile is the longest of them.
        (1 - pl.col("quantile")) * pl.col("count") >= 1 - 1e-9,
    )
    several = table["time"].n_unique() > 1
    lines = [
        Line(
            f"{operation}, {STARTS[str(time)]}" if several else str(operation),
            part["quantile"].to_list(),
            part["time_s"].to_list(),
            shape="level",
            group=str(operation),
        )
        for (operation, time), part in table.group_by("operation", "time", maintain_order=True)
    ]
    x = Axis("operations that took no longer (%)", scale="nines")
    return Chart(
        picture, "Latency by percentile", x, Axis("latency", units.MILLISECONDS, "log"), lines
    )
