"""Checks: cases that are measured during a calibration to estimate the model error.

No parameter is estimated from a check. The difference between its simulated and its measured time
is the error of the model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from headrace.calibrate.case import (
    COLD,
    DIRECT,
    KIB,
    MIB,
    NEW,
    OWN_FILES,
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
from headrace.calibrate.records import CheckRecord, CheckRound
from headrace.calibrate.run_report import simulated
from headrace.quantities import measured_time

CHECKS: tuple[Case, ...] = (
    Case("cached reads of 48 KiB", "cache", transfers(48 * MIB, 48 * KIB, ["read"], WARM, {})),
    Case(
        "cached random reads of 32 KiB",
        "cache",
        transfers(32 * MIB, 32 * KIB, ["read"], WARM, RANDOM | {"requests": "1000"}),
    ),
    Case("rewrites of 32 KiB", "cache", transfers(24 * MIB, 32 * KIB, ["write"], WARM, {})),
    Case("rewrites of 512 KiB", "cache", transfers(24 * MIB, 512 * KIB, ["write"], WARM, {})),
    Case(
        "random rewrites of 64 KiB",
        "cache",
        transfers(32 * MIB, 64 * KIB, ["write"], WARM, RANDOM | {"requests": "1000"}),
    ),
    Case(
        "cached reads and rewrites of 32 KiB, 50:50",
        "cache",
        transfers(
            48 * MIB, 32 * KIB, ["mixed"], WARM, RANDOM | {"requests": "1000", "read_share": "0.5"}
        ),
    ),
    Case(
        "4 processes, cached reads of 128 KiB",
        "cache",
        transfers(48 * MIB, 128 * KIB, ["read"] * 4, WARM, OWN_FILES),
        processes=4,
    ),
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
        "4 processes, direct random reads of 16 KiB",
        "device",
        transfers(16 * MIB, 16 * KIB, ["read"], DIRECT, RANDOM | OWN_FILES | {"requests": "100"}),
        processes=4,
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
            # At 150 MB/s, 16 MiB take longer than a throttling slice of 100 ms (Linux 6.18,
            # block/blk-throttle.c). A case within one slice only shows its start.
            RANDOM | {"requests": "256"},
        ),
    ),
)

ADDED = (
    "random rewrites of 64 KiB",
    "cached reads and rewrites of 32 KiB, 50:50",
    "4 processes, cached reads of 128 KiB",
    "4 processes, direct random reads of 16 KiB",
)
"""Checks that measurements of earlier versions lack. Without them, intervals contained 79 % of the
measurements: the others have neither random writes nor several processes."""


@dataclass(frozen=True)
class Check:
    """Measured and simulated time in calls of a check, in seconds."""

    name: str
    resource: Resource
    """The limiting resource, from the simulation."""
    measured: float
    """Hodges-Lehmann estimate over the rounds."""
    predicted: float
    """Simulated with the estimate of every parameter."""
    rounds: tuple[tuple[float, float], ...]
    """Measured time of each round, and the simulated time with that round's parameters."""

    def record(self) -> CheckRecord:
        """Return the record of the check."""
        return CheckRecord(
            self.name,
            self.resource,
            self.measured,
            self.predicted,
            error=self.predicted / self.measured - 1,
            rounds=[CheckRound(measured, predicted) for measured, predicted in self.rounds],
        )

    def toml(self) -> str:
        """Return the `[[check]]` tables of a machine file, one per round. A new measurement is a
        sample of one round, so rounds are not pooled."""
        return "\n\n".join(
            f'[[check]]\nname = "{self.name}"\nbound = "{self.resource}"\n'
            f'measured = "{measured_time(measured)}"\npredicted = "{measured_time(predicted)}"'
            for measured, predicted in self.rounds
        )


def predict_check(
    machine: str, case: Case, times: Sequence[float], values: Sequence[Mapping[str, str]]
) -> Check:
    """Simulate a check and compare it with its measurements.

    Parameters
    ----------
    machine
        Path of the machine file.
    case
        The check.
    times
        Measured time of each round, in seconds.
    values
        Parameters of each round, by field.
    """

    text = scenario_for_machine(machine, case.work)
    rounds = tuple(
        (time, case.seconds(simulated(text, sets)))
        for time, sets in zip(times, values, strict=True)
    )
    whole = simulated(text)
    return Check(
        case.name, limiting_resource(whole), hodges_lehmann(times), case.seconds(whole), rounds
    )
