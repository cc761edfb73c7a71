"""Processor time by process over the run: the busiest processes, as `top` shows them."""

from collections.abc import Iterator

import polars as pl

from headrace.render.style import COLOURS
from headrace.report.document.content import foreign
from headrace.report.profile_report.chart import Chart, over_time
from headrace.report.profile_report.data import ProfileData
from headrace.report.profile_report.time_chart import Line, Panel

MOST = 5


def charts(data: ProfileData) -> Iterator[Chart]:
    """Yield the processor time of the busiest processes."""
    table = data.processes
    lines = []
    if table is not None and table.height:
        cores = (pl.col("user").fill_null(0.0) + pl.col("system").fill_null(0.0)).alias("cores")
        table = table.with_columns(cores)
        busiest = (
            table.group_by("pid")
            .agg(
                pl.col("name").last(), (pl.col("cores") * (pl.col("to_s") - pl.col("from_s"))).sum()
            )
            .filter(pl.col("cores") > 0)
            .sort("cores", "pid", descending=[True, False])
            .head(MOST)
        )
        for number, (pid, name) in enumerate(busiest.select("pid", "name").iter_rows()):
            own = table.filter(pl.col("pid") == pid).select("from_s", "cores").unique("from_s")
            values = data.rates.select("from_s").join(own, on="from_s", how="left")["cores"]
            label = f"{foreign(name, 20)} ({pid})"
            lines.append(Line(label, values.fill_null(0.0), COLOURS[number]))
    kernel = data.column("cpu.kernel_threads")
    lines.append(Line("kernel threads of I/O", kernel, COLOURS[6], "dotted"))
    note = "Processor time of the busiest processes in percent of one core."
    yield from over_time(
        "processes", "Processes", data, [Panel("Processors", "%", lines, height=1.6)], note
    )
