"""Workload of a Darshan log: `[[workload]]` tables that summarise its counters.

Records with one access pattern become one table: those of one module, direction and size bin,
shared by several processes or of one process each. Not there: which process moved which part, and
the times at which the program did something else.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from headrace.document_io import toml_value
from headrace.trace.darshan.log import DarshanLog
from headrace.trace.darshan.request_sizes import BINS, Sizes, request_sizes
from headrace.trace.darshan.synthesis import DataRecords, RecordCounters, count_unread, data_records

PROCESSES_PER_CLIENT = 32
"""Assumed processes of a client at the most, if no DXT record names the hosts."""
SMALL_SHARE = 0.001
"""Patterns with a smaller share of both bytes and requests are left out."""
RANDOM_SHARE = 0.5
"""Share of requests that are not sequential from which on a pattern is random."""
COLLECTIVE_SHARE = 0.5
"""Share of collective calls of MPI-IO from which on a shared file is accessed collectively."""
AGGREGATED = 0.9
"""POSIX requests per call of MPI-IO below which processes exchanged the data of their calls. A
collective call may also let each process move its own part."""

SYSTEM = """\
[clients.machine.memory]
size = "2 GiB"              # Hindman 2011, section 4.2

[network]
bandwidth = "1 Gbit/s"      # Hindman 2011, section 4.2
latency = "0.1 ms"          # an assumption of the usual size

[servers]
count = 2                   # Hindman 2011, section 4.4

[servers.device]            # Hindman 2011, table B.3
kind = "simple"
read_rate = "216 MB/s"
write_rate = "161 MB/s"
"""
"""Test system of the scenario: the Lustre system of Hindman 2011, section 4.4."""


@dataclass
class Pattern:
    """Requests of one kind on a set of files."""

    module: str
    direction: str
    """ "read" or "write" """
    is_shared: bool
    """Several processes access each file."""
    is_collective: bool = False
    files: set[int] = field(default_factory=set)
    ranks: set[int] = field(default_factory=set)
    """Processes, if the records name them."""
    requests: int = 0
    bytes: int = 0
    sequential: float = 0.0
    start_s: float = math.inf
    end_s: float = 0.0


@dataclass(frozen=True)
class DarshanWorkload:
    """A workload that was made from a log.

    Examples:
        >>> workload = hr.trace.darshan_workload(hr.trace.read_log("ior.darshan"))
        >>> workload.processes, workload.clients, workload.workloads, workload.source
        (4, 1, 1, 'segments')
        >>> workload.left_out
        ['operations that DXT does not trace: see `headrace trace info`']
    """

    toml: str
    """A scenario with the clients and `[[workload]]` tables."""
    source: str
    """Source of the requests: "counters", or "segments" for a log with DXT."""
    processes: int
    clients: int
    workloads: int
    """Number of `[[workload]]` tables."""
    assumptions: list[str]
    """Assumed values, in plain words."""
    left_out: list[str]
    """Operations of the log that no table has."""


def darshan_workload(log: DarshanLog, *, system: str = "lustre") -> DarshanWorkload:
    """Summarise a log as a scenario with `[[workload]]` tables.

    A log with DXT becomes a replay of the log itself. Raises ValueError if the log has no request
    on a file.

    Examples:
        >>> workload = hr.trace.darshan_workload(hr.trace.read_log("ior.darshan"))
        >>> hr.load(workload.toml).summary
        'parallel system lustre, 1 client, 2 servers; trace file=...ior.darshan'
    """
    processes = log.header.processes
    clients, assumptions = _clients(log)
    assumptions.append(
        f"the system is {system} with servers, network and memory as in Hindman 2011, section 4"
    )
    unread: Counter[str] = Counter()
    count_unread(log, unread)
    left_out = [text for text in unread if "which is" in text]
    if log.segments:
        tables = [_replay_table(log)]
        source = "segments"
        left_out.append("operations that DXT does not trace: see `headrace trace info`")
    else:
        patterns_ = patterns(log)
        assumptions += _assumptions(patterns_)
        total_bytes = sum(one.bytes for one in patterns_)
        total_requests = sum(one.requests for one in patterns_)
        tables = []
        for pattern in sorted(patterns_, key=lambda one: one.start_s):
            small = (
                pattern.bytes <= SMALL_SHARE * total_bytes
                and pattern.requests <= SMALL_SHARE * total_requests
            )
            if small:
                left_out.append(f"{_words(pattern)}: under {100 * SMALL_SHARE:g} % of the log")
            else:
                tables.append(_table(pattern, processes, clients, assumptions))
        metadata = _metadata_table(log, clients, assumptions)
        if metadata:
            tables.append(metadata)
        source = "counters"
    if not tables:
        reasons = "".join(f"; {text}" for text in left_out)
        expected = "expected reads, writes or stats"
        raise ValueError(f"{log.path}: no request on a file{reasons}: {expected}")
    head = [
        f"# Made from the {source} of {_one_line(log.path.name)}.",
        *(f"# Assumed: {_one_line(text)}." for text in assumptions),
        *(f"# Left out: {_one_line(text)}." for text in left_out),
        f"name = {toml_value(log.path.stem)}",
        f'system = "{system}"',
        "",
        "[clients]",
        f"count = {clients}",
        f"processes = {processes // clients}",
        *([f"groups = {{ first = 1, others = {clients - 1} }}"] if clients > 1 else []),
        "",
        SYSTEM,
    ]
    return DarshanWorkload(
        toml="\n".join(head) + "\n" + "\n".join(tables),
        source=source,
        processes=processes,
        clients=clients,
        workloads=len(tables),
        assumptions=assumptions,
        left_out=left_out,
    )


def _clients(log: DarshanLog) -> tuple[int, list[str]]:
    """Number of clients, a divisor of the number of processes, and what is assumed."""
    processes = log.header.processes
    hosts = len(set(log.hosts.values()))
    if hosts and len(log.hosts) == processes and processes % hosts == 0:
        return hosts, []
    most = min(PROCESSES_PER_CLIENT, processes)
    each = next(number for number in range(most, 0, -1) if processes % number == 0)
    text = f"{each} processes on each client, because the log does not name all hosts"
    return processes // each, [text]


def patterns(log: DarshanLog) -> list[Pattern]:
    """Access patterns of a log's counters; each byte of the log is in one of them."""
    patterns_: dict[tuple[str, str, bool, int, bool], Pattern] = {}
    data = data_records(log)
    for direction in ("READ", "WRITE"):
        for record, shared, collective in _accesses(log, data, direction):
            sizes, _ = request_sizes(record.sizes(direction))
            bins = np.searchsorted([high for _, _, high in BINS], sizes)
            for number in np.unique(bins).tolist():
                part = sizes[bins == number]
                key = (record.module, direction.lower(), shared, number, collective)
                pattern = patterns_.get(key)
                if pattern is None:
                    pattern = patterns_[key] = Pattern(
                        record.module, direction.lower(), shared, is_collective=collective
                    )
                _add(pattern, record, direction, part)
    return list(patterns_.values())


def _assumptions(patterns_: Sequence[Pattern]) -> list[str]:
    texts = []
    if any(pattern.is_collective for pattern in patterns_):
        texts.append("collective calls of MPI-IO run as two-phase I/O")
    if patterns_:
        texts += [
            "requests of one size bin have their mean size, and all processes make equally many",
            "patterns run concurrently, and not one after another as recorded",
            "a process makes its next request when the last one is done",
        ]
    return texts


def _accesses(
    log: DarshanLog, data: DataRecords, direction: str
) -> Iterator[tuple[RecordCounters, bool, bool]]:
    """Yield the records with requests of a direction, each once, and whether several processes
    share the file and access it collectively.

    Where processes exchanged the data of collective calls, the records of MPI-IO stand for all
    POSIX records of the file.
    """
    files: dict[tuple[str, int], list[RecordCounters]] = defaultdict(list)
    for record in data.used:
        files[record.module, record.identifier].append(record)
    mpiio: dict[int, list[RecordCounters]] = defaultdict(list)
    for record in data.above:
        if record.module == "MPI-IO":
            mpiio[record.identifier].append(record)
    for (module, identifier), records in files.items():
        shared = log.header.processes > 1 and (len(records) > 1 or records[0].rank < 0)
        above = records if module == "MPI-IO" else mpiio[identifier] if module == "POSIX" else []
        calls = sum(record.requests(direction) for record in above)
        requests = sum(record.requests(direction) for record in records if module == "POSIX")
        collective = sum(record[f"COLL_{direction}S"] for record in above)
        # One process may make the POSIX calls for all.
        together = shared or len(above) > 1 or any(record.rank < 0 for record in above)
        is_collective = calls > 0 and collective >= COLLECTIVE_SHARE * calls
        exchanged = together and is_collective and requests < AGGREGATED * calls
        # POSIX does not see the calls of some MPI libraries.
        for record in above if exchanged or (calls and not requests) else records:
            if record.requests(direction):
                yield record, shared or exchanged, exchanged


def _add(pattern: Pattern, record: RecordCounters, direction: str, sizes: Sizes) -> None:
    pattern.files.add(record.identifier)
    if record.rank >= 0:
        pattern.ranks.add(record.rank)
    pattern.requests += len(sizes)
    pattern.bytes += int(sizes.sum())
    # Other modules do not classify their requests; they count as sequential.
    known = record.module == "POSIX"
    share = record[f"SEQ_{direction}S"] / record.requests(direction) if known else 1.0
    pattern.sequential += share * len(sizes)
    if end := record.seconds(f"F_{direction}_END_TIMESTAMP"):
        pattern.start_s = min(pattern.start_s, record.seconds(f"F_{direction}_START_TIMESTAMP"))
        pattern.end_s = max(pattern.end_s, end)


def _words(pattern: Pattern) -> str:
    kind = "shared" if pattern.is_shared else "own"
    return (
        f"{pattern.requests:,} {pattern.module} {pattern.direction}s of {pattern.bytes:,} B"
        f" on {len(pattern.files):,} {kind} files"
    )


def _table(pattern: Pattern, processes: int, clients: int, assumptions: list[str]) -> str:
    """A table with about the same requests and bytes."""
    is_own = not pattern.is_shared and len(pattern.files) >= processes
    files = max(1, round(len(pattern.files) / processes)) if is_own else len(pattern.files)
    transfer = max(1, round(pattern.bytes / pattern.requests))
    last = pattern.end_s
    first = pattern.start_s if last else 0.0
    lines = [f"# {_words(pattern)}, {first:.3f} s to {last:.3f} s", "[[workload]]"]
    if pattern.requests < files * processes:
        # Not every process makes one.
        assumptions.append(f"{_words(pattern)}: one client makes them")
        lines += _mix_lines(pattern, transfer, files, clients)
    else:
        lines += _ior_lines(pattern, files, processes, is_own)
        active = len(pattern.ranks)
        if 0 < active < processes:
            text = f"all processes make them, and not {active:,} as recorded"
            assumptions.append(f"{_words(pattern)}: {text}")
    return "\n".join(lines) + "\n"


def _ior_lines(pattern: Pattern, files: int, processes: int, is_own: bool) -> list[str]:
    each = max(1, round(pattern.requests / (files * processes)))
    # As many bytes as were recorded, where the requests cannot be divided equally.
    transfer = max(1, round(pattern.bytes / (files * processes * each)))
    lines = [
        'kind = "ior"',
        f"files = {files}",
        f'access = "{"file-per-process" if is_own else "shared"}"',
        f'block = "{transfer * each} B"',
        f'transfer = "{transfer} B"',
        f'phases = ["{pattern.direction}"]',
        "opens = true",
    ]
    if 1 - pattern.sequential / pattern.requests >= RANDOM_SHARE and each > 1:
        lines.append('order = "random"')
    if pattern.module == "STDIO":
        lines.append('io.interface = "library"')
    if pattern.is_collective and not is_own:
        lines.append('collective = "two-phase"')
    return lines


def _mix_lines(pattern: Pattern, transfer: int, files: int, clients: int) -> list[str]:
    lines = [
        'kind = "operation-mix"',
        f"weights = {{ {pattern.direction} = 1 }}",
        f"amount = {pattern.requests}",
        f"files = {files}",
        f'file_sizes = {{ "{max(transfer, pattern.bytes // files)} B" = 1 }}',
        f'{pattern.direction}_sizes = {{ "{transfer} B" = 1 }}',
    ]
    return lines if clients == 1 else [*lines, 'group = "first"']


def _metadata_table(log: DarshanLog, clients: int, assumptions: list[str]) -> str | None:
    """A table of kind "operation-mix" with the stats, and the opens of files that had no data."""
    weights: dict[str, int] = {"open": 0, "stat": 0}
    files: set[int] = set()
    for record in data_records(log).used:
        if record.module in ("STDIO", "MPI-IO"):
            continue
        idle = not record.all_requests()
        counts = {"open": record.opens() if idle else 0, "stat": record.stats()}
        for name, count in counts.items():
            weights[name] += count
            if count:
                files.add(record.identifier)
    total = sum(weights.values())
    if not total:
        return None
    assumptions.append("stats, and opens of files without data, are spread over the whole run")
    amount = max(1, round(total / clients))
    shown = ", ".join(f"{name} = {count}" for name, count in weights.items() if count)
    lines = [
        f"# {total:,} metadata operations on {len(files):,} files",
        "[[workload]]",
        'kind = "operation-mix"',
        f"weights = {{ {shown} }}",
        f"amount = {amount}",
        f"files = {max(1, len(files))}",
        'file_sizes = { "4 KiB" = 1 }',
    ]
    return "\n".join(lines) + "\n"


def _replay_table(log: DarshanLog) -> str:
    path = toml_value(str(log.path.absolute()))
    return f'[[workload]]\nkind = "trace"\nfile = {path}\nreplay = "closed"\n'


def _one_line(text: str) -> str:
    return "".join(
        " " if ord(character) < 0x20 or ord(character) == 0x7F else character for character in text
    )
