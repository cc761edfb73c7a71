"""A trace: its operations, request sizes, files, characteristics and skipped lines."""

from collections.abc import Sequence

import msgspec

from headrace.profile.characteristics import Characteristics, TraceReport
from headrace.quantities import duration, numbered, percent, short_size, size, whole
from headrace.render import units
from headrace.render.blocks import Axis, Block, Chart, Column, Headline, Line, Note, Table, View
from headrace.trace.batches import SkippedKind
from headrace.trace.summary import Summary
from headrace.views import calls


def view(report: TraceReport, name: str = "Trace") -> View:
    """Return the blocks of a trace.

    Parameters:
        report: The trace.
        name: Name of the trace, for the heading.
    """
    summary = report.summary
    moved = {"read": size(summary.bytes_read), "written": size(summary.bytes_written)}
    main = Headline({"records": whole(summary.records), "files": whole(summary.files)} | moved)
    blocks: list[Block] = [_heading(name, summary), main, *_charts(summary)]
    if report.characteristics:
        blocks += [*calls.view(report.characteristics), *_characteristics(report.characteristics)]
    else:
        blocks += _tables(summary)
    return [*blocks, *skipped_table(report.skipped)]


def _heading(name: str, summary: Summary) -> Note:
    span = summary.span_seconds
    lines = [
        f"{numbered(summary.records, 'record')} of"
        f" {numbered(summary.processes, 'process', 'processes')}"
        f" on {numbered(summary.files, 'file')}"
        f"{', without times' if span is None else f' in {duration(span)}'};"
        f" {size(summary.bytes_read)} read, {size(summary.bytes_written)} written"
    ]
    shares = {"metadata": summary.metadata_share, "sequential": summary.sequential_share}
    if texts := [
        f"{percent(share)} % {word}" for word, share in shares.items() if share is not None
    ]:
        lines.append(", ".join(texts))
    return Note("".join(f"\n{line}" for line in lines), name)


def _charts(summary: Summary) -> list[Chart]:
    operations, sizes = summary.operations, summary.request_sizes
    names = [total.operation for total in operations]
    spans = [f"{short_size(entry.least)} to {short_size(entry.most)}" for entry in sizes]
    charts = [
        Chart(
            "operations",
            "Operations of the trace",
            Axis("operation", scale="names"),
            Axis("calls", units.COUNT),
            [Line("calls", names, [total.count for total in operations], shape="bar")],
        ),
        Chart(
            "sizes",
            "Request sizes",
            Axis("size", scale="names"),
            Axis("requests", units.COUNT),
            [
                Line("reads", spans, [entry.reads for entry in sizes], shape="bar"),
                Line("writes", spans, [entry.writes for entry in sizes], shape="bar"),
            ],
        ),
    ]
    return charts if sizes else charts[:1]


def _tables(summary: Summary) -> list[Table]:
    operations, sizes, files = summary.operations, summary.request_sizes, summary.busiest_files
    means = [
        None if total.seconds is None else total.seconds / (total.count - total.without_duration)
        for total in operations
    ]
    spans = [f"{entry.least:,} to {entry.most:,}" if entry.most else "0" for entry in sizes]
    totals = Table(
        "Operations",
        [
            Column("operation", [total.operation for total in operations]),
            Column("records", [total.count for total in operations], units.COUNT),
            Column("data", [total.bytes or None for total in operations], units.SIZE),
            Column("mean ms", means, units.MILLISECONDS),
        ],
    )
    others = [
        Table(
            "Request sizes",
            [
                Column("bytes", spans),
                Column("reads", [entry.reads for entry in sizes], units.COUNT),
                Column("writes", [entry.writes for entry in sizes], units.COUNT),
            ],
        ),
        Table(
            "Busiest files",
            [
                Column("file", [file.file for file in files]),
                Column("read", [file.bytes_read for file in files], units.SIZE),
                Column("written", [file.bytes_written for file in files], units.SIZE),
            ],
        ),
    ]
    return [totals, *(table for table in others if table.columns[0].values)]


def _characteristics(trace: Characteristics) -> list[Block]:
    """Return access patterns, heat, bursts, think times and concurrency of a trace."""
    steps = [(name, count) for name, count in msgspec.to_builtins(trace.access).items() if count]
    blocks: list[Block] = [
        Table(
            "Positions of reads and writes",
            [
                Column("after the one before", [name for name, _ in steps]),
                Column("requests", [count for _, count in steps], units.COUNT),
            ],
        ),
    ]
    if trace.span_s is not None:
        blocks += [_times(trace), Note(_timing(trace))]
    return [*blocks, Note(_sentences(trace))]


def _times(trace: Characteristics) -> Table:
    times = {"think": trace.think_times, "burst": trace.bursts.lengths}
    return Table(
        "Times",
        [
            Column("time", list(times)),
            Column("count", [time.count for time in times.values()], units.COUNT),
            *(
                Column(name, [getattr(time, f"{name}_s") for time in times.values()], units.TIME)
                for name in ("total", "mean", "p50", "p90", "p99", "max")
            ),
        ],
    )


def _timing(trace: Characteristics) -> str:
    at_once = trace.concurrency
    if not at_once.share_of_span or at_once.mean is None:
        return "Processes in calls: the trace has no durations"
    return (
        f"Processes in calls: at least one for {percent(at_once.share_of_span)} % of the time, then"
        f" {at_once.mean:.2f} on average, at most {whole(at_once.max)}"
    )


def _sentences(trace: Characteristics) -> str:
    syncs, heat = trace.syncs, trace.heat
    lines = [f"Syncs: {whole(syncs.count)}, {whole(syncs.data_only)} of data only"]
    if heat.top_tenth_bytes is not None:
        lines.append(
            f"Heat: a tenth of the {whole(heat.files)} files with data has"
            f" {percent(heat.top_tenth_bytes)} % of the bytes; Gini {heat.gini_bytes:.2f}"
        )
    if trace.mapped:
        lines.append(f"Mapped: {whole(trace.mapped)} calls of mmap or msync")
    return "\n".join(lines)


def skipped_table(skipped: Sequence[SkippedKind]) -> list[Table]:
    """Return the table of skipped lines and assumptions of a reader; none if there are none."""
    columns = [
        Column("what", [kind.name for kind in skipped]),
        Column("why", [kind.reason.replace("_", " ") for kind in skipped]),
        Column("count", [kind.count for kind in skipped], units.COUNT),
        Column(
            "first line",
            [kind.examples[0].line if kind.examples else None for kind in skipped],
            units.COUNT,
            spare=1,
        ),
    ]
    return [Table("Skipped or assumed", columns, names=2)] if skipped else []
