"""Messages between all pairs of ranks."""

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from headrace.measure.network_matrix import Exchange, NetworkMatrix, PairTimes, slowest
from headrace.quantities import binary_size, duration
from headrace.render import units
from headrace.render.blocks import (
    Axis,
    Block,
    Column,
    Headline,
    HeatMap,
    Note,
    Records,
    Table,
    View,
)
from headrace.views.parts import ending, times_record

SLOWEST = 10
"""Pairs that the table of the slowest has at most."""


def view(result: NetworkMatrix) -> View:
    """Return the figures by size, the slowest pairs, and the matrices."""
    return [
        Note(f": {result.scenario.description}", result.scenario.name),
        *_one_host(result),
        _headline(result),
        _by_size(result),
        *_slowest(result),
        *_matrices(result),
        *ending(result.stop),
        Records([_record(result, pair) for pair in result.pairs]),
    ]


def _name(result: NetworkMatrix, rank: int) -> str:
    return f"{rank} on {result.hosts[rank]}"


def _one_host(result: NetworkMatrix) -> Iterator[Note]:
    if len(set(result.hosts)) == 1:
        text = "Note: all ranks are on one host: the messages stay in its memory."
        yield Note(text, style="warning")


def _headline(result: NetworkMatrix) -> Headline:
    slow = slowest(result.pairs)
    if slow is None:
        return Headline({})
    name = f"slowest pair, {binary_size(slow.size)}: {_name(result, slow.first)} and"
    figures = {f"{name} {_name(result, slow.second)}": units.THROUGHPUT.full(slow.throughput)}
    small = min(result.pairs, key=lambda pair: (pair.size, -pair.latency.p50))
    ranks = f"{_name(result, small.first)} and {_name(result, small.second)}"
    latency = duration(small.latency.p50)
    return Headline({**figures, f"longest latency, {binary_size(small.size)}: {ranks}": latency})


def _by_size(result: NetworkMatrix) -> Table:
    sizes = sorted({pair.size for pair in result.pairs})
    alike = [[pair for pair in result.pairs if pair.size == size] for size in sizes]

    def each(choose: Callable[[Sequence[float]], float], time: bool) -> list[float]:
        figure = [[pair.latency.p50 if time else pair.throughput for pair in of] for of in alike]
        return [choose(values) for values in figure]

    whole = {exchange.size: exchange.throughput for exchange in result.exchanges}
    return Table(
        "Pairs at once, and all to all",
        [
            Column("message", sizes, units.BINARY_SIZE),
            Column("median latency", each(median, True), units.TIME),
            Column("longest", each(max, True), units.TIME),
            Column("median MB/s", each(median, False), units.THROUGHPUT),
            Column("slowest", each(min, False), units.THROUGHPUT),
            Column("all to all, MB/s", [whole.get(size) for size in sizes], units.THROUGHPUT),
        ],
    )


def _slowest(result: NetworkMatrix) -> Iterator[Table]:
    largest = max((pair.size for pair in result.pairs), default=0)
    alike = [pair for pair in result.pairs if pair.size == largest]
    shown = sorted(alike, key=lambda pair: pair.throughput)[:SLOWEST]
    if len(alike) > 1:
        yield Table(
            f"Slowest pairs, {binary_size(largest)}",
            [
                Column("rank", [_name(result, pair.first) for pair in shown]),
                Column("rank", [_name(result, pair.second) for pair in shown]),
                Column("MB/s", [pair.throughput for pair in shown], units.THROUGHPUT),
                Column("latency", [pair.latency.p50 for pair in shown], units.TIME),
                Column("p99", [pair.latency.p99 for pair in shown], units.TIME),
            ],
            names=2,
        )


def _matrices(result: NetworkMatrix) -> Iterator[Block]:
    """Return the latency of the smallest messages, and the throughput of the largest."""
    names = [_name(result, rank) for rank in range(len(result.hosts))]
    sizes = sorted({pair.size for pair in result.pairs})

    def heat_map(title: str, values: list[list[float | None]], latency: bool) -> HeatMap:
        picture = "net-latency" if latency else f"net-throughput-{title.split(',')[0]}"
        return HeatMap(
            picture.replace(" ", "-"),
            title,
            Axis("to rank"),
            Axis("from rank"),
            names,
            names,
            values,
            units.MICROSECONDS if latency else units.THROUGHPUT,
            downwards=True,
        )

    if sizes:
        alike = [pair for pair in result.pairs if pair.size == sizes[0]]
        latencies = _symmetric(len(names), alike, lambda pair: pair.latency.p50)
        yield heat_map(f"latency, {binary_size(sizes[0])}", latencies, True)
        alike = [pair for pair in result.pairs if pair.size == sizes[-1]]
        rates = _symmetric(len(names), alike, lambda pair: pair.throughput)
        yield heat_map(f"pairs, {binary_size(sizes[-1])}", rates, False)
    largest: list[Exchange] = sorted(result.exchanges, key=lambda exchange: exchange.size)[-1:]
    for exchange in largest:
        yield heat_map(f"all to all, {binary_size(exchange.size)}", exchange.matrix, False)


def _symmetric(
    count: int, pairs: Sequence[PairTimes], figure: Callable[[PairTimes], float]
) -> list[list[float | None]]:
    values: list[list[float | None]] = [[None] * count for _ in range(count)]
    for pair in pairs:
        values[pair.first][pair.second] = values[pair.second][pair.first] = figure(pair)
    return values


def _record(result: NetworkMatrix, pair: PairTimes) -> dict[str, object]:
    return {
        "size": pair.size,
        "first": pair.first,
        "first_host": result.hosts[pair.first],
        "second": pair.second,
        "second_host": result.hosts[pair.second],
        "count": pair.count,
        "throughput_bytes_per_s": pair.throughput,
        **times_record("latency", pair.latency),
    }
