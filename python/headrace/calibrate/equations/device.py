"""What the device takes for a transfer."""

from headrace.calibrate.case import DIRECT
from headrace.calibrate.equations.copies import KIB, MIB
from headrace.calibrate.equations.equation import Equation, Known
from headrace.calibrate.probe import Probe, Times, calls

SMALL, LARGE = 4 * KIB, MIB
FILE = 64 * MIB


def _probe(direction: str, block: int, count: int) -> Probe:
    # At random places: nothing is read ahead, or gathered, by whatever is below.
    return Probe(
        f"direct {direction}s of {block // KIB} KiB",
        calls(FILE // block, block, [direction], DIRECT, order='"uniform"', requests=str(count)),
        direction,
        "p50",
        bound="device",
    )


PROBES = {
    (direction, block): _probe(direction, block, count)
    for direction in ("read", "write")
    for block, count in ((SMALL, 256), (LARGE, 16))
}
PROCESSES = 8
AT_ONCE = {
    direction: Probe(
        f"direct {direction}s of {SMALL // KIB} KiB by {PROCESSES} processes",
        calls(
            FILE // PROCESSES // SMALL,
            SMALL,
            [direction],
            DIRECT,
            order='"uniform"',
            access='"file-per-process"',
            requests="256",
        ),
        direction,
        "apart",
        bound="device",
        processes=PROCESSES,
    )
    for direction in ("read", "write")
}


FASTEST = 63e9
"""Bytes a second beyond which no device is: sixteen lanes of PCI Express 5.0."""


def _solve(times: Times, known: Known) -> dict[str, float]:
    """A direction cannot be told if large transfers took no longer than small ones, or hardly:
    something else kept the small ones waiting."""
    call = known["machine.cpu.system_call"]
    found = {}
    for direction, latency, rate, alone in (
        ("read", "latency", "rate", "time_per_transfer"),
        ("write", "write_latency", "device_write_rate", "write_time_per_transfer"),
    ):
        small, large = (times[PROBES[direction, block].name] - call for block in (SMALL, LARGE))
        if FASTEST * (large - small) < (LARGE - SMALL):
            continue
        per_second = (LARGE - SMALL) / (large - small)
        fixed = max(small - SMALL / per_second, 0.0)
        limits = (f"machine.device.{direction}_{what}" for what in ("rate", "operations"))
        if not any(limit in known for limit in limits):
            # With a limit, that is what keeps them apart.
            apart = times[AT_ONCE[direction].name] - SMALL / per_second
            found[f"machine.device.{alone}"] = min(max(apart, 0.0), fixed)
        found[f"machine.device.{latency}"] = fixed - found.get(f"machine.device.{alone}", 0.0)
        found[f"machine.device.{rate}"] = per_second
    return found


EQUATION = Equation(
    (*PROBES.values(), *AT_ONCE.values()),
    _solve,
    "direct transfers of 4 KiB and 1 MiB at random places, and of 4 KiB by 8 processes",
    {"rate": "B/s", "device_write_rate": "B/s"},
    needed=("machine.device.rate", "machine.device.device_write_rate"),
)
