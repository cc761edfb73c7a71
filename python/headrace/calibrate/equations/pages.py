"""What a page costs that is written."""

import statistics

from headrace.calibrate.case import NEW, WARM
from headrace.calibrate.equations.copies import KIB, MIB, PAGE, copied
from headrace.calibrate.equations.equation import Equation, Known
from headrace.calibrate.probe import Probe, Times, calls

FILE = 32 * MIB
BLOCKS = (4 * KIB, 64 * KIB, MIB)


def _probes(what: str, io: str) -> dict[int, Probe]:
    return {
        block: Probe(
            f"{what} of {block // KIB} KiB", calls(FILE // block, block, ["write"], io), "write"
        )
        for block in BLOCKS
    }


REWRITES = _probes("rewrites", WARM)
WRITES = _probes("new writes", NEW)


def _solve(times: Times, known: Known) -> dict[str, float]:
    call = known["machine.cpu.system_call"]
    pages = [block / PAGE for block in BLOCKS]

    def besides(probes: dict[int, Probe]) -> list[float]:
        """What calls cost beyond entering the system and copying."""
        counted = zip(probes.values(), pages, strict=True)
        return [times[probe.name] - call - copied(count, known) for probe, count in counted]

    # The line through the smallest and the largest calls: so much a call, so much a page.
    rewrites = besides(REWRITES)
    write_page = max((rewrites[-1] - rewrites[0]) / (pages[-1] - pages[0]), 0.0)
    write_call = max(rewrites[0] - write_page * pages[0], 0.0)
    new = zip(besides(WRITES), pages, strict=True)
    new_page = statistics.median((time - write_call) / count for time, count in new)
    return {
        "machine.file_system.write_call": write_call,
        "machine.file_system.write_page": write_page,
        "machine.file_system.new_page": max(new_page, 0.0),
    }


EQUATION = Equation(
    (*REWRITES.values(), *WRITES.values()),
    _solve,
    "writes of 4 KiB to 1 MiB to a cached file and to a new one",
    {},
)
