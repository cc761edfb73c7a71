"""The application's threads and calls over the run."""

from collections.abc import Iterator

import polars as pl

from headrace.render.style import COLOURS
from headrace.report.profile_report.chart import Chart, over_time
from headrace.report.profile_report.data import ProfileData
from headrace.report.profile_report.time_chart import READ, WRITE, Level, Line, Panel


def charts(data: ProfileData) -> Iterator[Chart]:
    """Yield threads by state, calls per second and mean size of a call."""
    threads = [
        Line("running", data.column("tree.running"), COLOURS[1]),
        Line("waiting for a disk", data.column("tree.disk_wait"), COLOURS[0]),
        Line("sleeping", data.column("tree.sleeping"), COLOURS[5]),
    ]
    calls = [
        Line("read calls", data.column("tree.read_calls_per_s"), READ),
        Line("write calls", data.column("tree.write_calls_per_s"), WRITE),
    ]
    sizes = [
        Line(f"{word}s", _size(data, word), colour)
        for word, colour in (("read", READ), ("write", WRITE))
    ]
    panels = [
        Panel("Threads", "", threads),
        Panel("Calls", "1/s", calls, [Level("one-byte calls", data.value("small-call"))]),
        Panel("Mean call", "B", sizes, height=0.9, logarithmic=True),
    ]
    note = "States of the application's threads, its read and write calls, and their mean size."
    yield from over_time("application", "Threads and calls", data, panels, note)


def _size(data: ProfileData, word: str) -> pl.Series:
    calls = data.column(f"tree.{word}_calls_per_s")
    amount = data.column(f"tree.{word}_call_bytes_per_s")
    return pl.select(pl.when(calls > 0).then(amount / calls)).to_series().cast(pl.Float64)
