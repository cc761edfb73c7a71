"""The document of a profile: phases, verdicts, evidence and advice."""

from typing import Any, Literal, TypeAlias, get_args

import msgspec
from msgspec import UNSET, UnsetType

from headrace.fields import decode_json

Verdict: TypeAlias = Literal[
    "cpu",
    "cpu-quota",
    "process-creation",
    "memory",
    "network",
    "disk-read",
    "disk-write",
    "rewrite",
    "metadata",
    "latency",
    "waiting",
    "unsure",
]
"""Limit of a phase. `waiting` is a wait for something that is no storage, memory, network or
processor: a timer, a lock, input. `unsure` is the verdict where the figures support none."""

VERDICTS: tuple[str, ...] = get_args(Verdict)

Level: TypeAlias = Literal["program", "mount", "device", "machine"]
"""Object of a change: the program, the file system or place of its files, the devices below, or the
rest of the machine."""
LEVELS: tuple[str, ...] = get_args(Level)


BALANCE_PARTS = (
    *("user", "system", "core", "read", "write", "sync", "metadata", "process", "network"),
    *("sleep", "tracer", "unknown"),
)
"""Parts of a time balance: computing, system time, waiting for a core, for reads, writes, syncs,
operations on names, new processes and messages, sleep for anything else, stops by a tracer, and
the part that is not known."""


class TimeBalance(msgspec.Struct, frozen=True, kw_only=True):
    """Where the time of a phase goes."""

    seconds: dict[str, float]
    """Seconds by part, in the order of `BALANCE_PARTS`. They add up to the phase."""
    sleeps: dict[str, float] = {}
    """Seconds of the part `sleep` by kind: `lock`, `timer`, `child`, `pipe` and others."""
    looks: int = 0
    """Number of looks at the program's threads that divide the waits."""


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
    level: Level | None = None
    """Object of the change; None in documents of earlier versions."""
    scenario: str | None = None
    """The scenario that was simulated with the change, as TOML. It names the trace beside its
    file."""
    scenario_file: str | None = None
    """File of the scenario, relative to the document."""
    error: float | None = None
    """Error of the model: simulated by recorded time of the phase without the change, minus 1."""


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
    balance: TimeBalance | None = None
    """None for a whole host, and in profiles of earlier versions."""
    confidence: float | None = None
    """0 to 1: it falls with the unknown part of the time, with the tracer's, and with the load of
    other programs. None where no program is watched, and in profiles of earlier versions."""


class PhasePrediction(msgspec.Struct, kw_only=True):
    """Simulated run time of a phase beside the recorded one. Times are in seconds."""

    from_s: float
    to_s: float
    simulated_operations: int | UnsetType = UNSET
    """Operations that were simulated, the first ones, if there were too many."""
    operations: int | UnsetType = UNSET
    """All operations of the phase, if not all were simulated."""
    recorded_s: float
    """Time of the simulated operations."""
    without_tracer_s: float
    """The same without the time that the tracer adds; of an uncertain one, the value next to
    `simulated_s`."""
    simulated_s: float | None
    """None if the phase could not be simulated."""
    error: float | None = None
    """Simulated time by that without the tracer, minus 1. Beyond 20 % no change is advised."""
    bottleneck: str | None = None
    gaps: str | None = None
    """What the processes do between operations: `compute` or `wait`."""
    cached: bool | None = None
    """Whether files are taken to be in the page cache."""


class Prediction(msgspec.Struct, kw_only=True):
    """Simulated against recorded run time. Times are in seconds."""

    machine: str
    """Origin of the machine model: `baseline` or `machine file`."""
    tracer_s_per_call: float | None
    """Time that the tracer adds to each call; None if it is unknown."""
    phases: list[PhasePrediction]
    recorded_s: float
    """Recorded time of the phases, without that of the tracer."""
    simulated_s: float | None
    """None if a phase could not be simulated."""
    error: float | None
    """Simulated time divided by the recorded one, minus 1."""


class Activity(msgspec.Struct, frozen=True, kw_only=True):
    """Use of time by process over the run, in columns of equal width."""

    kind: Literal["calls", "processor"]
    """Time in traced calls, or on processors: that of which the program has more."""
    column_s: float
    """Width of a column in seconds. The first one begins with the run."""
    processes: list[str]
    """Names of rows, by their first activity. Of a trace, they are threads."""
    shares: list[list[float]]
    """Share of each column's time, by row. Of several threads it may exceed 1."""
    merged: int = 0
    """Number of less active processes, whose sum is a further row."""
    calls_s: float | None = None
    """Time of all processes in calls; None without a trace."""
    processor_s: float
    """Sampled processor time of all processes."""


class HostVerdict(msgspec.Struct, kw_only=True):
    """Verdict and phases of one host of a recording of several."""

    host: str
    verdict: Verdict | None
    phases: list[Phase]


class CaptureText(msgspec.Struct):
    """Method of a capture."""

    method: str
    left_out: list[str]
    """Operations that the capture does not record, as text."""
    counts: dict[str, int] | UnsetType = UNSET
    """Numbers that the method counts; absent without a trace."""


class Profile(msgspec.Struct, kw_only=True):
    """The profile of one application run."""

    kind: str = "profile"
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
    capture: CaptureText | None = None
    characteristics: dict[str, Any] | None = None
    """Summary of the trace: sizes, sequentiality, shares, bursts, think times."""
    workload: dict[str, Any] | None = None
    """The fitted `[[workload]]` as TOML, and its goodness of fit."""
    baseline: dict[str, Any] | None = None
    """The baseline used: identifier in the store, figures, and what has changed since."""
    prediction: dict[str, Any] | None = None
    """A `Prediction`; those of earlier versions have other fields."""
    activity: Activity | None = None
    """None with fewer than two processes, and in profiles of earlier versions."""
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

    Raises ValueError if it is none.
    """
    return decode_json(text, Profile)
