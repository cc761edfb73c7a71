"""Network interfaces over the run."""

from collections.abc import Iterator

import polars as pl

from headrace.render.style import COLOURS
from headrace.report.document.content import foreign
from headrace.report.profile_report.chart import Chart, over_time
from headrace.report.profile_report.data import ProfileData, maximum
from headrace.report.profile_report.time_chart import READ, WRITE, Level, Line, Panel

FAULTS = ("errors", "drops", "collisions")


def charts(data: ProfileData) -> Iterator[Chart]:
    """Yield rates of each active interface, and errors if there are any."""
    speeds = {card.name: card.bits_per_s / 8 for card in data.facts.interfaces if card.bits_per_s}
    send = Level("network send", data.value("network-send"), COLOURS[2])
    panels = []
    for name in data.networks:
        lines = [
            Line("receive", data.column(f"net.{name}.receive_bytes_per_s"), READ),
            Line("send", data.column(f"net.{name}.send_bytes_per_s"), WRITE),
        ]
        levels = [Level("link", speeds.get(name)), *([send] if name != "lo" else [])]
        panels.append(Panel(foreign(name, 16), "B/s", lines, levels, height=1.1))
    for name in data.instances("infiniband"):
        lines = [
            Line("receive", data.column(f"infiniband.{name}.receive_bytes_per_s"), READ),
            Line("send", data.column(f"infiniband.{name}.send_bytes_per_s"), WRITE),
        ]
        panels.append(Panel(foreign(name, 16), "B/s", lines, height=1.3))
    if not panels:
        return
    faults = [
        Line(word, _all_interfaces(data, word), COLOURS[number])
        for number, word in enumerate(FAULTS)
    ]
    faults.append(Line("TCP retransmits", data.column("tcp.retransmits_per_s"), COLOURS[6]))
    faults = [fault for fault in faults if maximum(fault.values) > 0]
    panels.append(Panel("Faults", "1/s", faults, height=1.0))
    note = "Rates of the interfaces that moved data." + (
        "" if faults else " No errors, drops, collisions or retransmits."
    )
    yield from over_time("network", "Network", data, panels, note)


def _all_interfaces(data: ProfileData, word: str) -> pl.Series:
    names = data.instances("net")
    return data.sum(*(f"net.{name}.{word}_per_s" for name in names))
