"""Operations, queue, service time and utilisation of each disk over the run."""

from collections.abc import Iterator

from headrace.render.style import COLOURS
from headrace.report.document.content import foreign
from headrace.report.profile_report.chart import Chart, over_time
from headrace.report.profile_report.data import ProfileData
from headrace.report.profile_report.time_chart import READ, WRITE, Level, Line, Panel


def charts(data: ProfileData) -> Iterator[Chart]:
    """Yield a chart for each of the busiest disks."""
    for number, disk in enumerate(data.disks, 1):
        other = "" if not data.own_disks or disk in data.own_disks else " (not of the directory)"
        yield from over_time(
            f"disk-{number}",
            f"Disk {foreign(disk, 60)}{other}",
            data,
            _panels(data, disk),
            "Operations, requests at the device, service time and utilisation. A queue longer than"
            " twice the number of disks with a growing service time is a bottleneck"
            " (Hindman 2011, section 5.7).",
        )


def _panels(data: ProfileData, disk: str) -> list[Panel]:
    def column(figure: str) -> Line:
        word, _, _ = figure.partition("_")
        colour = {"read": READ, "reads": READ, "write": WRITE, "writes": WRITE}.get(word)
        return Line(word, data.column(f"disk.{disk}.{figure}"), colour or COLOURS[2])

    operations = [column("reads_per_s"), column("writes_per_s"), column("flushes_per_s")]
    levels = [
        Level("random read", data.value("random-read"), READ),
        Level("random write", data.value("random-write"), WRITE),
        Level("sync. write", data.value("sync-write"), COLOURS[2]),
    ]
    queue = Level("2 per disk:", 2.0 * spindles(data, disk))
    service = [column("read_service_s"), column("write_service_s")]
    return [
        Panel("Operations", "1/s", operations, levels, height=1.05),
        Panel("Queue", "", [column("queue")], [queue], height=0.8),
        Panel("Service time", "s", service, height=0.8),
        Panel("Utilisation", "%", [column("utilisation")], height=0.55, top=1.0),
    ]


def spindles(data: ProfileData, disk: str) -> int:
    """Return the number of disks that a device is made of; 1 for a disk."""
    below = {entry.name: entry.made_of for entry in data.facts.disks}

    def count(name: str, depth: int) -> int:
        parts = below.get(name, [])
        return sum(count(part, depth - 1) for part in parts) if parts and depth else 1

    return count(disk, 8)
