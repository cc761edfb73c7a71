"""Messages between two hosts, by size."""

from collections.abc import Sequence

from headrace.measure.network import MessageTimes, NetworkReport
from headrace.quantities import binary_size, duration
from headrace.render import units
from headrace.render.blocks import Axis, Chart, Column, Headline, Line, Note, Records, Table, View
from headrace.views.parts import ending, times_record

TIMES = {"p50": "latency", "least": "least", "p99": "p99", "max": "max"}


def view(result: NetworkReport) -> View:
    """Return half of a round trip, and the throughput that it gives, by size."""
    messages = result.messages
    sizes = [message.size for message in messages]
    rates = [message.throughput for message in messages]
    times = {name: [getattr(message.latency, name) for message in messages] for name in TIMES}
    across = Axis("message", units.BINARY_SIZE, "log2")
    round_trip = Line("median, least to p99", sizes, times["p50"], times["least"], times["p99"])
    return [
        Note(f": {result.scenario.description}", result.scenario.name),
        _headline(messages),
        Chart(
            "net", "Half of a round trip", across, Axis("", units.MICROSECONDS, "log"), [round_trip]
        ),
        Chart(
            "net",
            "Throughput",
            across,
            Axis("", units.THROUGHPUT, "log"),
            [Line("throughput", sizes, rates)],
        ),
        Table(
            "Half of a round trip",
            [
                Column("message", sizes, units.BINARY_SIZE),
                Column("MB/s", rates, units.THROUGHPUT),
                *(
                    Column(label, times[name], units.TIME, spare=1 if name == "max" else 0)
                    for name, label in TIMES.items()
                ),
                Column("messages", [message.count for message in messages], units.COUNT, spare=2),
            ],
        ),
        *ending(result.stop),
        Records(
            [
                {
                    "size": message.size,
                    "count": message.count,
                    "throughput_bytes_per_s": message.throughput,
                    **times_record("latency", message.latency),
                }
                for message in messages
            ]
        ),
    ]


def _headline(messages: Sequence[MessageTimes]) -> Headline:
    """Return half of a round trip of the smallest messages, and the highest throughput."""
    if not messages:
        return Headline({})
    small = min(messages, key=lambda message: message.size)
    fast = max(messages, key=lambda message: message.throughput)
    half = {f"half of a round trip, {binary_size(small.size)}": duration(small.latency.p50)}
    highest = {f"throughput, {binary_size(fast.size)}": units.THROUGHPUT.full(fast.throughput)}
    return Headline(half | highest)
