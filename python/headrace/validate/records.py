"""Records of the documents of twins and validations. Times are in seconds."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from headrace.calibrate.records import CalibrationRecord
from headrace.environment import Environment
from headrace.measure.report import ResultWarning


class SettingRecord(msgspec.Struct, frozen=True):
    """A setting that overrides the machine file."""

    field: str
    file: Any
    """Value in the file; None if it has none."""
    used: Any
    changed: bool
    source: str


class PointRecord(msgspec.Struct, frozen=True):
    """A measured time and its prediction."""

    name: str
    group: str
    measured_s: list[float]
    """Time of each repetition."""
    measured_middle_s: float
    """Hodges-Lehmann estimate of the repetitions."""
    predicted_s: float
    interval_s: tuple[float, float] | None
    """90 % prediction interval; None if it is unknown."""
    error: float
    """Relative error of the prediction."""
    among_repetitions: bool
    """True if the prediction lies within the range of the repetitions."""
    covered: float | None
    """Share of the repetitions within the interval."""


class GroupErrors(msgspec.Struct, frozen=True):
    """Relative errors of the predictions of a group."""

    points: int
    median_error: float
    worst_error: float
    bias: float
    """Mean error."""
    covered: float | None
    """Share of the repetitions within their intervals."""


class BreakdownRecord(msgspec.Struct, frozen=True):
    """Time in calls by component, measured and simulated."""

    name: str
    source: str
    """Source of the measured parts."""
    measured_s: dict[str, float]
    simulated_s: dict[str, float]
    difference_s: dict[str, float]
    among_repetitions: bool
    measured_transfers: int | float | None
    simulated_transfers: int | float | None


class DiscrepancyRecord(msgspec.Struct, frozen=True):
    """Differences between all simulations and their measurements, by component."""

    seconds: float
    shares: dict[str, float]
    others_s: float
    """Time of other programs."""
    paragraph: str


class PartRecord(msgspec.Struct, frozen=True):
    """A part of the predicted time of a program, over all its processes."""

    name: str
    """Operation, `computing`, or `start and end`."""
    calls: int | None
    predicted_s: float
    captured_s: float | None
    """Recorded in the captured run, without the tracer; None where nothing is simulated."""


class TracerRecord(msgspec.Struct, frozen=True):
    """Time that the tracer adds, each with half the width of the 90 % interval for another run."""

    gap_s: tuple[float, float]
    """Added to the gap between two calls."""
    duration_s: tuple[float, float]
    """Added to the recorded duration of a call."""
    process_s: tuple[float, float]
    """Added to the start and end of a process."""
    removed_s: float
    """Removed from the captured run, over all processes."""


class ApplicationRecord(msgspec.Struct, frozen=True):
    """A program that was predicted and measured."""

    command: list[str]
    prepare: str | None
    cold: bool
    captured_s: float
    """Time of the captured run, with the tracer."""
    simulated_calls: int
    measured_calls: int
    """Calls that are taken as measured: those on files outside the working directory."""
    measured_calls_s: float
    """Time of these calls."""
    tracer: TracerRecord
    parts: list[PartRecord]


class TwinScenario(msgspec.Struct, frozen=True):
    """Name of a twin's document."""

    name: str = "twin"
    description: str = "a calibrated machine and itself"


class TwinRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The document of a twin."""

    kind: str = "validation"
    scenario: TwinScenario = TwinScenario()
    version: str
    environment: Environment | UnsetType = UNSET
    machine: str
    """Text of the machine file."""
    settings: list[SettingRecord]
    points: list[PointRecord]
    summary: dict[str, GroupErrors]
    warnings: list[ResultWarning]
    breakdowns: list[BreakdownRecord]
    discrepancy: DiscrepancyRecord | None
    calibration: CalibrationRecord | UnsetType = UNSET
    """Missing for a twin that was predicted from a machine file."""
    application: ApplicationRecord | UnsetType = UNSET
    """Missing for a twin of benchmarks."""


class ValidatedScenario(msgspec.Struct, frozen=True):
    """The scenario of a validation, and the values that override it."""

    name: str
    sets: list[str]


class ValidationRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The document of a validation."""

    kind: str = "validation"
    scenario: ValidatedScenario
    version: str
    environment: Environment | UnsetType = UNSET
    points: list[PointRecord]
    summary: dict[str, GroupErrors]
    warnings: list[ResultWarning]
    breakdowns: list[BreakdownRecord]
    discrepancy: DiscrepancyRecord | None
