"""Records of a simulation's document (docs/reference/results.md).

Times are in seconds, amounts in bytes, rates a second. With replications most figures are means, so
that counts may have decimals. The document that is printed and saved stays as the simulation made
it; these types read it.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from headrace.fields import convert


class ScenarioText(msgspec.Struct):
    """The scenario of a run."""

    name: str
    toml: str
    description: str = ""


class Precision(msgspec.Struct):
    """Precision of the mean latency at the end of a run."""

    wanted: float
    """Half the width of the confidence interval over the mean, as `run.stop.precision` has it."""
    got: float | None
    """The same as reached; None with too few requests."""
    confidence: float
    """Probability that the interval holds."""
    reached: bool
    drifts: str | None = None
    """Quantity that still drifted at the end, so that the interval is meaningless."""


class Stop(msgspec.Struct):
    """End of a run."""

    reason: str | None
    """None if replications ended for different reasons."""
    precision: Precision | None = None


class Rates(msgspec.Struct):
    """How often an operation was done."""

    count: float
    bytes: float
    active_seconds: float
    per_second: float | None = None
    """Operations a second of the active time; None if they took no time."""
    failed: float = 0.0
    into: str | None = None
    """Memory that took the bytes of writes before they returned."""


class SyncedWrites(msgspec.Struct):
    """Writes and syncs together."""

    throughput: float
    """Bytes a second of the time in which either was active."""
    bytes: float | None = None


class Unwritten(msgspec.Struct):
    """Data at the end of a run that only caches hold."""

    client_bytes: float
    """Bytes that clients, or the machines of a local file system, hold or are sending."""
    server_bytes: float


class Latency(msgspec.Struct):
    """Time that requests took; None where none was done."""

    count: float
    mean: float | None = None
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None


class Unfinished(msgspec.Struct):
    """Requests that were due before the end and were not done."""

    count: float
    in_flight: float | None = None
    """Those that had been issued."""
    mean: float | None = None
    """From the intended start to the end of the run."""
    max: float | None = None


class Share(msgspec.Struct):
    """A group's share of throughput, over windows in which all groups had requests in progress."""

    mean: float | None
    sd: float | None = None


class GroupReport(msgspec.Struct):
    """Figures of a group of clients."""

    throughput: dict[str, float | None]
    """Bytes a second of the active time, by operation; None if it took no time."""
    operations: dict[str, Rates]
    latency: dict[str, Latency]
    """By operation, and over `all`."""
    share: Share | None = None


class Station(msgspec.Struct):
    """A station, its copies merged."""

    station: str
    discipline: str
    copies: float
    servers: float | None
    """Servers of one copy; None if unbounded."""
    utilisation: float
    """Busy share of the time, mean over the copies."""
    most_utilisation: float
    """The same of the busiest copy."""
    queue: float
    """Mean number waiting in one copy."""
    service: float | None
    """Mean service time of completed visits, in seconds; None without any."""
    residence: float | None
    """Mean stay of completed visits, in seconds; None without any."""
    visits: float
    """Completed visits."""
    unfinished: float = 0
    """Visits that were not over at the end."""
    busiest: str | None = None
    lost: float | None = None
    """Packets that found its queue full."""


class Server(msgspec.Struct):
    """A data server."""

    server: float
    utilisation: float
    """Busy share of the time of its busiest station."""
    queue: float
    """Mean number of jobs that wait at its stations."""
    in_progress: float
    """Mean number of jobs on it, waiting or served."""
    requests: float
    """Jobs that it answered."""
    read_bytes: float
    written_bytes: float
    throughput: float
    """Bytes read and written a second."""
    latency: float | None = None
    """Mean time from a job's arrival to its answer, the card left out; None without jobs."""
    group: str | None = None
    """Its group, if it is unlike the others."""
    busiest: str | None = None
    """Its busiest station."""


class StationCopy(msgspec.Struct):
    """One copy of a station of a data server."""

    station: str
    server: float
    copy: float
    """Number among the copies on that server."""
    utilisation: float
    queue: float
    service: float | None
    residence: float | None
    visits: float
    unfinished: float = 0


class Cache(msgspec.Struct):
    """A cache, its copies merged."""

    cache: str
    copies: float
    hits: float
    """Pages or entries that were asked for and cached since an earlier use."""
    misses: float
    hit_bytes: float
    miss_bytes: float
    evictions: float
    """Pages or entries that left for others."""
    evicted_bytes: float
    evicted_dirty_bytes: float
    """Of `evicted_bytes`, those that had to be written first."""
    read_ahead: float = 0.0
    """Pages or requests that read-ahead had brought in, and nothing had used since."""
    read_ahead_bytes: float = 0.0
    hit_ratio: float | None = None
    """Hits over hits, read-ahead and misses; None if there were none."""
    dirty_bytes: float | None = None
    """Dirty bytes at the end; None if the cache holds no data to be written."""


class BreakdownEntry(msgspec.Struct):
    """Time that requests spend in a place."""

    place: str
    share: float
    """Share of the time that requests were in progress."""
    seconds: float
    """Contribution to the mean latency."""
    waiting: float
    """The part of `seconds` spent waiting."""


class Packets(msgspec.Struct):
    """Packet counts of a network that is modelled by packets."""

    sent: float
    lost: float
    sent_again: float
    timeouts: float
    corrupted: float = 0
    """Packets that a link corrupted."""
    without_credits: float | None = None
    """Seconds for which links had packets and no credits, all links together."""


class Repair(msgspec.Struct):
    """Repair of the copies that a failed server had."""

    copied_bytes: float
    whole_s: float | None


class Outage(msgspec.Struct):
    """A failure of a server. Times are from the start of the run."""

    at_s: float
    until_s: float | None
    noticed_s: float | None
    """When the first client declared the server failed."""
    forgotten_bytes: float
    server: int | None = None
    metadata: int | None = None
    """Number of a metadata server; None for a data server."""
    repair: Repair | None = None


class Bottleneck(msgspec.Struct):
    """The resource that limits the system."""

    sentence: str
    station: str | None = None


class Replication(msgspec.Struct):
    """One replication."""

    seed: int
    simulated_seconds: float


class Warned(msgspec.Struct):
    """A warning beside a result."""

    message: str
    condition: str = ""
    """Subject, as a keyword; empty in files of earlier versions."""


class MeanShare(msgspec.Struct):
    """Half-width of a group's mean share."""

    mean: float | None = None


class LatencyWidths(msgspec.Struct):
    """Half-widths of latencies."""

    mean: float | None = None
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None


class RateWidth(msgspec.Struct):
    """Half-width of an operation's rate."""

    per_second: float | None = None


class HalfWidths(msgspec.Struct):
    """Half-widths of the 95 % confidence intervals of replicated figures."""

    throughput: dict[str, float | None] = {}
    operations: dict[str, RateWidth] = {}
    latency: dict[str, LatencyWidths] = {}
    share: MeanShare | None = None
    groups: "dict[str, HalfWidths]" = {}


class Replay(msgspec.Struct):
    """Reads and writes of a replayed trace by the open flags that the replay keeps."""

    workload: int
    """Number of the workload."""
    requests: int
    direct: int
    """Reads and writes that bypass the page cache (O_DIRECT)."""
    writes: int
    synchronous: int
    """Writes that return when the device has them (O_SYNC, O_DSYNC)."""


class LeftOut(msgspec.Struct, frozen=True):
    """Operations that were left out."""

    by: str
    """Component that left them out."""
    what: str
    reason: str
    count: float


class Report(msgspec.Struct):
    """Figures of a simulation."""

    scenario: ScenarioText
    seed: int
    simulated_seconds: float
    throughput: dict[str, float | None]
    operations: dict[str, Rates]
    latency: dict[str, Latency]
    groups: dict[str, GroupReport]
    stations: list[Station]
    breakdown: list[BreakdownEntry]
    """Most time first."""
    bottleneck: Bottleneck
    caches: list[Cache] = []
    wall_seconds: float | None = None
    events: float | None = None
    """Firings and events."""
    stop: Stop | None = None
    """None in files of earlier versions."""
    version: str | None = None
    synced_writes: SyncedWrites | None = None
    replays: list[Replay] = []
    """Reads and writes of replayed traces by their open flags."""
    unwritten: Unwritten | None = None
    latency_from_intended: dict[str, Latency] = {}
    unfinished: Unfinished | None = None
    servers: list[Server] = []
    """Data servers; none of local file systems, and where there are too many."""
    copies: list[StationCopy] = []
    packets: Packets | None = None
    failures: list[Outage] = []
    replications: list[Replication] = []
    intervals: HalfWidths | None = None
    warnings: list[Warned] = []
    left_out: list[LeftOut] = []


def report_of(document: Mapping[str, Any]) -> Report:
    """Read the figures of a simulation's document.

    Raises WrongField, a ValueError, if a field is missing or malformed.
    """
    return convert(document, Report)
