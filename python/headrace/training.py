"""Figures of a training (`kind = "training"`), simulated or measured."""

from collections.abc import Iterable

import msgspec


class Durations(msgspec.Struct, frozen=True):
    """Durations of steps or checkpoints, in seconds."""

    count: float
    mean: float
    p50: float
    p99: float
    max: float


class AcceleratorTime(msgspec.Struct, frozen=True):
    """Shares of the accelerators' time."""

    computing: float
    data: float
    """They wait for a batch."""
    others: float
    """They wait for other accelerators."""
    checkpoint: float


class LoaderTime(msgspec.Struct, frozen=True):
    """Shares of the loaders' time."""

    reading: float
    """They open, read and close files."""
    decoding: float
    """They use the processor for samples."""
    idle: float
    """They are as far ahead as they may be, or have ended."""


class Training(msgspec.Struct, frozen=True):
    """Figures of one workload, from its start; a warm-up of the run is not left out."""

    workload: float
    """Its number in the scenario."""
    accelerators: float
    steps: float
    """Steps that each accelerator has made."""
    accelerator_time: AcceleratorTime
    loader_time: LoaderTime
    utilisation: float | None = None
    """Share of the time in which accelerators computed (AU), as DLIO counts it: the first steps and
    checkpoints are left out. None if no step counts."""
    samples_per_second: float | None = None
    """Samples a second that all accelerators together took, checkpoints left out."""
    bytes_per_second: float | None = None
    """The same in bytes, with samples of the mean size."""
    step: Durations | None = None
    """From one meeting of all accelerators to the next."""
    checkpoint: Durations | None = None
    """To the last accelerator; None without a checkpoint."""


class TrainingWidths(msgspec.Struct, frozen=True):
    """Half-widths of a training's figures."""

    utilisation: float | None = None
    samples_per_second: float | None = None


OF_INTEREST = TrainingWidths.__struct_fields__
"""Figures that get an interval."""


def of_interest(trainings: Iterable[Training]) -> dict[str, dict[str, float | None]]:
    """Return the figures that get an interval, by the number of the workload."""
    return {
        f"{one.workload:g}": {name: getattr(one, name) for name in OF_INTEREST} for one in trainings
    }
