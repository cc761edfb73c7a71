"""The I/O profile: throughput and processor time over the run, with the baseline.

It shows what Hindman 2011 shows in figures 5.4, 5.6, 5.10, 5.11, 5.12 and 5.14.
"""

from collections.abc import Iterator

import polars as pl

from headrace.render.style import COLOURS
from headrace.report.profile_report.chart import Chart, over_time
from headrace.report.profile_report.data import ProfileData, maximum
from headrace.report.profile_report.time_chart import READ, WRITE, Level, Line, Panel

DASHES = ("solid", "dotted", "dashdot")


def charts(data: ProfileData) -> Iterator[Chart]:
    """Yield the I/O profile."""
    disks = data.disks[: len(DASHES)]
    throughput = [
        Line(f"{disk} {word}", data.column(f"disk.{disk}.{word}_bytes_per_s"), colour, dashes)
        for disk, dashes in zip(disks, DASHES, strict=False)
        for word, colour in (("read", READ), ("write", WRITE))
        if maximum(data.column(f"disk.{disk}.{word}_bytes_per_s")) > 0
    ]
    levels = [
        Level("block read", data.value("block-read"), READ),
        Level("block write", data.value("block-write"), WRITE),
        Level("rewrite", data.value("rewrite"), COLOURS[2]),
        Level("char. read", data.value("character-read"), READ),
        Level("char. write", data.value("character-write"), WRITE),
    ]
    calls = [
        Line("read calls", data.column("tree.read_call_bytes_per_s"), READ),
        Line("write calls", data.column("tree.write_call_bytes_per_s"), WRITE),
    ]
    panels = [
        Panel("Disks", "B/s", throughput, levels, height=2.1),
        Panel("Application", "B/s", calls, [] if throughput else levels, height=1.3),
        Panel("Processors", "%", _processor_lines(data), height=1.9),
    ]
    note = (
        "Throughput of the disks and of the application's calls, and processor time in percent of"
        " one core. Calls that the page cache serves move no data on a disk."
    )
    yield from over_time("io-profile", "I/O profile", data, panels, note)


def _processor_lines(data: ProfileData) -> list[Line]:
    return [
        Line("application", data.sum("tree.user", "tree.system"), COLOURS[6]),
        Line("of it in the kernel", data.column("tree.system"), COLOURS[3]),
        Line("its busiest thread", data.column("tree.busiest_thread"), COLOURS[1], "dotted"),
        Line("busiest core", data.busiest_core(), COLOURS[2]),
        Line("I/O wait of all cores", _io_wait(data), COLOURS[5]),
    ]


def _io_wait(data: ProfileData) -> pl.Series:
    return (
        data.sum(*(f"cpu.{core}.iowait" for core in data.cores))
        if data.cores
        else data.column("cpu.iowait")
    )
