"""Answers about the reliability of a system: the Python view of `crates/survival`'s answer."""

from typing import Literal

import msgspec

MethodUsed = Literal["closed-form", "markov", "monte-carlo", "splitting"]


class Estimate(msgspec.Struct, frozen=True):
    """An estimate with its standard error."""

    value: float
    standard_error: float


class Seen(msgspec.Struct, frozen=True):
    """Missions in which an event was seen; replicates of splitting."""

    losses: int
    missions: int


class HorizonAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Estimates for one horizon."""

    horizon_seconds: float
    loss_probability: float
    """Probability that any data of the system is lost by then."""
    standard_error: float
    """Of the loss probability; 0 without simulation."""
    low: float
    high: float
    """Ends of the 95 % interval."""
    read_error_loss_probability: float | None
    """Part of the loss probability whose first loss is due to a read error in a rebuild. None: too
    few missions had one; the upper end of the interval holds."""
    read_error_low: float
    read_error_high: float
    """Ends of its 95 % interval."""
    nomdl: float | None
    """Normalised magnitude of data loss: expected bytes lost by then per usable byte. None: too few
    missions had a loss that decides it; the upper end of the interval holds."""
    nomdl_standard_error: float
    nomdl_low: float
    nomdl_high: float
    """Ends of its 95 % interval."""
    failure_losses_seen: Seen | None
    """Missions with a loss by too many failures; None without simulation."""
    read_error_losses_seen: Seen | None
    """Missions with a loss by a read error; None without simulation or read errors."""
    expected_losses: Estimate | None = None


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Events of all simulated missions; with biasing far more frequent than in reality."""

    failures: int
    failures_while_degraded: int
    failure_losses: int
    read_error_losses: int
    waits_for_spare: int
    planned_replacements: int
    domain_failures: int


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """Answer to a question."""

    horizons: tuple[HorizonAnswer, ...]
    """In the order of the question's horizons."""
    mttdl_seconds: float | None
    """Mean time to the first data loss; None: no loss was simulated."""
    mttdl_low_seconds: float | None
    mttdl_high_seconds: float | None
    """Ends of its 95 % interval; None: no loss was simulated, or every mission may have one."""
    method: MethodUsed
    usable_bytes: float
    read_error_probability: float | None
    """Probability that the rebuild of a group without redundancy left meets a read error."""
    missions: int
    simulated_disk_years: float
    unavailability: Estimate | None = None
    counts: Counts | None = None
    assumptions: tuple[str, ...]
    """What the model assumes and what it leaves out."""
