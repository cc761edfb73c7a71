"""Dirty pages and write-back over the run."""

from collections.abc import Iterator

from headrace.render.style import COLOURS
from headrace.report.profile_report.chart import Chart, over_time
from headrace.report.profile_report.data import ProfileData
from headrace.report.profile_report.time_chart import WRITE, Line, Panel


def charts(data: ProfileData) -> Iterator[Chart]:
    """Yield dirty pages, and the pressure on processors, memory and I/O."""
    dirty = [
        Line("dirty", data.column("memory.dirty_bytes"), WRITE),
        Line("in write-back", data.column("memory.write_back_bytes"), COLOURS[2]),
    ]
    pressure = [
        Line("processors", data.column("pressure.cpu"), COLOURS[6]),
        Line("memory", data.column("pressure.memory"), COLOURS[3]),
        Line("I/O", data.column("pressure.io"), COLOURS[0]),
    ]
    panels = [
        Panel("Dirty pages", "B", dirty, height=1.1),
        Panel("Pressure", "%", pressure, height=1.0),
    ]
    yield from over_time(
        "write-back",
        "Dirty pages and pressure",
        data,
        panels,
        "Pages that are not yet on disk, and the share of time in which some task of the machine"
        " waited for a resource (pressure stall information).",
    )
