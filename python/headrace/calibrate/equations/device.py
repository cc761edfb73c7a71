"""What the device takes for a transfer."""

from headrace.calibrate.equations.copies import KIB, MIB
from headrace.calibrate.equations.equation import Equation, Known
from headrace.calibrate.probe import DIRECT, Probe, Times, calls

SMALL, LARGE = 4 * KIB, MIB
FILE = 64 * MIB


def _probe(direction: str, block: int, count: int) -> Probe:
    # At random places: nothing is read ahead, or gathered, by whatever is below.
    return Probe(
        f"direct {direction}s of {block // KIB} KiB",
        calls(
            FILE // block, block, f'["{direction}"]', DIRECT, order='"uniform"', requests=str(count)
        ),
        direction,
        "p50",
        bound="device",
    )


PROBES = {
    (direction, block): _probe(direction, block, count)
    for direction in ("read", "write")
    for block, count in ((SMALL, 256), (LARGE, 16))
}


def _solve(times: Times, known: Known) -> dict[str, float]:
    call = known["machine.cpu.system_call"]
    found = {}
    for direction, latency, rate in (
        ("read", "latency", "rate"),
        ("write", "write_latency", "device_write_rate"),
    ):
        small, large = (times[PROBES[direction, block].name] - call for block in (SMALL, LARGE))
        per_second = (LARGE - SMALL) / max(large - small, 1e-9)
        found[f"machine.device.{latency}"] = max(small - SMALL / per_second, 0.0)
        found[f"machine.device.{rate}"] = per_second
    return found


EQUATION = Equation(
    tuple(PROBES.values()),
    _solve,
    "direct transfers of 4 KiB and 1 MiB at random places",
    {"rate": "B/s", "device_write_rate": "B/s"},
)
