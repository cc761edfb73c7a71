"""Cases that exceed a machine's dirty limit or memory; their size depends on its settings."""

from collections.abc import Iterable

from headrace.calibrate.case import COLD, KIB, MIB, NEW, RANDOM, Case, transfers
from headrace.calibrate.parameter import Parameter

MOST = 768 * MIB
"""Upper limit of file sizes, which bounds the duration of a case."""


def oversized_cases(settings: Iterable[Parameter]) -> tuple[Case, ...]:
    """Return the cases for a machine's settings; none if its memory and limits are large."""
    known = {setting.field: setting.value for setting in settings}

    def size(field: str) -> int:
        return round(float(known.get(field, MOST)))

    cases = []
    limit = size("machine.write_back.bytes")
    if (written := _whole(3 * limit)) <= MOST:
        cases += [
            Case(
                f"new writes of {block // KIB} KiB beyond the dirty limit",
                "device",
                transfers(written, block, ["write"], NEW, {}),
            )
            for block in (16 * KIB, 256 * KIB)
        ]
    room = size("machine.memory.size") - size("machine.memory.used")
    if 0 < (read := _whole(2 * room)) <= MOST:
        cases += [
            Case(
                "reads of 64 KiB beyond memory, twice",
                "device",
                transfers(read, 64 * KIB, ["read", "read"], COLD, {}),
            ),
            Case(
                "random reads of 16 KiB beyond memory",
                "device",
                transfers(read, 16 * KIB, ["read"], COLD, RANDOM | {"requests": "1000"}),
            ),
        ]
    return tuple(cases)


def _whole(size: int) -> int:
    """Round up to whole MiB, so that calls end at the end of the file."""
    return -(-size // MIB) * MIB
