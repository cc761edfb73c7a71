"""The document of a profile: phases, verdicts, evidence and advice."""

from typing import Any, Literal, TypeAlias, get_args

import msgspec

Verdict: TypeAlias = Literal[
    "cpu",
    "memory",
    "network",
    "disk-read",
    "disk-write",
    "rewrite",
    "metadata",
    "latency",
    "waiting",
]
"""Limit of a phase. `waiting` is a wait for something that is no storage, memory, network or
processor: a timer, a lock, input."""

VERDICTS: tuple[str, ...] = get_args(Verdict)


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of a phase that supports its verdict."""

    figure: str
    """Name, such as "disk sda write throughput"."""
    value: float
    unit: str
    """SI unit such as "B/s", "1/s", "s"; "" for a ratio."""
    baseline: float | None = None
    """The same figure of the baseline, if it has one."""
    rule: str
    """Identifier of the rule in `rules.toml`."""
    source: str
    """Source of the rule."""


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """A change and the gain that the simulator predicts from it."""

    change: str
    """Identifier of the change, such as "larger-requests"."""
    predicted_gain: float
    """Run time of the phase before the change divided by that after it, minus 1."""
    description: str
    """The change in words, with its values."""
    source: str
    kind: Literal["software", "hardware"]
    scenario: str | None = None
    """The scenario that was simulated with the change, as TOML. It names the trace beside its
    file."""
    scenario_file: str | None = None
    """File of the scenario, relative to the document."""


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Mean and largest value of a figure over the run."""

    mean: float
    peak: float


class Phase(msgspec.Struct, kw_only=True):
    """A part of the run in which the figures stay at one level."""

    from_s: float
    to_s: float
    verdict: Verdict | None
    """None if no rule holds."""
    evidence: list[Evidence] = []
    advice: list[Advice] = []
    """By predicted gain, the largest first."""
    notes: list[str] = []
    """Statements that limit the verdict, such as a missing baseline."""


class HostVerdict(msgspec.Struct, kw_only=True):
    """Verdict and phases of one host of a recording of several."""

    host: str
    verdict: Verdict | None
    phases: list[Phase]


class Profile(msgspec.Struct, kw_only=True):
    """The profile of one application run."""

    version: str
    name: str
    """Name of the application."""
    command: list[str]
    started: str
    """Start time in UTC, ISO 8601."""
    duration_s: float
    exit_status: int | None
    """Exit status of the program; None if it was watched and did not end, or is not our child."""
    interval_s: float
    hosts: list[str]
    verdict: Verdict | None
    """Verdict of the phases that took the longest together; None if no rule holds in them, and
    without a sample interval."""
    phases: list[Phase]
    host: str | None = None
    """Host whose verdict and phases these are; of several, the one that is limited longest."""
    host_verdicts: list[HostVerdict] = []
    """All hosts of a recording of several, in their order."""
    samples: str
    """Path of the samples, relative to the document."""
    trace: str | None = None
    """Path of the captured trace, relative to the document."""
    capture: dict[str, Any] | None = None
    """Method of the capture and what it left out."""
    characteristics: dict[str, Any] | None = None
    """Summary of the trace: sizes, sequentiality, shares, bursts, think times."""
    workload: dict[str, Any] | None = None
    """The fitted `[[workload]]` as TOML, and its goodness of fit."""
    baseline: dict[str, Any] | None = None
    """The baseline used: identifier in the store, figures, and what has changed since."""
    prediction: dict[str, Any] | None = None
    """Machine model of the prediction, and simulated against recorded run time."""
    usage: dict[str, dict[str, Usage]] = {}
    """By host, then by column of the samples."""
    environment: dict[str, Any] = {}
    """As in other results, and the worksheet's facts: processors, memory, arrays, interfaces."""
    notes: list[str] = []


FILE = "profile.json"
"""Name of the document in a profile directory."""


def to_json(profile: Profile) -> bytes:
    """Return the document as JSON."""
    return msgspec.json.format(msgspec.json.encode(profile), indent=2)


def from_json(text: bytes) -> Profile:
    """Return the profile in a document.

    Raises msgspec.ValidationError or msgspec.DecodeError if it is none.
    """
    return msgspec.json.decode(text, type=Profile)
