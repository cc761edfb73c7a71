"""Charts of a profile, one file each. A chart is added by its file and one line here."""

from collections.abc import Callable, Iterator

from headrace.report.profile_report.chart import Chart
from headrace.report.profile_report.charts import (
    application,
    cores,
    disks,
    io_profile,
    memory,
    network,
    processes,
    remote,
    write_back,
)
from headrace.report.profile_report.data import ProfileData

CHARTS: tuple[Callable[[ProfileData], Iterator[Chart]], ...] = (
    io_profile.charts,
    processes.charts,
    cores.charts,
    application.charts,
    disks.charts,
    memory.charts,
    write_back.charts,
    network.charts,
    remote.charts,
)
"""In the order of the report. A chart without data yields nothing."""
