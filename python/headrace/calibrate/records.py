"""Records of a calibration's document. Times are in seconds."""

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from headrace import environment
from headrace.environment import Environment
from headrace.fields import Seconds, check_usable
from headrace.measure.report import ResultWarning

Unit: TypeAlias = Literal["s", "B", "B/s", "", "word"]
"""Seconds, bytes, bytes per second, a number, or a keyword."""

Value: TypeAlias = float | int | str | bool


class ParameterRecord(msgspec.Struct, frozen=True):
    """A parameter: its value as text, and its source."""

    field: str
    """Path of the scenario's field."""
    value: str
    method: str
    """Source of the value."""
    unit: Unit
    values: list[Value] = []
    """One value per round in SI units; none for a setting."""
    least: str | UnsetType = UNSET
    most: str | UnsetType = UNSET
    curve: list[str] | UnsetType = UNSET
    """Measured points, if the value follows from a curve."""


class CheckRound(msgspec.Struct, frozen=True):
    """Measured and simulated time of a check in one round."""

    measured_s: float
    predicted_s: float


class CheckRecord(msgspec.Struct, frozen=True):
    """Measured and simulated time in calls of a check."""

    name: str
    bound: str
    """The limiting resource."""
    measured_s: float
    predicted_s: float
    error: float
    """Relative error of the simulation."""
    rounds: list[CheckRound]


class ProbeRecord(msgspec.Struct, frozen=True):
    """Measured time of a probe in each round."""

    name: str
    rounds_s: list[Seconds]

    def __post_init__(self) -> None:
        check_usable("rounds_s", *self.rounds_s)


class CalibrationRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The document of a calibration."""

    kind: str = "calibration"
    directory: str
    file_system: str
    host: str
    version: str
    date: str
    """Start, in ISO 8601."""
    parameters: list[ParameterRecord]
    checks: list[CheckRecord]
    warnings: list[ResultWarning]
    machine: str
    """Text of the machine file."""
    environment: Environment | UnsetType = UNSET
    """As `headrace.environment` has it; missing in files of earlier versions."""


class MeasuredCalibration(CalibrationRecord, frozen=True, kw_only=True):
    """The document of a calibration with all measured times. They determine every parameter."""

    settings: list[str]
    """Fields of the parameters that were read from the kernel."""
    memory_given_back: bool
    """True on a virtual machine that reports free pages to its host."""
    probes: list[ProbeRecord]
    others: list[float] = []
    """Share of the processors that other programs used in each round; empty if it is unknown."""


class SavedRound(msgspec.Struct, frozen=True):
    """Measured time of a saved check in one round."""

    measured_s: Seconds

    def __post_init__(self) -> None:
        check_usable("measured_s", self.measured_s)


class SavedCheck(msgspec.Struct, frozen=True):
    """A saved check."""

    name: str
    rounds: list[SavedRound]


class SavedCalibration(msgspec.Struct, frozen=True, kw_only=True):
    """Fields of a saved calibration from which its parameters are estimated again. Files of earlier
    versions may lack others."""

    directory: str
    file_system: str
    host: str
    date: str
    settings: list[str]
    memory_given_back: bool
    probes: list[ProbeRecord]
    parameters: list[ParameterRecord]
    checks: list[SavedCheck]
    warnings: list[ResultWarning]
    environment: Environment | None = None
    others: list[float] = []

    def __post_init__(self) -> None:
        environment.check("environment", self.environment)
