"""Memory and page cache over the run."""

from collections.abc import Iterator

from headrace.render.style import COLOURS
from headrace.report.profile_report.chart import Chart, over_time
from headrace.report.profile_report.data import ProfileData, maximum
from headrace.report.profile_report.time_chart import Level, Line, Panel


def charts(data: ProfileData) -> Iterator[Chart]:
    """Yield memory by use, and paging."""
    memory = [
        Line("page cache", data.sum("memory.cached_bytes", "memory.buffers_bytes"), COLOURS[0]),
        Line("used", data.column("memory.used_bytes"), COLOURS[1]),
        Line("available", data.column("memory.available_bytes"), COLOURS[2]),
        Line("application", data.column("tree.resident_bytes"), COLOURS[6]),
        Line("swap used", data.column("memory.swap_used_bytes"), COLOURS[3]),
    ]
    levels = [Level("total", maximum(data.column("memory.total_bytes")) or None)]
    swap = [
        Line("swap in", data.column("paging.swap_in_bytes_per_s"), COLOURS[1]),
        Line("swap out", data.column("paging.swap_out_bytes_per_s"), COLOURS[3]),
    ]
    faults = [
        Line("major, all processes", data.column("paging.major_faults_per_s"), COLOURS[5]),
        Line("major, application", data.column("tree.major_faults_per_s"), COLOURS[6]),
    ]
    panels = [
        Panel("Memory", "B", memory, levels, height=1.6),
        Panel("Swap", "B/s", swap, height=1.0, if_positive=True),
        Panel("Page faults", "1/s", faults, height=1.0, if_positive=True),
    ]
    yield from over_time(
        "memory",
        "Memory and page cache",
        data,
        panels,
        "Memory by use. Swapping and page faults that wait for a disk are shown if there were any.",
    )
