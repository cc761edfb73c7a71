"""What the device takes for a transfer, how many it carries out at once, and whether together."""

import math
from collections.abc import Container, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from headrace.calibrate.case import DIRECT, RANDOM
from headrace.calibrate.equations.copies import KIB, MIB
from headrace.calibrate.equations.equation import Equation, Known
from headrace.calibrate.equations.least_squares import costs
from headrace.calibrate.probe import Probe, Times, calls

DIRECTIONS = ("read", "write")
SMALL, MIDDLE, LARGE = 4 * KIB, 64 * KIB, MIB
FILE = 64 * MIB
BLOCKS = {SMALL: 512, 48 * KIB: 256, 384 * KIB: 96, LARGE: 48}
"""How many transfers of each size: the first after a pause takes 0.2 to 0.4 ms more on a virtual
disk, which should change no mean by more than 2 %. Those of a virtual disk lie on no straight line:
reads of 4, 64, 128, 256 and 512 KiB and a MiB took 72, 99, 116, 171, 296 and 437 us, and a line
through the ends alone is 14 % below what is between."""


def _probes(statistic: Literal["mean", "p50"]) -> dict[tuple[str, int], Probe]:
    # At random places: nothing is read ahead, or gathered, by whatever is below.
    return {
        (direction, block): Probe(
            f"direct {direction}s of {block // KIB} KiB"
            + (", mean" if statistic == "mean" else ""),
            calls(FILE // block, block, [direction], DIRECT, **RANDOM, requests=str(count)),
            direction,
            statistic,
            bound="device",
        )
        for direction in DIRECTIONS
        for block, count in BLOCKS.items()
    }


PROBES = _probes("p50")
"""The median: where a control group limits the device, some transfers wait for its next slice."""
MEANS = _probes("mean")
"""Where nothing limits it, a benchmark's time is that of all: on a virtual disk the mean was 4 to
12 % above the median."""


def _at_once(direction: str, block: int, processes: int, count: int) -> Probe:
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
        "apart",
        bound="device",
        processes=processes,
    )


DEPTHS = (2, 4, 8, 16, 32)
AT_ONCE = {
    (direction, block, processes): _at_once(direction, block, processes, count)
    for direction in DIRECTIONS
    # What larger ones take beside each other tells work that the device does for one after
    # the other from a number that it has under way: small ones alone show the same knee.
    for block, processes, count in (*((SMALL, depth, 1024) for depth in DEPTHS), (MIDDLE, 16, 256))
}

DEPTH, BULK = "machine.device.queue_depth", "machine.device.bulk_service"
FASTEST = 63e9
"""Bytes a second beyond which no device is: sixteen lanes of PCI Express 5.0."""
CLOSE = 0.03
"""Errors that tell nothing: what this much of a time is stands for the scatter of points that
were measured without any."""
STEPS = 400
"""Times alone that are tried, between 0 and the whole of a transfer."""


@dataclass(frozen=True)
class Sharing:
    """What transfers of several processes have in common, beside the device's work."""

    depth: float = math.inf
    """How many are under way at the most."""
    bulk: bool = False
    """Whether all that are there are told of together."""

    @classmethod
    def among(cls, known: Known) -> "Sharing":
        """As it is known."""
        return cls(known.get(DEPTH, math.inf), bool(known.get(BULK, False)))

    @property
    def fields(self) -> dict[str, float]:
        """As a machine's file has it."""
        depth = {} if math.isinf(self.depth) else {DEPTH: self.depth}
        return depth | ({BULK: True} if self.bulk else {})


@dataclass(frozen=True)
class SerialComm:
    """A transfer of one process while nobody else has any, in seconds."""

    on_processor: float
    cores: float
    fixed: float
    """In the device, whatever its size."""
    per_second: float
    """Bytes beside that."""

    def apart(
        self, work: NDArray[np.float64], sharing: "Sharing", block: int, processes: int
    ) -> NDArray[np.float64]:
        """How far transfers of so many processes are apart, if the device does so much work for
        each alone.

        By what is used up first (Denning and Buzen 1978: asymptotic bounds), where it has so many
        under way at the most. Where it tells of all that are there together, all of them wait for
        each other's work, and then nobody works while the processors and the rest of the
        latency take their time: what is left of that for each."""
        moved = block / self.per_second
        device = self.fixed + moved
        on_processors = self.on_processor / min(self.cores, processes)
        if sharing.bulk:
            together = work + moved + (self.on_processor + self.fixed - work) / processes
            return np.maximum(together, on_processors)
        bounds = (
            device / min(sharing.depth, processes),
            on_processors,
            (self.on_processor + device) / processes,
        )
        return np.maximum(work + moved, max(bounds))

    def errors(
        self, times: Times, direction: str, sharing: "Sharing"
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Works that each transfer may take alone, and the sum of the squares of the relative
        errors with each."""
        work = np.linspace(0.0, self.fixed, STEPS + 1)
        total = np.zeros_like(work)
        for (way, block, processes), probe in AT_ONCE.items():
            if way == direction:
                found = self.apart(work, sharing, block, processes)
                total += np.log(found / max(times[probe.name], 1e-9)) ** 2
        return work, total


def _alone(times: Times, known: Known, direction: str) -> SerialComm | None:
    """None if it cannot be told."""
    processor = known["machine.cpu.system_call"] + known.get("machine.cpu.transfer", 0.0)
    probes = MEANS if direction in unlimited(known) else PROBES
    whole = [times[probes[direction, block].name] for block in BLOCKS]
    if FASTEST * (whole[-1] - whole[0]) < LARGE - SMALL:
        return None
    in_device = np.maximum(np.subtract(whole, processor), 0.0)
    # As parts of the largest, so that both costs are of one order of magnitude.
    sizes = np.array(list(BLOCKS)) / LARGE
    fixed, largest = map(float, costs((np.ones(len(sizes)), sizes), in_device, whole))
    if FASTEST * largest < LARGE:
        return None
    return SerialComm(processor, known.get("machine.cpu.cores", math.inf), fixed, LARGE / largest)


def unlimited(known: Container[str]) -> Iterator[str]:
    """Directions without a limit of a control group, by the fields that are known: with one, that
    is what keeps transfers apart."""
    for direction in DIRECTIONS:
        limits = (f"machine.device.{direction}_{what}" for what in ("rate", "operations"))
        if not any(limit in known for limit in limits):
            yield direction


def _sharing(times: Times, known: Known) -> dict[str, float]:
    """Whether so many transfers are under way at once, or all that are there are told of
    together, if either tells more of the curves than the work alone does: Bayesian information
    criterion (Schwarz 1978), one parameter more."""
    ways = {way: _alone(times, known, way) for way in unlimited(known)}
    told = {way: one for way, one in ways.items() if one is not None}
    if not told:
        return {}
    points = sum(way in told for way, _, _ in AT_ONCE)

    def scatter(sharing: Sharing) -> float:
        least = (one.errors(times, way, sharing)[1].min() for way, one in told.items())
        return float(sum(least)) + points * CLOSE**2

    best = min((*map(Sharing, range(1, max(DEPTHS))), Sharing(bulk=True)), key=scatter)
    gained = points * math.log(scatter(Sharing()) / scatter(best))
    return best.fields if gained > math.log(points) else {}


def _solve(times: Times, known: Known) -> dict[str, float]:
    """A direction cannot be told if large transfers took no longer than small ones, or hardly:
    something else kept the small ones waiting."""
    free = list(unlimited(known))
    sharing = Sharing.among(known)
    found = {}
    for direction, latency, rate, alone in (
        ("read", "latency", "rate", "time_per_transfer"),
        ("write", "write_latency", "device_write_rate", "write_time_per_transfer"),
    ):
        one = _alone(times, known, direction)
        if one is None:
            continue
        work = 0.0
        if direction in free:
            works, errors = one.errors(times, direction, sharing)
            # Of those that fit as well, the least: what nothing shows is not assumed.
            work = float(works[np.argmax(errors <= errors.min() * (1 + 1e-9))])
            found[f"machine.device.{alone}"] = work
        found[f"machine.device.{latency}"] = one.fixed - work
        found[f"machine.device.{rate}"] = one.per_second
    return found


def _curve(direction: str) -> dict[str, Probe]:
    return {
        f"{block // KIB} KiB, {processes} at once": probe
        for (way, block, processes), probe in AT_ONCE.items()
        if way == direction
    }


EQUATION = Equation(
    (*PROBES.values(), *MEANS.values(), *AT_ONCE.values()),
    _solve,
    "direct transfers of 4 KiB to 1 MiB at random places, and by 2 to 32 processes at once",
    {"rate": "B/s", "device_write_rate": "B/s", "queue_depth": "", "bulk_service": ""},
    _sharing,
    {
        "machine.device.latency": _curve("read"),
        "machine.device.write_latency": _curve("write"),
    },
    needed=("machine.device.rate", "machine.device.device_write_rate"),
)
