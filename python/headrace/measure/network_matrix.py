"""Latency and throughput of messages between all pairs of ranks, by MPI.

Two patterns: disjoint pairs send at once until every pair has, and all ranks send to all others at
once. The messages take the path that MPI chooses: memory within a host, the network between hosts.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import numpy as np

from headrace import _core, ranks
from headrace.environment import Environment, of_host
from headrace.fields import to_document
from headrace.measure.network import MessageLatency, Percentiles
from headrace.measure.report import PlanText, Stop
from headrace.quantities import binary_size, numbered

if TYPE_CHECKING:
    from mpi4py import MPI

KIND = "network-matrix"
SIZES = (8, 1 << 20)
WARM_UP, LEAST, MOST = 5, 10, 100_000
"""Messages before those that count; and the least and the most that count."""
LARGEST = 1 << 30
"""Bytes of a message at most."""
Pair: TypeAlias = tuple[int, int]
OnStep: TypeAlias = Callable[[int, int, str], object]


class PairTimes(msgspec.Struct, frozen=True, kw_only=True):
    """Round trips of messages of one size between two ranks."""

    size: int
    """Bytes of a message."""
    first: int
    second: int
    """The ranks."""
    count: int
    """Round trips."""
    latency: MessageLatency
    throughput: float
    """Bytes a second: a message over half of the median round trip."""


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """Messages of one size from each rank to all others, at once."""

    size: int
    count: int
    """Number of exchanges."""
    seconds: float
    """Median time until the last rank has sent and received all."""
    throughput: float
    """Bytes of all messages over that time."""
    matrix: list[list[float | None]]
    """Bytes a second from the rank of the row to that of the column: a message over the median time
    until it has arrived. None from a rank to itself."""


class NetworkMatrix(msgspec.Struct, frozen=True, kw_only=True):
    """The document of messages between all pairs of ranks."""

    kind: str = KIND
    scenario: PlanText
    version: str
    place: dict[str, str]
    environment: Environment
    hosts: list[str]
    """The host of each rank."""
    library: str
    """The MPI."""
    seconds: float
    """Time for which each pair sends messages of each size."""
    pairs: list[PairTimes]
    exchanges: list[Exchange]
    throughput: dict[str, float]
    latency: dict[str, Percentiles]
    stop: Stop


def rounds(count: int) -> list[list[Pair]]:
    """Return rounds of disjoint pairs in which each pair of ranks occurs once.

    One place is fixed and the others go round (the circle method of tournaments). With an odd
    number, one rank is idle in each round.
    """
    places = [*range(count), *([None] if count % 2 else [])]
    half = len(places) // 2
    result = []
    for _ in range(len(places) - 1):
        across = zip(places[:half], reversed(places[half:]), strict=True)
        result.append(
            [(min(a, b), max(a, b)) for a, b in across if a is not None and b is not None]
        )
        places = [places[0], places[-1], *places[1:-1]]
    return result


def measure(
    sizes: Sequence[int] = SIZES, *, seconds: float = 0.1, on_progress: OnStep | None = None
) -> dict[str, Any]:
    """Send messages between all pairs of ranks, and from all to all.

    All ranks must call it. The first returns the document of `headrace bench net ranks --json`; the
    others return an empty one. After Ctrl-C it has what was measured.

    Parameters:
        sizes: Bytes of messages.
        seconds: Time for each round of pairs, and each exchange of all, with each size.
        on_progress: Called with the rounds done, their total and the next one.

    Raises:
        ValueError: if there is one rank, or a size is none.
    """
    here = ranks.current()
    if here.total < 2:
        raise ValueError("there is one rank: start it with mpirun -n 2, or more")
    if wrong := [size for size in sizes if not 0 < size <= LARGEST]:
        raise ValueError(f"message size {wrong[0]} B: expected 1 B to 1 GiB")
    communicator = here.duplicate()
    try:
        report = _Measurement(communicator, seconds, on_progress).run(sizes)
    finally:
        communicator.Free()
    document: dict[str, Any] = {} if report is None else to_document(report)
    return document


class _Measurement:
    """Messages of one rank, in step with those of the others."""

    def __init__(
        self, communicator: "MPI.Intracomm", seconds: float, on_progress: OnStep | None
    ) -> None:
        self._communicator = communicator
        self._seconds = seconds
        self._on_progress = on_progress
        self._rank, self._size = communicator.Get_rank(), communicator.Get_size()

    def run(self, sizes: Sequence[int]) -> NetworkMatrix | None:
        """Measure the pairs of each size, then all to all; return the result on the first rank."""
        steps: list[tuple[int, list[Pair] | None]] = []
        for size in sizes:
            steps += [(size, pairs) for pairs in rounds(self._size)]
            steps.append((size, None))
        pairs: list[PairTimes] = []
        exchanges: list[Exchange] = []
        reason = "done"
        for number, (size, of_round) in enumerate(steps):
            if self._is_interrupted():
                reason = "interrupted"
                break
            if self._on_progress is not None:
                pattern = "all to all" if of_round is None else "pairs"
                self._on_progress(number, len(steps), f"{binary_size(size)}, {pattern}")
            if of_round is None:
                exchanges += self._exchanged(size)
            else:
                pairs += self._of_round(size, of_round)
        hosts = self._communicator.gather(ranks.current().host)
        if hosts is None:
            return None
        return _report(hosts, self._seconds, pairs, exchanges, reason)

    def _is_interrupted(self) -> bool:
        """Return whether any rank was interrupted."""
        return any(self._communicator.allgather(ranks.current().take_interrupt()))

    def _of_round(self, size: int, pairs: Iterable[Pair]) -> list[PairTimes]:
        own = next((pair for pair in pairs if self._rank in pair), None)
        # All pairs begin together.
        self._communicator.Barrier()
        times = None if own is None else self._round_trips(size, own)
        every = self._communicator.gather(times)
        return [one for one in every or () if one is not None]

    def _round_trips(self, size: int, pair: Pair) -> PairTimes | None:
        """Make round trips; return their times on the first rank of the pair."""
        leads = self._rank == pair[0]
        other = pair[1] if leads else pair[0]
        message = np.zeros(size, dtype=np.uint8)
        communicator = self._communicator

        def trip() -> int:
            began = time.perf_counter_ns()
            if leads:
                communicator.Send(message, other)
            communicator.Recv(message, other)
            if not leads:
                communicator.Send(message, other)
            return time.perf_counter_ns() - began

        warm_up = [trip() for _ in range(WARM_UP)]
        count = _repetitions(median(warm_up) * 1e-9, self._seconds)
        if leads:
            communicator.send(count, other)
        else:
            count = communicator.recv(source=other)
        times_ns = np.array([trip() for _ in range(count)])
        if not leads:
            return None
        least, half, most, longest = np.quantile(times_ns, (0, 0.5, 0.99, 1)) * 0.5e-9
        return PairTimes(
            size=size,
            first=pair[0],
            second=pair[1],
            count=count,
            latency=MessageLatency(float(least), float(half), float(most), float(longest)),
            throughput=size / max(float(half), 1e-9),
        )

    def _exchanged(self, size: int) -> list[Exchange]:
        """Send messages from all to all at once; return their times on the first rank."""
        others = [rank for rank in range(self._size) if rank != self._rank]
        message = np.zeros(size, dtype=np.uint8)
        buffers = [np.empty(size, dtype=np.uint8) for _ in others]
        warm_up = [self._exchange(others, message, buffers)[0] for _ in range(WARM_UP)]
        count = self._communicator.bcast(_repetitions(median(warm_up), self._seconds))
        done = [self._exchange(others, message, buffers) for _ in range(count)]
        arrivals = np.median([times for _, times in done], axis=0)
        column = dict(zip(others, arrivals.tolist(), strict=True))
        every = self._communicator.gather(([total for total, _ in done], column))
        if every is None:
            return []
        # An exchange lasts until the last rank is done.
        seconds = float(np.median(np.max([totals for totals, _ in every], axis=0)))
        columns = [times for _, times in every]
        return [
            Exchange(
                size=size,
                count=count,
                seconds=seconds,
                throughput=len(every) * len(others) * size / max(seconds, 1e-9),
                matrix=[
                    [
                        size / max(column[sender], 1e-9) if sender in column else None
                        for column in columns
                    ]
                    for sender in range(len(every))
                ],
            )
        ]

    def _exchange(
        self, others: Sequence[int], message: Any, buffers: Sequence[Any]
    ) -> tuple[float, list[float]]:
        """Return the time of an exchange, and of each arrival, in seconds."""
        self._communicator.Barrier()
        began = time.perf_counter_ns()
        receives = [
            self._communicator.Irecv(buffer, other)
            for other, buffer in zip(others, buffers, strict=True)
        ]
        sends = [self._communicator.Isend(message, other) for other in others]
        arrivals = [0.0] * len(others)
        for _ in others:
            place = type(receives[0]).Waitany(receives)
            arrivals[place] = (time.perf_counter_ns() - began) * 1e-9
        type(sends[0]).Waitall(sends)
        return (time.perf_counter_ns() - began) * 1e-9, arrivals


def _repetitions(once: float, seconds: float) -> int:
    return min(max(round(seconds / max(once, 1e-9)), LEAST), MOST)


def slowest(pairs: Iterable[PairTimes]) -> PairTimes | None:
    """Return the pair with the lowest throughput of the largest messages."""
    return min(pairs, key=lambda pair: (-pair.size, pair.throughput), default=None)


def _report(
    hosts: list[str],
    seconds: float,
    pairs: list[PairTimes],
    exchanges: list[Exchange],
    reason: str,
) -> NetworkMatrix:
    from mpi4py import MPI

    throughput: dict[str, float] = {}
    latency: dict[str, Percentiles] = {}
    for size in sorted({pair.size for pair in pairs}):
        alike = [pair for pair in pairs if pair.size == size]
        name = binary_size(size)
        throughput[f"pairs {name}"] = median(pair.throughput for pair in alike)
        throughput[f"slowest pair {name}"] = min(pair.throughput for pair in alike)
        latency[f"pairs {name}"] = Percentiles(
            median(pair.latency.p50 for pair in alike), median(pair.latency.p99 for pair in alike)
        )
        slow = max(alike, key=lambda pair: pair.latency.p50).latency
        latency[f"slowest pair {name}"] = Percentiles(slow.p50, slow.p99)
    for exchange in exchanges:
        throughput[f"all to all {binary_size(exchange.size)}"] = exchange.throughput
    distinct = len(set(hosts))
    description = f"messages of {len(hosts)} ranks on {numbered(distinct, 'host')}"
    environment: Mapping[str, Any] = {**of_host(), "client_hosts": distinct}
    return NetworkMatrix(
        scenario=PlanText("bench net ranks", description),
        version=_core.VERSION,
        place={"host": hosts[0]},
        environment=environment,  # type: ignore[arg-type]
        hosts=hosts,
        library=MPI.Get_library_version().splitlines()[0].rstrip("\0"),
        seconds=seconds,
        pairs=pairs,
        exchanges=exchanges,
        throughput=throughput,
        latency=latency,
        stop=Stop(reason),
    )
