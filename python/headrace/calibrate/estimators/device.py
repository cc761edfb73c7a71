"""Service time of a device, its queue depth, and whether it completes transfers in bulk."""

import math
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from headrace.calibrate.case import DIRECT, RANDOM
from headrace.calibrate.estimators.copy_cost import KIB, MIB
from headrace.calibrate.estimators.estimator import Estimator, Known
from headrace.calibrate.estimators.least_squares import costs
from headrace.calibrate.probe import Probe, Times, calls

DIRECTIONS = ("read", "write")
SMALL, MIDDLE, LARGE = 4 * KIB, 64 * KIB, MIB
FILE = 64 * MIB
BLOCKS = {SMALL: 512, 48 * KIB: 256, 384 * KIB: 96, LARGE: 48}
"""Number of transfers of each size. The first after a pause takes 0.2 to 0.4 ms more on a virtual
disk, which should change no mean by more than 2 %. The times of a virtual disk lie on no straight
line: reads of 4, 64, 128, 256, 512 and 1024 KiB took 72, 99, 116, 171, 296 and 437 us."""


def _probes(statistic: Literal["mean", "p50"]) -> dict[tuple[str, int], Probe]:
    # Random places, so that no layer below reads ahead or merges.
    return {
        (direction, block): Probe(
            f"direct {direction}s of {block // KIB} KiB"
            + (", mean" if statistic == "mean" else ""),
            calls(FILE // block, block, [direction], DIRECT, **RANDOM, requests=str(count)),
            direction,
            statistic,
            resource="device",
        )
        for direction in DIRECTIONS
        for block, count in BLOCKS.items()
    }


PROBES = _probes("p50")
"""Medians. Where a control group limits the device, some transfers wait for the next throttling
slice."""
MEANS = _probes("mean")
"""Means, for a device without limits. On a virtual disk the mean was 4 to 12 % above the median."""


def _concurrent_probe(direction: str, block: int, processes: int, count: int) -> Probe:
    return Probe(
        f"direct {direction}s of {block // KIB} KiB by {processes} processes",
        calls(
            FILE // processes // block,
            block,
            [direction],
            DIRECT,
            **RANDOM,
            access='"file-per-process"',
            requests=str(count // processes),
        ),
        direction,
        "interval",
        resource="device",
        processes=processes,
    )


DEPTHS = (2, 4, 8, 16, 32)
CONCURRENT = {
    (direction, block, processes): _concurrent_probe(direction, block, processes, count)
    for direction in DIRECTIONS
    # Larger concurrent transfers separate serial work of the device from a queue depth; small ones
    # show the same knee for both.
    for block, processes, count in (*((SMALL, depth, 1024) for depth in DEPTHS), (MIDDLE, 16, 256))
}

DEPTH, BULK = "machine.device.queue_depth", "machine.device.hypervisor.bulk_service"
FASTEST = 63e9
"""Upper limit of a device's rate in bytes per second: sixteen lanes of PCI Express 5.0."""
SCATTER = 0.03
"""Relative error of a time that is treated as noise."""
STEPS = 400
"""Number of candidate service times per transfer, between 0 and the fixed latency."""


@dataclass(frozen=True)
class Sharing:
    """Limits on concurrent transfers besides the device's service time."""

    depth: float = math.inf
    """Largest number of concurrent transfers."""
    bulk: bool = False
    """True if the device completes all outstanding transfers together."""

    @classmethod
    def from_known(cls, known: Known) -> "Sharing":
        """Read the limits from known parameters."""
        return cls(known.get(DEPTH, math.inf), bool(known.get(BULK, False)))

    @property
    def fields(self) -> dict[str, float]:
        """The limits by field of the machine file."""
        depth = {} if math.isinf(self.depth) else {DEPTH: self.depth}
        return depth | ({BULK: True} if self.bulk else {})


@dataclass(frozen=True)
class SingleTransfer:
    """Times of a transfer on an idle device, in seconds."""

    on_processor: float
    cores: float
    fixed: float
    """Latency of the device that does not depend on the size."""
    per_second: float
    """Rate of the device, in bytes per second."""
    limit_rate: float = math.inf
    """Limit of a control group, in bytes per second."""
    limit_operations: float = math.inf
    """Limit of a control group, in transfers per second."""

    def interval(
        self, work: NDArray[np.float64], sharing: "Sharing", block: int, processes: int
    ) -> NDArray[np.float64]:
        """Return the interval between completions for several processes, in seconds.

        The bottleneck determines it (Denning and Buzen 1978: asymptotic bounds), with at most
        `sharing.depth` concurrent transfers. The limits of a control group are such a bound. A
        device that completes in bulk serves all outstanding transfers first. It then idles while
        processors and the rest of the latency take their time.

        Parameters
        ----------
        work
            Candidate service times per transfer, in seconds.
        sharing
            Limits on concurrent transfers.
        block
            Size of a transfer, in bytes.
        processes
            Number of processes.
        """
        moved = block / self.per_second
        device = self.fixed + moved
        on_processors = self.on_processor / min(self.cores, processes)
        limit = max(block / self.limit_rate, 1 / self.limit_operations)
        if sharing.bulk:
            together = work + moved + (self.on_processor + self.fixed - work) / processes
            return np.maximum(together, max(on_processors, limit))
        bounds = (
            device / min(sharing.depth, processes),
            on_processors,
            limit,
            (self.on_processor + device) / processes,
        )
        return np.maximum(work + moved, max(bounds))

    def errors(
        self, times: Times, direction: str, sharing: "Sharing"
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return candidate service times, and the sum of squared relative errors of each."""
        work = np.linspace(0.0, self.fixed, STEPS + 1)
        total = np.zeros_like(work)
        for (way, block, processes), probe in CONCURRENT.items():
            if way == direction:
                spans = self.interval(work, sharing, block, processes)
                total += np.log(spans / max(times[probe.name], 1e-9)) ** 2
        return work, total


def _single_transfer(times: Times, known: Known, direction: str) -> SingleTransfer | None:
    """Estimate the times of a single transfer; None if the times do not yield them."""
    processor = known["machine.cpu.system_call"] + known.get("machine.cpu.transfer", 0.0)
    probes = MEANS if direction in unlimited(known) else PROBES
    whole = [times[probes[direction, block].name] for block in BLOCKS]
    if FASTEST * (whole[-1] - whole[0]) < LARGE - SMALL:
        return None
    in_device = np.maximum(np.subtract(whole, processor), 0.0)
    # Relative sizes, so that both costs have the same order of magnitude.
    sizes = np.array(list(BLOCKS)) / LARGE
    fixed, largest = map(float, costs((np.ones(len(sizes)), sizes), in_device, whole))
    if FASTEST * largest < LARGE:
        return None
    rate, operations = (known.get(limit, math.inf) for limit in _limits(direction))
    cores = known.get("machine.cpu.cores", math.inf)
    return SingleTransfer(processor, cores, fixed, LARGE / largest, rate, operations)


def _limits(direction: str) -> tuple[str, str]:
    """Return the fields of a control group's limits: bytes and transfers per second."""
    return f"machine.device.{direction}_rate", f"machine.device.{direction}_operations"


def unlimited(known: Container[str]) -> Iterator[str]:
    """Yield the directions that no control group limits. In others, some transfers wait for
    the next throttling slice."""
    for direction in DIRECTIONS:
        if not any(limit in known for limit in _limits(direction)):
            yield direction


def _sharing(times: Times, known: Known) -> dict[str, float]:
    """Estimate the queue depth or the bulk completion, if either explains the times better.

    The Bayesian information criterion decides, with one more parameter (Schwarz 1978).
    """
    ways = {way: _single_transfer(times, known, way) for way in DIRECTIONS}
    transfers = {way: one for way, one in ways.items() if one is not None}
    if not transfers:
        return {}
    points = sum(way in transfers for way, _, _ in CONCURRENT)

    def scatter(sharing: Sharing) -> float:
        least = (one.errors(times, way, sharing)[1].min() for way, one in transfers.items())
        return float(sum(least)) + points * SCATTER**2

    best = min((*map(Sharing, range(1, max(DEPTHS))), Sharing(bulk=True)), key=scatter)
    gained = points * math.log(scatter(Sharing()) / scatter(best))
    return best.fields if gained > math.log(points) else {}


def _solve(times: Times, known: Known) -> dict[str, float]:
    """Estimate latency, rate and service time. A direction is left out if large transfers took
    hardly longer than small ones: something else delayed the small ones."""
    sharing = Sharing.from_known(known)
    values = {}
    for direction, latency, rate, alone in (
        ("read", "latency", "rate", "time_per_transfer"),
        ("write", "write_latency", "device_write_rate", "write_time_per_transfer"),
    ):
        one = _single_transfer(times, known, direction)
        if one is None:
            continue
        works, errors = one.errors(times, direction, sharing)
        # The smallest of equally good values: no work is assumed without evidence. Where a limit
        # determines all times, that is none.
        work = float(works[np.argmax(errors <= errors.min() * (1 + 1e-9))])
        values[f"machine.device.{alone}"] = work
        values[f"machine.device.{latency}"] = one.fixed - work
        values[f"machine.device.{rate}"] = one.per_second
    return values


def _curve(direction: str) -> dict[str, Probe]:
    return {
        f"{block // KIB} KiB, {processes} at once": probe
        for (way, block, processes), probe in CONCURRENT.items()
        if way == direction
    }


ESTIMATOR = Estimator(
    (*PROBES.values(), *MEANS.values(), *CONCURRENT.values()),
    _solve,
    "direct random transfers of 4 KiB to 1 MiB, by one process and by 2 to 32 processes",
    {"rate": "B/s", "device_write_rate": "B/s", "queue_depth": "", "bulk_service": ""},
    _sharing,
    {"machine.device.latency": _curve("read"), "machine.device.write_latency": _curve("write")},
    needed=("machine.device.rate", "machine.device.device_write_rate"),
)
