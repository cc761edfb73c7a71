"""Charts of a profile, one file each. A chart is added by its file and one line here."""

from collections.abc import Callable, Iterator

from headrace.report.profile_report.chart import Chart
from headrace.report.profile_report.charts import (
    application,
    calls,
    cores,
    disks,
    io_profile,
    memory,
    network,
    remote,
    requests,
    time_balance,
    write_back,
)
from headrace.report.profile_report.data import ProfileData

Charts = Callable[[ProfileData], Iterator[Chart]]
"""Yields the charts of one kind; nothing without data for them."""

OF_SAMPLES: tuple[Charts, ...] = (
    time_balance.charts,
    io_profile.charts,
    calls.activity,
    cores.charts,
    application.charts,
    disks.charts,
    memory.charts,
    write_back.charts,
    network.charts,
    remote.charts,
)
"""Charts over time, in the order of the report."""
OF_TRACE: tuple[Charts, ...] = (calls.latency, requests.charts)
"""Charts of the captured trace."""
