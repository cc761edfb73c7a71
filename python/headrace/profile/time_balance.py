"""The time balance of a phase: where the program's time goes, in parts that add up to it.

Processor time and waits for a core are the kernel's exact sums (/proc/PID/stat and schedstat). The
rest is divided by the time inside traced calls, where a trace is there, and else by the looks at
the program's threads (`counters.thread_states`). A program counts by its most active thread: while
one computes, waits of others cost no time.

Looks of a recording without them are the states of its samples. The plausible time of the
program's own requests counts as one look more.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import polars as pl

from headrace.profile.counters.thread_states import NEW_PROCESSES, ON_STORAGE
from headrace.profile.devices import sum_of
from headrace.profile.document import BALANCE_PARTS, TimeBalance
from headrace.profile.interval_means import lengths
from headrace.profile.traced_calls import TracedCalls

LONGEST_REQUEST_S = 0.02
"""Time that a request plausibly takes at most: a seek of a hard disk with a short queue
(declared). A program with 1 request a second does not wait for it all the time."""
STOP_S = 50e-6
"""Time of a stop by a tracer on an idle machine, in seconds: the order of magnitude (declared)."""
STOP_CPU_S = 6e-6
"""Processor time of the program in a stop, in seconds: two switches and a signal (declared)."""
MOST_STOP_SHARE = 0.8
"""Share of the system time that stops take at most (declared)."""
STOPS_PER_CALL = 2
"""A tracer stops a process before and after each call (ptrace(2))."""
LEAST_SHORT = 0.1
"""Share of processor time in short-lived processes from which their waits for a core are
estimated: the kernel's sums end with them (declared)."""
CREATING = 0.3
"""Share of processor time in short-lived processes from which state D without a transfer is a wait
for a new process: a parent in vfork is in state D until the child executes (vfork(2))."""
FEWEST_LOOKS = 10
"""Looks from which they tell reads of files and of pipes apart (declared)."""
FLUSHES = 1.0
"""Flushes a second from which waits for writes of an unknown call are syncs (declared)."""
MESSAGES = 50.0
"""Packets a second from which sleep of an unknown kind may be a wait for messages (declared)."""
SWITCHES = 0.3
"""Voluntary switches for each packet from which it is (declared)."""
FULL_PACKET = 1000.0
"""Mean size of packets, in bytes, from which they carry bulk data (declared)."""
SLEEPS = {
    "lock": "a lock",
    "timer": "a timer",
    "child": "a child process",
    "events": "events of files, sockets or pipes",
    "pipe": "a pipe",
    "input": "a terminal or a character device",
    "signal": "a signal",
    "asleep": "something unknown",
}
"""Kinds of sleep, in words."""
OWN_PARTS = tuple(part for part in BALANCE_PARTS if part not in ("tracer", "core"))
"""Parts of the program's own time."""
OF_LOOKS = {kind: kind for kind in ON_STORAGE} | {
    "fault": "read",
    "process": "process",
    "traced": "tracer",
}
"""Parts of looks by kind, where the kind alone decides."""


def time_balance(
    rates: pl.DataFrame,
    disk: str | None = None,
    calls: TracedCalls | None = None,
    *,
    stops: bool = False,
    cores: int = 1,
) -> TimeBalance | None:
    """Return the balance of a phase; None if no program is watched.

    Parameters
    ----------
    rates
        Rows of the phase, as `headrace.profile.recording.rates` returns them.
    disk
        Disk of the program's files.
    calls
        Traced calls of the phase.
    stops
        Whether the tracer stops the program at each call.
    cores
        Number of the machine's cores.
    """
    phase = _Phase(rates, disk)
    if phase.total_s("tree.user") is None or phase.length_s <= 0:
        return None
    parts: dict[str, float] = defaultdict(float)
    parts["user"] = phase.seconds("tree.user")
    parts["system"] = phase.seconds("tree.system")
    looks = phase.looks()
    parts["core"] = _core_wait(phase, looks, parts["user"] + parts["system"], cores)
    tracer_stops = _stops(phase, calls) if stops else 0.0
    if tracer_stops:
        switches = phase.seconds("tree.*_switches_per_s") or 2 * tracer_stops
        waits_s = parts["core"] * min(tracer_stops / switches, 1.0)
        used_s = min(tracer_stops * STOP_CPU_S, MOST_STOP_SHARE * parts["system"])
        parts["tracer"] = waits_s + used_s
        parts["core"] -= waits_s
        parts["system"] -= used_s
    used = sum(parts.values())
    if used > phase.length_s:
        for name in parts:
            parts[name] *= phase.length_s / used
    rest = max(phase.length_s - sum(parts.values()), 0.0)
    looks.pop("running", None)
    if calls is not None:
        rest -= _add_calls(parts, rest, calls, looks, transfers=phase.own_requests() > 0)
    sleeps = _add_looks(
        parts, rest, looks, phase, tracer_stops * STOP_S, with_calls=calls is not None
    )
    seconds = {name: parts[name] for name in BALANCE_PARTS}
    return TimeBalance(seconds=seconds, sleeps=sleeps, looks=round(phase.look_count))


def looks_by_kind(rates: pl.DataFrame) -> dict[str, float]:
    """Return the looks at the program's threads by kind; empty in recordings without looks."""
    columns = [name for name in rates.columns if name.startswith("states.")]
    return {
        name.removeprefix("states."): float(rates[name].fill_null(0.0).sum())
        for name in columns
        if name != NEW_PROCESSES
    }


class _Phase:
    """Sums over the rows of a phase."""

    def __init__(self, rates: pl.DataFrame, disk: str | None) -> None:
        self.rates = rates
        self._lengths = lengths(rates)
        self.length_s = float(self._lengths.sum())
        self._disk = disk
        self.look_count = 0.0

    def total_s(self, *patterns: str) -> float | None:
        """Return the integral of columns over time; None if they are unknown."""
        total = sum_of(self.rates, *patterns)
        return None if total is None else float((total * self._lengths).sum())

    def seconds(self, *patterns: str) -> float:
        """Return the same; 0 if they are unknown."""
        return self.total_s(*patterns) or 0.0

    def of_disk(self, *names: str) -> float:
        """Return the sum of counters of the program's disk."""
        chosen = [f"disk.{self._disk}.{name}" for name in names]
        return self.seconds(*chosen) if self._disk else 0.0

    def looks(self) -> dict[str, float]:
        """Return the looks by kind; of older recordings those of the samples."""
        looks = looks_by_kind(self.rates)
        if not sum(looks.values()):
            looks = {}
            kinds = {"running": "running", "disk_wait": "disk", "traced": "traced"}
            kinds["sleeping"] = "asleep"
            for row in self.rates.iter_rows(named=True):
                states = (state for state in kinds if (row.get(f"tree.{state}") or 0.0) >= 1.0)
                if (state := next(states, None)) is not None:
                    looks[kinds[state]] = looks.get(kinds[state], 0.0) + 1.0
        self.look_count = sum(looks.values())
        return looks

    def own_requests(self) -> float:
        """Return the number of requests of the program to storage, at most."""
        moved = self.of_disk("read_bytes_per_s", "write_bytes_per_s")
        own = self.seconds("tree.read_bytes_per_s", "tree.write_bytes_per_s")
        share = min(own / moved, 1.0) if moved > 0 else 0.0
        requests = share * self.of_disk("reads_per_s", "writes_per_s")
        faults = self.seconds("tree.major_faults_per_s")
        return max(requests, faults) + self.seconds("nfs.*.calls_per_s")

    def direction(self) -> str:
        """Return the part of waits for storage by an unknown call."""
        read = self.seconds("tree.read_bytes_per_s", "nfs.*.read_bytes_per_s")
        written = self.seconds("tree.write_bytes_per_s", "nfs.*.write_bytes_per_s")
        if read >= written:
            return "read"
        return "sync" if self.of_disk("flushes_per_s") >= FLUSHES * self.length_s else "write"

    def exchanges_messages(self, *, bulk: bool) -> bool:
        """Return whether sleep is a wait for messages: for a switch for each packet or, with
        `bulk`, while full packets pass."""
        packets = [self.seconds(f"net.*.{way}_packets_per_s") for way in ("receive", "send")]
        moved = self.seconds("net.*.receive_bytes_per_s", "net.*.send_bytes_per_s")
        if min(packets) < MESSAGES * self.length_s:
            return False
        switches = self.seconds("tree.voluntary_switches_per_s")
        is_full = moved >= FULL_PACKET * sum(packets)
        return switches > SWITCHES * min(packets) or (bulk and is_full)


def _core_wait(phase: _Phase, looks: Mapping[str, float], run_s: float, cores: int) -> float:
    """Return the time that threads wait for a core.

    The kernel's sums end with a thread. Waits of short-lived processes are estimated by the looks
    in which a thread runs or waits for a core. Without looks, the number of threads for each core
    counts.
    """
    known = phase.total_s("tree.core_wait")
    short = phase.seconds("tree.short_lived")
    if known is not None and short < LEAST_SHORT * run_s:
        return known
    known = known or 0.0
    if phase.look_count >= FEWEST_LOOKS or (short == 0 and phase.look_count):
        runnable = looks.get("running", 0.0) / phase.look_count * phase.length_s
        return max(known, runnable - run_s)
    load = phase.seconds("load.running") / phase.length_s
    return known + short * max(load / cores - 1.0, 0.0)


def _stops(phase: _Phase, calls: TracedCalls | None) -> float:
    """Return the number of stops by a tracer. Without the trace, all switches that requests to
    storage do not explain."""
    if calls is not None:
        return float(STOPS_PER_CALL * sum(calls.counts.values()))
    if not phase.seconds("tree.traced"):
        return 0.0
    return max(phase.seconds("tree.voluntary_switches_per_s") - phase.own_requests(), 0.0)


def _add_calls(
    parts: dict[str, float],
    rest: float,
    calls: TracedCalls,
    looks: dict[str, float],
    *,
    transfers: bool,
) -> float:
    """Add the time inside traced calls on files that is no processor time. Returns it.

    Looks decide how much it is, if there are enough of them, and the calls its kinds. Half of the
    tracer's stops are inside calls. They take no longer than a quick call does.
    """
    total = max(sum(calls.counts.values()), 1)
    each = min(parts["tracer"] / 2 / total, calls.quick_s)
    weights = {
        kind: max(seconds - each * calls.kind_counts[kind], 0.0)
        for kind, seconds in calls.kind_s.items()
    }
    if not transfers:
        # A read of a FIFO is in the trace like that of a file.
        weights["read"] = weights["write"] = 0.0
    within, overhead = sum(weights.values()), each * total
    count = sum(looks.values())
    if count >= FEWEST_LOOKS:
        # A call of a cached file takes the tracer's time, as a read of a FIFO takes its writer's.
        on_storage = sum(looks.get(kind, 0.0) for kind in ON_STORAGE[:-1])
        blocked = rest * on_storage / count
    else:
        blocked = min(max(calls.union_s - overhead - parts["system"], 0.0), rest)
    faults = rest * looks.pop("fault", 0.0) / count if count else 0.0
    for kind in ON_STORAGE if count >= FEWEST_LOOKS else (*ON_STORAGE, "disk"):
        looks.pop(kind, None)
    faults = min(faults, rest - blocked)
    parts["read"] += faults
    for kind, weight in weights.items():
        parts[kind] += blocked * weight / within if within else 0.0
    return faults + (blocked if within else 0.0)


def _add_looks(
    parts: dict[str, float],
    rest: float,
    looks: Mapping[str, float],
    phase: _Phase,
    stop_s: float,
    *,
    with_calls: bool,
) -> dict[str, float]:
    """Divide the rest of the time by the looks. Returns the seconds of sleep by kind."""
    if rest <= 0:
        return {}
    requests_s = phase.own_requests() * LONGEST_REQUEST_S
    plausible = min(requests_s / rest, 1.0)
    direction = phase.direction()
    run_s = parts["user"] + parts["system"]
    creates = phase.seconds("tree.short_lived") >= CREATING * run_s > 0
    messages = {
        kind: kind in ("network", "socket")
        or (kind in ("asleep", "events") and phase.exchanges_messages(bulk=kind == "asleep"))
        for kind in looks
    }
    weights: dict[str, float] = defaultdict(float)
    sleeps: dict[str, float] = {}
    for kind, count in looks.items():
        if kind == "disk":
            weights[direction] += count * plausible
            weights["process" if creates else "unknown"] += count * (1 - plausible)
        elif kind == "requests":
            weights[direction if plausible or with_calls else "sleep"] += count
        elif kind in OF_LOOKS:
            weights[OF_LOOKS[kind]] += count
        elif messages[kind]:
            weights["network"] += count
        else:
            weights["sleep"] += count
            sleeps[kind] = count
    stopped = min(stop_s / rest, 1.0)
    prior = {direction: 0.0 if with_calls else plausible, "tracer": stopped}
    prior["unknown"] = max(1.0 - sum(prior.values()), 0.0)
    scale = sum(prior.values()) or 1.0
    for part, weight in prior.items():
        weights[part] += weight / scale
    total = sum(weights.values())
    for part, weight in weights.items():
        parts[part] += rest * weight / total
    return {kind: rest * count / total for kind, count in sleeps.items()}


def main_sleep(balance: TimeBalance) -> str | None:
    """Return what the program mostly sleeps for, in words; None if it is unknown."""
    known = {kind: seconds for kind, seconds in balance.sleeps.items() if kind != "asleep"}
    if not known or sum(known.values()) < 0.5 * balance.seconds["sleep"]:
        return None
    return SLEEPS[max(known, key=lambda kind: known[kind])]


def own_share(balance: TimeBalance, parts: Sequence[str]) -> float:
    """Return parts as a share of the program's own time: that in which neither a tracer nor a wait
    for a core stops it. So a program has the same limit on a busy machine."""
    total = sum(balance.seconds[part] for part in OWN_PARTS)
    return sum(balance.seconds[part] for part in parts) / total if total > 0 else 0.0
