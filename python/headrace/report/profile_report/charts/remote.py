"""Clients of network and parallel file systems over the run."""

from collections.abc import Iterator

from headrace.render.style import COLOURS
from headrace.report.document.content import foreign
from headrace.report.profile_report.chart import Chart, over_time
from headrace.report.profile_report.data import ProfileData, maximum
from headrace.report.profile_report.time_chart import READ, WRITE, Line, Panel

KINDS = {"nfs": "NFS", "lustre": "Lustre"}


def charts(data: ProfileData) -> Iterator[Chart]:
    """Yield a chart for each remote mount that moved data or was called."""
    for kind, title in KINDS.items():
        for number, name in enumerate(data.instances(kind), 1):
            at = f"{kind}.{name}"
            rates = [
                Line("read", data.column(f"{at}.read_bytes_per_s"), READ),
                Line("write", data.column(f"{at}.write_bytes_per_s"), WRITE),
            ]
            calls = [Line("calls", data.column(f"{at}.calls_per_s"), COLOURS[2])]
            if not any(maximum(rate.values) > 0 for rate in [*rates, *calls]):
                continue
            round_trip = [Line("round trip", data.column(f"{at}.rtt_s"), COLOURS[6])]
            panels = [
                Panel("Throughput", "B/s", rates),
                Panel("Calls", "1/s", calls, height=1.0),
                Panel("Round trip", "s", round_trip, height=1.0),
            ]
            yield from over_time(f"{kind}-{number}", f"{title} {foreign(name, 60)}", data, panels)
