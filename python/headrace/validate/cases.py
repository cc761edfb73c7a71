"""What a machine is predicted for after its calibration: cases that the calibration has not.

Their block sizes, patterns and numbers of processes are others than those of the probes
(`headrace.calibrate`). To add a case, add it to the list.
"""

from dataclasses import dataclass
from typing import Literal

KIB, MIB = 1024, 1024 * 1024

Group = Literal["cache", "device"]
"""What bounds a case: processor and memory, or the device."""


@dataclass(frozen=True)
class Case:
    """A workload that is measured and predicted."""

    name: str
    group: Group
    workload: str
    """The `[[workload]]`, without its heading."""
    processes: int = 1

    @property
    def work(self) -> str:
        """Clients and workload, as a scenario has them."""
        return (
            f'name = "{self.name}"\n[clients]\ncount = 1\nprocesses = {self.processes}\n'
            f"[[workload]]\n{self.workload}\n"
        )


def _lines(size: int, block: int, phases: list[str], io: str, more: dict[str, str]) -> str:
    words = ", ".join(f'"{phase}"' for phase in phases)
    lines = [
        f'block = "{size} B"',
        f'transfer = "{block} B"',
        f"phases = [{words}]",
        f"io = {{ {io} }}",
    ]
    return "\n".join([*lines, *(f"{key} = {value}" for key, value in more.items())])


WARM = "existing = true, cached = true"
COLD = "existing = true, cached = false"
NEW = "existing = false"
RANDOM = {"order": '"uniform"'}


def _cached() -> list[Case]:
    cases = [
        Case(
            f"cached reads of {block // KIB} KiB",
            "cache",
            _lines(48 * MIB, block, ["read"], WARM, {}),
        )
        for block in (8 * KIB, 32 * KIB, 512 * KIB, 2 * MIB)
    ]
    cases += [
        Case(
            f"cached random reads of {block // KIB} KiB",
            "cache",
            _lines(64 * MIB, block, ["read"], WARM, RANDOM | {"requests": "2000"}),
        )
        for block in (8 * KIB, 128 * KIB)
    ]
    cases += [
        Case(
            f"rewrites of {block // KIB} KiB", "cache", _lines(24 * MIB, block, ["write"], WARM, {})
        )
        for block in (16 * KIB, 256 * KIB)
    ]
    cases += [
        Case(
            f"new writes of {block // KIB} KiB",
            "cache",
            _lines(24 * MIB, block, ["write"], NEW, {}),
        )
        for block in (16 * KIB, 256 * KIB)
    ]
    cases.append(
        Case(
            "two processes, cached reads of 64 KiB",
            "cache",
            _lines(32 * MIB, 64 * KIB, ["read"], WARM, {"access": '"file-per-process"'}),
            processes=2,
        )
    )
    return cases


def _on_device() -> list[Case]:
    direct = f"{COLD}, direct = true"
    cases = [
        Case(
            f"direct random {way}s of {block // KIB} KiB",
            "device",
            _lines(64 * MIB, block, [way], direct, RANDOM | {"requests": str(requests)}),
        )
        for way in ("read", "write")
        for block, requests in ((16 * KIB, 200), (256 * KIB, 50))
    ]
    cases += [
        Case(
            f"direct {way}s of 128 KiB in order",
            "device",
            _lines(32 * MIB, 128 * KIB, [way], direct, {}),
        )
        for way in ("read", "write")
    ]
    cases += [
        Case("cold reads of 64 KiB", "device", _lines(64 * MIB, 64 * KIB, ["read"], COLD, {})),
        Case(
            "cold random reads of 8 KiB",
            "device",
            _lines(64 * MIB, 8 * KIB, ["read"], COLD, RANDOM | {"requests": "300"}),
        ),
        Case(
            "new writes of 128 KiB and a sync",
            "device",
            _lines(64 * MIB, 128 * KIB, ["write", "sync"], NEW, {}),
        ),
        Case(
            "new writes of 8 KiB, a sync behind each",
            "device",
            _lines(100 * 8 * KIB, 8 * KIB, ["write"], NEW, {"sync_per_write": "true"}),
        ),
        Case(
            "synchronous rewrites of 16 KiB",
            "device",
            _lines(
                16 * MIB,
                16 * KIB,
                ["write"],
                f"{WARM}, synchronous = true",
                RANDOM | {"requests": "100"},
            ),
        ),
    ]
    return cases


CASES = (*_cached(), *_on_device())
