"""Characteristics of the captured trace, and the workload fitted to it."""

from collections.abc import Sequence

import msgspec

from headrace.profile.characteristics import Characteristics, CommonSize, Quantiles
from headrace.profile.document import CaptureText
from headrace.profile.workload_fit import FittedWorkload
from headrace.quantities import binary_size, duration, figure, numbered, percent, size, whole
from headrace.render.blocks import Table as ViewTable
from headrace.report.document.content import (
    Block,
    Bullets,
    Code,
    Facts,
    Paragraph,
    Picture,
    Section,
    Table,
    foreign,
    foreign_lines,
    of_view,
)
from headrace.report.profile_report.data import ProfileData
from headrace.views import calls
from headrace.views.profile_values import UNKNOWN

MOST_SIZES = 10
LEAST_SIZE_SHARE = 0.01
LEAST_BYTES_SHARE = 0.05
"""Sizes with smaller shares of both requests and bytes are merged in their table, and so are those
that occur once unless they have that share of the bytes."""


def section(data: ProfileData, pictures: Sequence[Picture]) -> Section:
    """Return the figures of the trace, and the fitted workload."""
    blocks: list[Block] = []
    if (trace := data.trace) is not None:
        tables = [of_view(part) for part in calls.view(trace) if isinstance(part, ViewTable)]
        blocks += [Facts(_figures(trace, data)), *tables[:1], *pictures, *tables[1:]]
        if trace.common_sizes:
            blocks.append(_sizes(trace.common_sizes))
    else:
        blocks.append(Paragraph("No trace was captured."))
    if workload := data.profile.get("workload"):
        blocks += _workload(msgspec.convert(workload, FittedWorkload))
    if capture := data.profile.get("capture"):
        blocks += _capture(msgspec.convert(capture, CaptureText))
    return Section("trace", "Trace of the file operations", blocks)


def _figures(trace: Characteristics, data: ProfileData) -> list[tuple[str, str]]:
    """Return the main figures in words; profile.json has all."""
    busy, bursts = trace.concurrency, trace.bursts
    moved = [data.total(f"tree.{way}_bytes_per_s") for way in ("read", "write")]
    requests = sum(trace.access_patterns.values()) or 1
    patterns = [
        f"{foreign(name, 40)} {percent(count / requests)} %"
        for name, count in trace.access_patterns.items()
        if count
    ]
    share = UNKNOWN
    if busy.share_of_span is not None:
        share = f"{duration(busy.busy_s)}, {percent(busy.share_of_span)} % of the trace"
    rows = [
        ("Calls", whole(trace.records)),
        (
            "Processes and threads",
            f"{whole(trace.processes)}, of which {whole(trace.moving_processes)} read or write",
        ),
        (
            "Files",
            f"{whole(trace.files)}, of which {whole(trace.files_only_read)} only read,"
            f" {whole(trace.files_only_written)} only written,"
            f" {whole(trace.files_read_and_written)} both",
        ),
        ("Read, written", f"{size(trace.bytes_read)}, {size(trace.bytes_written)}"),
        ("The same of devices, by samples", ", ".join(map(_total, moved))),
        ("Time with a call in progress", share),
        ("Calls in progress then", f"mean {figure(busy.mean)}, at most {whole(busy.max)}"),
        ("Time between calls", _quantiles(trace.think_times)),
        ("Bursts", f"{whole(bursts.count)}, apart by over {duration(bursts.gap_s)}"),
        ("Requests by pattern of their file", ", ".join(patterns) or "none"),
    ]
    reasons: dict[str, list[str]] = {}
    for kind in trace.skipped:
        named = f"{foreign(kind.name, 80)}: {whole(kind.count)}"
        reasons.setdefault(foreign(kind.reason.replace("_", " "), 80).capitalize(), []).append(
            named
        )
    return [*rows, *((reason, "; ".join(named)) for reason, named in reasons.items())]


def _total(amount: float | None) -> str:
    return UNKNOWN if amount is None else size(amount)


def _quantiles(times: Quantiles) -> str:
    known = (("median", times.p50_s), ("90 %", times.p90_s), ("at most", times.max_s))
    return ", ".join(f"{word} {duration(value)}" for word, value in known if value is not None)


def _sizes(sizes: Sequence[CommonSize]) -> Table:
    total = sum(entry.count for entry in sizes)
    moved = sum(entry.count * entry.bytes for entry in sizes)
    shown = [
        entry
        for entry in sizes
        if 1 < entry.count >= LEAST_SIZE_SHARE * total
        or 0 < LEAST_BYTES_SHARE * moved <= entry.count * entry.bytes
    ][:MOST_SIZES]
    rows = [
        [foreign(entry.operation, 40), binary_size(entry.bytes), whole(entry.count)]
        for entry in shown
    ]
    if left := len(sizes) - len(shown):
        count = total - sum(entry.count for entry in shown)
        rows.append(["", numbered(left, "other size"), whole(count)])
    return Table("Most frequent sizes", ["Operation", "Size", "Requests"], "lrr", rows)


def _workload(workload: FittedWorkload) -> list[Block]:
    fit = workload.goodness
    ratios = {
        "Calls": fit.requests_ratio,
        "Bytes read": fit.bytes_read_ratio,
        "Bytes written": fit.bytes_written_ratio,
    }
    others = [f"{name}: {figure(score)}" for name, score in workload.others.items()]
    rows = [
        ("Kind", foreign(workload.kind, 60)),
        ("Processes", whole(workload.processes)),
        *(
            (name, f"{percent(ratio)} % of those of the trace")
            for name, ratio in ratios.items()
            if ratio is not None
        ),
    ]
    if fit.sequential_share is not None and fit.recorded_sequential_share is not None:
        trace = f"trace: {percent(fit.recorded_sequential_share)} %"
        rows.append(("Sequential requests", f"{percent(fit.sequential_share)} %, {trace}"))
    rows.append(("Score", f"{figure(fit.score)} from 0, equal, to 1"))
    if others:
        rows.append(("Score of other kinds", foreign(", ".join(others))))
    blocks: list[Block] = [
        Paragraph("Workload fitted to the trace", "heading"),
        Code(foreign_lines(workload.toml), "toml"),
        Facts(rows),
    ]
    if missing := [foreign(reason) for reason in workload.not_reproduced]:
        blocks += [Paragraph("Not reproduced by the workload", "heading"), Bullets(missing)]
    return blocks


def _capture(capture: CaptureText) -> list[Block]:
    counts = (capture.counts or {}).items()
    lost = [f"{foreign(name, 80).replace('_', ' ')}: {whole(count)}" for name, count in counts]
    title = f"Not recorded by the capture with {foreign(capture.method, 40)}"
    return [Paragraph(title, "heading"), Bullets([*map(foreign, capture.left_out), *lost])]
