"""Records of a simulation's document (docs/reference/results.md).

Times are in seconds, amounts in bytes, rates a second. With replications most figures are means, so
that counts may have decimals. The document that is printed and saved stays as the simulation made
it; these types read it.
"""

import msgspec

from headrace.io500 import Io500, Phase
from headrace.training import Training, TrainingWidths


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
    """The same as reached; None with fewer than 512 requests."""
    confidence: float
    """Probability that the interval holds."""
    reached: bool
    """True if `got` is at most `wanted` and nothing drifts."""
    drifts: str | None = None
    """Path of the figure or level that still drifted at the end, so that no interval holds."""


class Stop(msgspec.Struct):
    """End of a run."""

    reason: str | None
    """`workload`: every request was done; `time`, `requests` or `precision`: that condition of
    `run.stop` held; None if replications ended for different reasons."""
    precision: Precision | None = None


class Rates(msgspec.Struct):
    """How often an operation was done, and the bytes that it moved."""

    count: float
    bytes: float
    active_seconds: float
    """Duration of its phases within the measured time; overlapping phases count once."""
    per_second: float | None = None
    """Operations a second of the active time; None if they took no time."""
    failed: float = 0.0
    """Requests that failed; they are in no other figure."""
    into: str | None = None
    """`client caches` where writes return when those have the data; absent if all bypass them."""


class SyncedWrites(msgspec.Struct):
    """Writes and syncs together, as IOR's `-e` and fio's `end_fsync` count. Closes that send data
    to the servers (NFS, CIFS) count as syncs."""

    throughput: float
    """Bytes a second of the time in which either was active."""
    bytes: float | None = None
    active_seconds: float | None = None


class Unwritten(msgspec.Struct):
    """Data at the end of a run that only caches hold."""

    client_bytes: float
    """Bytes that clients, or the machines of a local file system, hold or are sending."""
    server_bytes: float


class Latency(msgspec.Struct):
    """Time that requests took, in seconds; None without any. Percentiles are within 0.1 %."""

    count: float
    mean: float | None = None
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    max: float | None = None


class Unfinished(msgspec.Struct):
    """Requests with an intended start before the end of the run that were not done by then."""

    count: float
    in_flight: float | None = None
    """Those that had been issued."""
    mean: float | None = None
    """From the intended start to the end of the run: a lower bound of the latency, in seconds."""
    max: float | None = None
    operations: dict[str, float] = {}


class Share(msgspec.Struct):
    """A group's share of the bytes moved, mean and standard deviation over windows. A window counts
    if bytes were moved and every group had a request in progress throughout."""

    mean: float | None
    sd: float | None = None
    window_s: float | None = None
    """Length of a window: `run.window`, or one that gives 100 to 200 windows in the run."""
    from_s: float | None = None
    to_s: float | None = None
    windows: float | None = None


class GroupReport(msgspec.Struct):
    """Figures of a group of clients, of its requests alone."""

    throughput: dict[str, float | None]
    """Bytes a second of the active time, by operation; None if it took no time."""
    operations: dict[str, Rates]
    latency: dict[str, Latency]
    """By operation, and over `all`."""
    share: Share | None = None
    clients: float | None = None


class Station(msgspec.Struct):
    """A station, its copies merged: those of a folded page."""

    station: str
    """Page path and name, such as `system/server/device`."""
    discipline: str
    copies: float
    servers: float | None
    """Servers of one copy; None if unbounded, as for a scheduler."""
    utilisation: float
    """Busy share of all servers' time, mean over the copies."""
    most_utilisation: float
    """The same of the busiest copy."""
    queue: float
    """Mean number waiting in one copy, without those in service."""
    service: float | None
    """Mean service time of completed visits, in seconds; None without any."""
    residence: float | None
    """Mean stay of completed visits, in seconds; None without any."""
    visits: float
    """Completed visits."""
    unfinished: float = 0
    """Visits that were not over at the end: waiting, in service, or blocked behind it."""
    busiest: str | None = None
    """Name of the busiest copy; only of links of a network that is modelled as a whole."""
    lost: float | None = None
    """Packets that found its queue full; only of links, with `network.grain = "packet"`."""


class Server(msgspec.Struct):
    """A data server, by its number from 0. A network that is modelled as a whole has its card."""

    server: float
    utilisation: float
    """Busy share of the time of its busiest station."""
    queue: float
    """Mean number of jobs that wait at its stations."""
    in_progress: float
    """Mean number of jobs on it, waiting or served, without those at its card."""
    requests: float
    """Jobs that it answered: a request makes one or more for each server."""
    read_bytes: float
    written_bytes: float
    throughput: float
    """Bytes read and written a second."""
    latency: float | None = None
    """Mean time of a job to its answer, in seconds, without that at the card; None without jobs."""
    group: str | None = None
    """Its group, if it differs from the others."""
    busiest: str | None = None
    """Its busiest station."""


class StationCopy(msgspec.Struct):
    """One copy of a station of a data server, with the figures of `stations`."""

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
    """Pages, entries or requests that were asked for and cached since an earlier use."""
    misses: float
    hit_bytes: float
    """Whole pages; 0 if the cache holds no data."""
    miss_bytes: float
    evictions: float
    """Pages, stripes or entries that left for others."""
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
    """Page path and name."""
    share: float
    """Share of the time that requests were in progress."""
    seconds: float
    """Contribution to the mean latency."""
    waiting: float
    """The part of `seconds` spent waiting: all of it in a place that is no station; on a link
    without the time in transit."""


class Packets(msgspec.Struct):
    """Packet counts, acknowledgements among them, with `network.grain = "packet"`."""

    sent: float
    lost: float
    """Those that found a queue full, on any link of their path."""
    sent_again: float
    """Retransmitted segments."""
    timeouts: float
    """Expired retransmission timers."""
    corrupted: float = 0
    """Packets that a link corrupted."""
    without_credits: float | None = None
    """Seconds for which links had packets and no credits, all links together."""


class Repair(msgspec.Struct):
    """Repair of the copies that a failed server had, with `replication.repair`."""

    copied_bytes: float
    whole_s: float | None
    """When it was complete; None if it was not, had nothing to copy, or the server failed again."""
    began_s: float | None = None
    read_bytes: float = 0
    """Bytes that servers read for it: of an erasure code, all pieces that give one back."""


class Outage(msgspec.Struct):
    """A failure of a server. Times are from the start of the run; None: the event did not occur."""

    at_s: float
    until_s: float | None
    noticed_s: float | None
    """When the first client declared the server failed."""
    forgotten_bytes: float
    """Data acknowledged as written that was in its memory only."""
    taken_over_by: int | None = None
    """Data server that serves its targets from `until_s` on."""
    server: int | None = None
    metadata: int | None = None
    """Number of a metadata server; None for a data server."""
    repair: Repair | None = None


class Bottleneck(msgspec.Struct):
    """The resource that limits the system."""

    sentence: str
    """All this as text."""
    station: str | None = None
    """The busiest station, if saturated; else that of the place where requests spend most time."""
    utilisation: float | None = None
    """Of that station, mean over its copies; 0 for a place."""
    saturated: bool | None = None
    """True if its busiest copy is busy for at least 0.9 of the time."""
    next: str | None = None
    """The next bottleneck."""
    share: float | None = None
    """Share of the latency that it causes; absent where requests have arrival times."""
    most_gain: float | None = None
    """Upper bound of the gain in throughput if the station took no time; absent if none."""


class Replication(msgspec.Struct):
    """One replication, with some of the figures of a result."""

    seed: int
    """`run.seed` of the first; of the others a hash of it and their number, below 2^53."""
    simulated_seconds: float


class Warned(msgspec.Struct):
    """A warning beside a result."""

    message: str
    condition: str = ""
    """Identifier; empty in files of earlier versions."""


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
    share: Share | None = None
    groups: "dict[str, HalfWidths]" = {}
    trainings: dict[str, TrainingWidths] = {}
    """Of each training, by the number of its workload."""


class Replay(msgspec.Struct):
    """Reads and writes of a whole replayed trace by the open flags that the replay keeps."""

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
    """Component: `trace reader`, `replay`, `model` (done, and modelled in part), `engine` (a call
    that fails here) or `workload.space` (done at an offset within the space)."""
    what: str
    """The operation, or the kind of line in the trace."""
    reason: str
    count: float
    """Occurrences, over all repetitions."""
    bytes: float | None = None
    """Bytes that they would have moved."""


class Report(msgspec.Struct):
    """Figures of a simulation."""

    scenario: ScenarioText
    seed: int
    simulated_seconds: float
    """Simulated time at the end of the run, warm-up included."""
    throughput: dict[str, float | None]
    """Bytes a second of the active time, by operation that moves bytes; None if that is 0."""
    operations: dict[str, Rates]
    latency: dict[str, Latency]
    """By operation, and over `all`, from the actual start."""
    groups: dict[str, GroupReport]
    """In the order of `clients.groups`."""
    stations: list[Station]
    """In the order of the net."""
    breakdown: list[BreakdownEntry]
    """Most time first."""
    bottleneck: Bottleneck
    caches: list[Cache] = []
    wall_seconds: float | None = None
    """Real time of the simulation alone."""
    events: float | None = None
    """Firings of transitions and events of stations."""
    stop: Stop | None = None
    version: str | None = None
    synced_writes: SyncedWrites | None = None
    replays: list[Replay] = []
    unwritten: Unwritten | None = None
    latency_from_intended: dict[str, Latency] = {}
    """The same from the intended start, unfinished requests included; only if one was late."""
    unfinished: Unfinished | None = None
    servers: list[Server] = []
    """Data servers; none of local file systems, and with more than 4,096."""
    copies: list[StationCopy] = []
    packets: Packets | None = None
    failures: list[Outage] = []
    """In the order of the scenario; only if one began."""
    replications: list[Replication] = []
    """Only if `run.replications` is more than 1."""
    intervals: HalfWidths | None = None
    warnings: list[Warned] = []
    left_out: list[LeftOut] = []
    trainings: list[Training] = []
    """Only of workloads of kind "training"."""
    phases: list[Phase] = []
    """Only of workloads that have `turns`."""
    io500: Io500 | None = None
    """Only if the workloads are the four of IO500, in turn."""
