"""Figures of a phase that rules compare: medians of its samples, by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from headrace.profile.counters.thread_states import NEW_PROCESSES
from headrace.profile.devices import names, sum_of
from headrace.profile.document import TimeBalance
from headrace.profile.time_balance import OWN_PARTS, looks_by_kind, own_share, time_balance
from headrace.profile.traced_calls import TracedCalls

PAGE = 4096.0
FAULT_S = 2.5e-6
"""Processor time of a minor page fault that clears a page, in seconds: measured in a virtual
machine on x86 (benches/verdicts, page-faults). It only separates them from other system time."""
COMMIT_S = 5.0
"""Time after which a journal is written at the latest, in seconds: the default of ext3 and ext4
(ext4(5), commit=)."""
REQUEST_S = 20e-6
"""Processor time that a program needs to submit a request to a disk and to wake up, in seconds
(declared)."""
SMALL_CALL_S = 0.3e-6
"""Processor time of a small call without a baseline, in seconds (declared)."""
COPY_RATE = 2e9
"""Rate of copies between program and page cache without a baseline, in B/s (declared)."""
BASELINE = "baseline."
"""Prefix of a figure of the baseline in `of` of a rule."""


@dataclass
class PhaseSamples:
    """Samples of one phase and what they are compared with."""

    rates: pl.DataFrame
    """Rows of the phase."""
    disk: str | None = None
    """Disk that its figures `disk.*` describe."""
    interface: str | None = None
    """Network interface that its figures `network.*` describe."""
    device_disks: int = 1
    """Number of disks in the device, such as those of an array."""
    baseline: Mapping[str, float] | None = None
    """Values of the baseline's figures by name."""
    link_rate: float | None = None
    """Nominal rate of the interface, in B/s."""
    calls: TracedCalls | None = None
    """File operations of the phase by kind."""
    stops: bool = False
    """Whether a tracer stops the program at each call."""
    until_commit: pl.DataFrame | None = None
    """Rows of the phase and of `COMMIT_S` after it; None for the same as `rates`."""

    def median(self, *patterns: str) -> float | None:
        """Return the median over the samples of the sum of columns; None if unknown."""
        total = sum_of(self.rates, *patterns)
        return None if total is None else _number(total.median())

    def mean(self, *patterns: str) -> float | None:
        """Return the mean over the samples of the sum of columns; None if unknown."""
        total = sum_of(self.rates, *patterns)
        return None if total is None else _number(total.mean())

    def value(self, name: str) -> float | None:
        """Return a figure, or one of the baseline as `baseline.NAME`; None if it is unknown."""
        if name.startswith(BASELINE):
            return self.reference(name.removeprefix(BASELINE))
        return FIGURES[name].value(self)

    def reference(self, name: str) -> float | None:
        """Return a figure of the baseline; None if it is unknown or 0."""
        value = (self.baseline or {}).get(name)
        return value if value else None

    @cached_property
    def alive(self) -> pl.DataFrame:
        """Rows in which the program has a thread."""
        threads = sum_of(self.rates, "tree.threads")
        return self.rates if threads is None else self.rates.filter(threads >= 1.0)

    @cached_property
    def balance(self) -> TimeBalance | None:
        """Where the program's time goes; None if no program is watched, or none was seen."""
        used = sum_of(self.rates, "tree.user", "tree.system")
        if self.alive.is_empty() and (used is None or not used.sum()):
            return None
        return time_balance(self.rates, self.disk, self.calls, stops=self.stops, cores=self.cores)

    @cached_property
    def cores(self) -> int:
        """Number of cores of the machine."""
        return cores_of(self.rates)


@dataclass(frozen=True)
class PhaseFigure:
    """A figure that rules can name."""

    name: str
    unit: str
    description: str
    value: Callable[[PhaseSamples], float | None]


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and np.isfinite(value) else None


def cores_of(rates: pl.DataFrame) -> int:
    """Return the number of cores that a frame of rates has; 1 if it has none."""
    return max(len([column for column in rates.columns if _is_core(column)]), 1)


def _is_core(column: str) -> bool:
    kind, _, rest = column.partition(".")
    number, _, state = rest.partition(".")
    return kind == "cpu" and number.isdigit() and state == "user"


def _ratio(above: float | None, below: float | None) -> float | None:
    if above is None or below is None or below == 0.0:
        return None
    return above / below


def _product(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _total(*values: float | None) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _median(*patterns: str) -> Callable[[PhaseSamples], float | None]:
    return lambda samples: samples.median(*patterns)


def _disk(*names: str, mean: bool = False) -> Callable[[PhaseSamples], float | None]:
    """Return the median, or the mean, of a sum of columns of the phase's disk."""

    def value(samples: PhaseSamples) -> float | None:
        if samples.disk is None:
            return None
        chosen = [f"disk.{samples.disk}.{name}" for name in names]
        return samples.mean(*chosen) if mean else samples.median(*chosen)

    return value


def _interface(*names: str, mean: bool = False) -> Callable[[PhaseSamples], float | None]:
    def value(samples: PhaseSamples) -> float | None:
        if samples.interface is None:
            return None
        chosen = [f"net.{samples.interface}.{name}" for name in names]
        return samples.mean(*chosen) if mean else samples.median(*chosen)

    return value


def _cores_share(samples: PhaseSamples) -> float | None:
    return _ratio(samples.median("tree.user", "tree.system"), float(samples.cores))


def _system_share(samples: PhaseSamples) -> float | None:
    return _ratio(samples.median("tree.system"), samples.median("tree.user", "tree.system"))


def _own(*parts: str) -> Callable[[PhaseSamples], float | None]:
    """Return parts of the balance as a share of the program's own time."""

    def value(samples: PhaseSamples) -> float | None:
        return None if samples.balance is None else own_share(samples.balance, parts)

    return value


def _of_whole(part: str) -> Callable[[PhaseSamples], float | None]:
    """Return a part of the balance as a share of the phase."""

    def value(samples: PhaseSamples) -> float | None:
        balance = samples.balance
        return _ratio(balance.seconds[part], sum(balance.seconds.values())) if balance else None

    return value


def _asynchronous(samples: PhaseSamples) -> float | None:
    return _share_of_looks(samples, "states.requests")


def _renewed(samples: PhaseSamples) -> float | None:
    return _share_of_looks(samples, NEW_PROCESSES)


def _share_of_looks(samples: PhaseSamples, column: str) -> float | None:
    """Return looks of a kind as a share of all; None in recordings without looks."""
    total = sum(looks_by_kind(samples.rates).values())
    looks = sum_of(samples.rates, column)
    return _ratio(0.0 if looks is None else float(looks.sum()), total)


def _own_balance(samples: PhaseSamples) -> float | None:
    """Return the program's slower direction divided by the faster."""
    moved = [samples.mean(f"tree.{way}_bytes_per_s") for way in ("read", "write")]
    known = [value for value in moved if value is not None]
    return _ratio(min(known), max(known)) if len(known) == len(moved) else None


def _per_new_process(samples: PhaseSamples) -> float | None:
    """Return the processor time of a short-lived process. The kernel counts threads as well, and
    those of other programs."""
    forks = samples.mean("forks_per_s") or samples.mean("tree.new_numbers_per_s")
    return _ratio(samples.mean("tree.short_lived"), forks)


def _other_calls(samples: PhaseSamples) -> float | None:
    """Return the system time that reads, writes, copies, disk requests and page faults do not
    explain."""
    system = samples.median("tree.system")
    calls = samples.median("tree.read_calls_per_s", "tree.write_calls_per_s")
    if system is None or calls is None:
        return None
    rate = samples.reference("small-call")
    cost = SMALL_CALL_S if rate is None else 1.0 / rate
    copied = samples.median("tree.read_call_bytes_per_s", "tree.write_call_bytes_per_s") or 0.0
    copies = samples.reference("cached-read") or COPY_RATE
    faults = samples.median("tree.minor_faults_per_s") or 0.0
    requests = _disk("reads_per_s", "writes_per_s")(samples) or 0.0
    explained = calls * cost + copied / copies + requests * REQUEST_S + faults * FAULT_S
    return max(system - explained, 0.0)


def _character_share(phase: PhaseSamples) -> float | None:
    """Return the time per second that the baseline's character loops need for the same bytes."""
    shares = [
        _ratio(phase.median(f"tree.{way}_call_bytes_per_s"), phase.reference(f"character-{way}"))
        for way in ("read", "write")
    ]
    return _total(*shares)


def _smaller_direction(samples: PhaseSamples) -> float | None:
    read, write = _disk("read_bytes_per_s")(samples), _disk("write_bytes_per_s")(samples)
    return None if read is None or write is None else min(read, write)


def _balance(samples: PhaseSamples) -> float | None:
    read, write = _disk("read_bytes_per_s")(samples), _disk("write_bytes_per_s")(samples)
    if read is None or write is None or max(read, write) == 0.0:
        return None
    return min(read, write) / max(read, write)


def _read_share(samples: PhaseSamples) -> float | None:
    read, write = (_disk(f"{way}_bytes_per_s", mean=True)(samples) for way in ("read", "write"))
    return _ratio(read, _total(read, write))


def _request_size(samples: PhaseSamples) -> float | None:
    moved = _disk("read_bytes_per_s", "write_bytes_per_s", mean=True)(samples)
    return _ratio(moved, _disk("reads_per_s", "writes_per_s", mean=True)(samples))


def _journal(samples: PhaseSamples) -> float | None:
    rows = samples.rates if samples.until_commit is None else samples.until_commit
    return _disk("writes_per_s", mean=True)(replace(samples, rates=rows))


def _queue_per_disk(samples: PhaseSamples) -> float | None:
    return _ratio(_disk("queue")(samples), float(samples.device_disks))


def _service_column(samples: PhaseSamples) -> pl.Series | None:
    """Return the mean service time of all requests in each sample."""
    if samples.disk is None:
        return None
    total, requests = None, None
    for way in ("read", "write"):
        count = sum_of(samples.rates, f"disk.{samples.disk}.{way}s_per_s")
        time = sum_of(samples.rates, f"disk.{samples.disk}.{way}_service_s")
        if count is None or time is None:
            continue
        total = count * time if total is None else total + count * time
        requests = count if requests is None else requests + count
    if total is None or requests is None:
        return None
    busy = requests > 0.0
    return (total.filter(busy) / requests.filter(busy)).drop_nans()


def _service(samples: PhaseSamples) -> float | None:
    times = _service_column(samples)
    return None if times is None else _number(times.median())


def _service_growth(samples: PhaseSamples) -> float | None:
    # Takes a second to import, and monitors use these rules as well.
    from scipy.stats import kendalltau

    times = _service_column(samples)
    if times is None or len(times) < 5:
        return None
    return _number(float(kendalltau(np.arange(len(times)), times.to_numpy()).statistic))


def _of_program(samples: PhaseSamples) -> float | None:
    """Return the share of the disk's traffic that the program reads or writes itself."""
    moved = _disk("read_bytes_per_s", "write_bytes_per_s", mean=True)(samples)
    own = samples.mean("tree.read_bytes_per_s", "tree.write_bytes_per_s")
    share = _ratio(own, moved)
    return None if share is None else min(share, 1.0)


def _network_rate(samples: PhaseSamples) -> float | None:
    rates = [_interface(f"{way}_bytes_per_s")(samples) for way in ("receive", "send")]
    known = [rate for rate in rates if rate is not None]
    return max(known) if known else None


def _packet_size(samples: PhaseSamples) -> float | None:
    sizes = []
    for way in ("receive", "send"):
        moved = _interface(f"{way}_bytes_per_s", mean=True)(samples)
        size = _ratio(moved, _interface(f"{way}_packets_per_s", mean=True)(samples))
        if moved is not None and size is not None:
            sizes.append((moved, size))
    return max(sizes)[1] if sizes else None


def _packets(samples: PhaseSamples) -> float | None:
    rates = [_interface(f"{way}_packets_per_s")(samples) for way in ("receive", "send")]
    known = [rate for rate in rates if rate is not None]
    return min(known) if known else None


def _losses(phase: PhaseSamples) -> float | None:
    lost = _interface("errors_per_s", "drops_per_s", "collisions_per_s", mean=True)(phase)
    return _ratio(lost, _interface("receive_packets_per_s", "send_packets_per_s", mean=True)(phase))


def _available(samples: PhaseSamples) -> float | None:
    return _ratio(samples.median("memory.available_bytes"), samples.median("memory.total_bytes"))


def _metadata_time(samples: PhaseSamples) -> float | None:
    """Return the share of own time in operations on names: their waits and their system time, which
    is in proportion to their durations. Both are within the calls."""
    calls, balance = samples.calls, samples.balance
    if calls is None or balance is None:
        return None
    system = own_share(balance, ("system",))
    within = _ratio(calls.kind_s["metadata"], sum(calls.times_s.values())) or 0.0
    own_s = sum(balance.seconds[part] for part in OWN_PARTS)
    within_calls = _ratio(calls.kind_s["metadata"], own_s) or 0.0
    return min(own_share(balance, ("metadata",)) + system * within, within_calls)


def _metadata_at_baseline(samples: PhaseSamples) -> float | None:
    """Return the time per second that the baseline needs for the same operations."""
    if samples.calls is None:
        return None
    return _total(
        *(
            _ratio(samples.calls.per_s(kind), samples.reference(name))
            for kind, name in (("create", "create"), ("stat", "stat"), ("unlink", "remove"))
        )
    )


FIGURES = {
    figure.name: figure
    for figure in (
        PhaseFigure(
            "balance.computing",
            "",
            "share of its own time that it computes",
            _own("user", "system"),
        ),
        PhaseFigure(
            "balance.core_wait",
            "",
            "share of all time that it waits for a core",
            _of_whole("core"),
        ),
        PhaseFigure(
            "balance.storage",
            "",
            "share of its own time that it waits for reads, writes and syncs",
            _own("read", "write", "sync"),
        ),
        PhaseFigure(
            "balance.read", "", "share of its own time that it waits for reads", _own("read")
        ),
        PhaseFigure(
            "balance.sync", "", "share of its own time that it waits for syncs", _own("sync")
        ),
        PhaseFigure(
            "balance.metadata",
            "",
            "share of its own time that it waits for operations on names",
            _own("metadata"),
        ),
        PhaseFigure(
            "balance.network",
            "",
            "share of its own time that it waits for messages",
            _own("network"),
        ),
        PhaseFigure(
            "balance.sleep",
            "",
            "share of its own time that it sleeps for anything else",
            _own("sleep", "process"),
        ),
        PhaseFigure(
            "balance.tracer", "", "share of time that its tracer takes", _of_whole("tracer")
        ),
        PhaseFigure("balance.unknown", "", "share of time of unknown use", _of_whole("unknown")),
        PhaseFigure(
            "program.short_lived",
            "cores",
            "processor time of processes that start and end between two samples",
            lambda samples: samples.mean("tree.short_lived"),
        ),
        PhaseFigure(
            "program.per_new_process",
            "s",
            "processor time of each such process, at least",
            _per_new_process,
        ),
        PhaseFigure(
            "program.new_processes",
            "",
            "share of looks that see a process which the look before did not",
            _renewed,
        ),
        PhaseFigure(
            "program.balance",
            "",
            "slower direction of the program's transfers divided by the faster",
            _own_balance,
        ),
        PhaseFigure(
            "program.asynchronous",
            "",
            "share of looks in which it waits for asynchronous requests",
            _asynchronous,
        ),
        PhaseFigure(
            "limits.throttled",
            "",
            "share of periods in which the control group used up its quota",
            lambda samples: samples.mean("limits.throttled_periods"),
        ),
        PhaseFigure(
            "limits.quota", "cores", "processor quota of the control group", _median("limits.quota")
        ),
        PhaseFigure(
            "limits.memory",
            "",
            "memory of the control group as a share of its limit",
            _median("limits.memory_share"),
        ),
        PhaseFigure(
            "limits.refaults",
            "B/s",
            "pages that the control group reads again after their eviction",
            lambda samples: _product(samples.mean("limits.refault_pages_per_s"), PAGE),
        ),
        PhaseFigure(
            "program.busiest_thread",
            "cores",
            "processor time of the busiest thread",
            _median("tree.busiest_thread"),
        ),
        PhaseFigure(
            "program.cores",
            "cores",
            "processor time of all threads",
            _median("tree.user", "tree.system"),
        ),
        PhaseFigure(
            "program.cores_share", "", "processor time as a share of all cores", _cores_share
        ),
        PhaseFigure("program.system_share", "", "share of system time in it", _system_share),
        PhaseFigure(
            "program.other_calls",
            "cores",
            "system time not explained by reads, writes and page faults",
            _other_calls,
        ),
        PhaseFigure(
            "program.character_share",
            "",
            "time per second that the baseline's character loops take for the same bytes",
            _character_share,
        ),
        PhaseFigure(
            "program.reads",
            "B/s",
            "bytes that storage reads for the program",
            _median("tree.read_bytes_per_s"),
        ),
        PhaseFigure(
            "program.writes",
            "B/s",
            "bytes that the program passes to write calls",
            _median("tree.write_call_bytes_per_s"),
        ),
        PhaseFigure(
            "program.major_faults",
            "1/s",
            "page faults that read from storage",
            _median("tree.major_faults_per_s"),
        ),
        PhaseFigure(
            "program.switches",
            "1/s",
            "times that a thread stops to wait",
            _median("tree.voluntary_switches_per_s"),
        ),
        PhaseFigure("program.resident", "B", "resident memory", _median("tree.resident_bytes")),
        PhaseFigure(
            "machine.idle",
            "",
            "share of time in which cores have nothing to run",
            _median("cpu.idle", "cpu.iowait"),
        ),
        PhaseFigure(
            "machine.swap",
            "B/s",
            "throughput of swapping in both directions",
            _median("paging.swap_in_bytes_per_s", "paging.swap_out_bytes_per_s"),
        ),
        PhaseFigure(
            "machine.refaults",
            "B/s",
            "throughput of reads of pages that the kernel had evicted",
            _median("paging.refault_bytes_per_s"),
        ),
        PhaseFigure(
            "machine.memory_pressure",
            "",
            "share of time in which a task waits for memory (PSI)",
            _median("pressure.memory"),
        ),
        PhaseFigure("machine.available", "", "share of memory that is available", _available),
        PhaseFigure("disk.read", "B/s", "read throughput", _disk("read_bytes_per_s")),
        PhaseFigure("disk.write", "B/s", "write throughput", _disk("write_bytes_per_s")),
        PhaseFigure(
            "disk.rewrite",
            "B/s",
            "throughput of the slower of reads and writes",
            _smaller_direction,
        ),
        PhaseFigure("disk.balance", "", "slower direction divided by faster", _balance),
        PhaseFigure("disk.read_share", "", "share of reads in the bytes (mean)", _read_share),
        PhaseFigure("disk.reads", "1/s", "reads", _disk("reads_per_s")),
        PhaseFigure(
            "disk.requests",
            "1/s",
            "reads and writes (mean)",
            _disk("reads_per_s", "writes_per_s", mean=True),
        ),
        PhaseFigure("disk.writes", "1/s", "writes", _disk("writes_per_s")),
        PhaseFigure(
            "disk.journal",
            "1/s",
            "writes (mean until 5 s after the phase, when a journal is written)",
            _journal,
        ),
        PhaseFigure("disk.request_size", "B", "mean size of a request", _request_size),
        PhaseFigure("disk.queue_per_disk", "", "mean queue for each disk", _queue_per_disk),
        PhaseFigure("disk.utilisation", "", "utilisation", _disk("utilisation")),
        PhaseFigure("disk.service", "s", "mean time of a request", _service),
        PhaseFigure(
            "disk.service_growth",
            "",
            "Kendall's rank correlation of the service time with time",
            _service_growth,
        ),
        PhaseFigure(
            "disk.of_program", "", "share of the traffic that the program causes", _of_program
        ),
        PhaseFigure(
            "network.throughput", "B/s", "throughput of the faster direction", _network_rate
        ),
        PhaseFigure(
            "network.link_share",
            "",
            "throughput as a share of the nominal rate",
            lambda samples: _ratio(_network_rate(samples), samples.link_rate),
        ),
        PhaseFigure(
            "network.packet_size", "B", "mean packet of the faster direction", _packet_size
        ),
        PhaseFigure("network.packets", "1/s", "packets of the slower direction", _packets),
        PhaseFigure(
            "network.all_packets",
            "1/s",
            "packets of all interfaces, loopback included",
            _median("net.*.receive_packets_per_s", "net.*.send_packets_per_s"),
        ),
        PhaseFigure(
            "network.losses", "", "errors, drops and collisions for each packet (mean)", _losses
        ),
        PhaseFigure(
            "remote.read",
            "B/s",
            "read throughput of network file systems",
            _median("nfs.*.read_bytes_per_s", "lustre.*.read_bytes_per_s"),
        ),
        PhaseFigure(
            "remote.write",
            "B/s",
            "write throughput of network file systems",
            _median("nfs.*.write_bytes_per_s", "lustre.*.write_bytes_per_s"),
        ),
        PhaseFigure("remote.calls", "1/s", "calls to file servers", _median("nfs.*.calls_per_s")),
        PhaseFigure(
            "remote.bytes_per_call",
            "B",
            "bytes moved for each call to a file server",
            lambda samples: _ratio(
                samples.mean("nfs.*.read_bytes_per_s", "nfs.*.write_bytes_per_s"),
                samples.mean("nfs.*.calls_per_s"),
            ),
        ),
        PhaseFigure(
            "trace.metadata_time", "", "share of time in metadata operations", _metadata_time
        ),
        PhaseFigure(
            "trace.metadata_calls",
            "1/s",
            "metadata operations",
            lambda samples: None if samples.calls is None else samples.calls.metadata_per_s,
        ),
        PhaseFigure(
            "trace.metadata_baseline",
            "",
            "time per second that the baseline takes for the same operations",
            _metadata_at_baseline,
        ),
    )
}
"""Figures by name, in the order of the documentation."""


def busiest_disk(
    rates: pl.DataFrame,
    disks: Sequence[str] | None,
    baseline: Mapping[str, float] | None = None,
    of_directory: str | None = None,
) -> str | None:
    """Return the disk that carries most of the program's transfers, from those given or else all.

    A disk counts by the traffic that it has in common with the program. Where several carry it,
    such as an array and its parts, the disk of the directory counts. Without transfers of the
    program it is the disk with the largest traffic. Rules compare `disk.of_program` with it. None
    if no disk has traffic.

    A call counts as one page, so that small requests count too. With a baseline, bytes count by
    the time that they take there. A copy reads one disk as much as it writes another, but the
    slower direction is its limit.
    """
    known = baseline or {}
    block_read, block_write = known.get("block-read"), known.get("block-write")
    weight = block_write / block_read if block_read and block_write else 1.0
    candidates = names(rates, "disk") if disks is None else list(disks)
    own = {way: _mean(rates, f"tree.{way}_bytes_per_s") for way in ("read", "write")}
    shared = {disk: _load(rates, f"disk.{disk}", weight, own) for disk in candidates}
    most = max(shared.values(), default=0.0)
    if most > 0:
        if shared.get(of_directory or "", 0.0) >= most / 2:
            return of_directory
        return max(shared, key=lambda name: shared[name])
    loads = {disk: _load(rates, f"disk.{disk}", weight) for disk in candidates}
    return max(loads, key=lambda name: loads[name], default=None) if any(loads.values()) else None


def _load(
    rates: pl.DataFrame,
    prefix: str,
    weight_of_reads: float,
    own: Mapping[str, float] | None = None,
) -> float:
    """Return the traffic of a disk as bytes a second; with `own` that which it shares."""
    load = 0.0
    for way, weight in (("read", weight_of_reads), ("write", 1.0)):
        moved = _mean(rates, f"{prefix}.{way}_bytes_per_s")
        requests = _mean(rates, f"{prefix}.{way}s_per_s") * PAGE
        share = 1.0 if own is None else min(own[way] / moved, 1.0) if moved > 0 else 0.0
        load += share * (weight * moved + requests)
    return load


def _mean(rates: pl.DataFrame, column: str) -> float:
    total = sum_of(rates, column)
    return 0.0 if total is None else _number(total.mean()) or 0.0


def busiest_interface(rates: pl.DataFrame) -> str | None:
    """Return the network interface with the largest traffic; None if none has any.

    The loopback interface has no limit of its own and is not considered.
    """
    loads = {
        it: total.mean()
        for it in names(rates, "net")
        if it != "lo"
        and (total := sum_of(rates, f"net.{it}.receive_bytes_per_s", f"net.{it}.send_bytes_per_s"))
        is not None
    }
    known = {it: value for name, load in loads.items() if (value := _number(load)) for it in [name]}
    return max(known, key=lambda name: known[name], default=None)
