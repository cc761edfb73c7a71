"""What is measured beside a calibration, to see how well the model gives it.

No parameter follows from a check. The time that a simulation of it gives, against the one that
was measured, is the error of the model itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headrace import simulate
from headrace.calibrate.case import (
    COLD,
    DIRECT,
    KIB,
    MIB,
    NEW,
    RANDOM,
    SYNCHRONOUS,
    WARM,
    Case,
    Resource,
    scenario_for_machine,
    transfers,
)
from headrace.calibrate.hodges_lehmann import hodges_lehmann
from headrace.calibrate.limiting_resource import limiting_resource
from headrace.calibrate.parameter import seconds_text

CHECKS: tuple[Case, ...] = (
    Case("cached reads of 48 KiB", "cache", transfers(48 * MIB, 48 * KIB, ["read"], WARM, {})),
    Case(
        "cached random reads of 32 KiB",
        "cache",
        transfers(32 * MIB, 32 * KIB, ["read"], WARM, RANDOM | {"requests": "1000"}),
    ),
    Case("rewrites of 32 KiB", "cache", transfers(24 * MIB, 32 * KIB, ["write"], WARM, {})),
    Case("rewrites of 512 KiB", "cache", transfers(24 * MIB, 512 * KIB, ["write"], WARM, {})),
    Case("new writes of 8 KiB", "cache", transfers(16 * MIB, 8 * KIB, ["write"], NEW, {})),
    Case("new writes of 128 KiB", "cache", transfers(24 * MIB, 128 * KIB, ["write"], NEW, {})),
    Case(
        "direct random reads of 64 KiB",
        "device",
        transfers(64 * MIB, 64 * KIB, ["read"], DIRECT, RANDOM | {"requests": "400"}),
    ),
    Case(
        "direct random writes of 64 KiB",
        "device",
        transfers(64 * MIB, 64 * KIB, ["write"], DIRECT, RANDOM | {"requests": "400"}),
    ),
    Case(
        "direct reads of 512 KiB in order",
        "device",
        transfers(32 * MIB, 512 * KIB, ["read"], DIRECT, {}),
    ),
    Case("cold reads of 256 KiB", "device", transfers(48 * MIB, 256 * KIB, ["read"], COLD, {})),
    Case(
        "new writes of 512 KiB and a sync",
        "device",
        transfers(48 * MIB, 512 * KIB, ["write", "sync"], NEW, {}),
    ),
    Case(
        "new writes of 32 KiB, a sync behind each",
        "device",
        transfers(60 * 32 * KIB, 32 * KIB, ["write"], NEW, {"sync_per_write": "true"}),
    ),
    Case(
        "synchronous rewrites of 64 KiB",
        "device",
        transfers(
            16 * MIB,
            64 * KIB,
            ["write"],
            SYNCHRONOUS,
            # 16 MiB take a limit of 150 MB/s more than one of its slices of 100 ms (Linux 6.18,
            # block/blk-throttle.c); what ends within the first tells of its beginning only.
            RANDOM | {"requests": "256"},
        ),
    ),
)


@dataclass(frozen=True)
class Check:
    """A check's measured and simulated time in calls, in seconds."""

    name: str
    resource: Resource
    """By its simulation."""
    measured: float
    """The middle of the rounds."""
    predicted: float
    """With every parameter's value."""
    rounds: tuple[tuple[float, float], ...]
    """What it took in each, and what a simulation with that round's values gives."""

    def json(self) -> dict[str, Any]:
        """As documents have it."""
        return {
            "name": self.name,
            "bound": self.resource,
            "measured_s": self.measured,
            "predicted_s": self.predicted,
            "error": self.predicted / self.measured - 1,
            "rounds": [
                {"measured_s": measured, "predicted_s": predicted}
                for measured, predicted in self.rounds
            ],
        }

    def toml(self) -> str:
        """As a system's file has it: each round by itself, since a new measurement is one of a
        round too."""
        return "\n\n".join(
            f'[[check]]\nname = "{self.name}"\nbound = "{self.resource}"\n'
            f'measured = "{seconds_text(measured)}"\npredicted = "{seconds_text(predicted)}"'
            for measured, predicted in self.rounds
        )


def predict_check(
    machine: str, case: Case, times: Sequence[float], values: Sequence[Mapping[str, str]]
) -> Check:
    """A check of a machine's file, with the time that each round gave of it, and each round's
    values by path."""

    def simulated(sets: Mapping[str, str]) -> dict[str, Any]:
        return simulate.run(
            simulate.load(scenario_for_machine(machine, case.work), sets=sets)
        ).json()

    rounds = tuple(
        (time, case.seconds(simulated(sets))) for time, sets in zip(times, values, strict=True)
    )
    whole = simulated({})
    return Check(
        case.name, limiting_resource(whole), hodges_lehmann(times), case.seconds(whole), rounds
    )
