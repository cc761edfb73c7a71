"""Workloads that may resemble a trace, one function for each kind.

To add a kind, add a function and a line in `CANDIDATES`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from headrace.document_io import toml_value
from headrace.profile.characteristics import Characteristics
from headrace.quantities import binary_size


@dataclass(frozen=True)
class Workload:
    """A synthetic workload."""

    toml: str
    """The `[[workload]]`."""
    processes: int
    requests: int
    """Requests that it makes in all, about."""
    not_reproduced: tuple[str, ...] = ()

    def scenario(self) -> str:
        """Return the clients and the workload; only a system is missing."""
        return f"[clients]\ncount = 1\nprocesses = {self.processes}\n\n{self.toml}"


Candidate: TypeAlias = Callable[[Characteristics], Workload | None]

MOST_PROCESSES = 10_000
SIZES = 16
"""Different request sizes of a mix, at most."""
SECOND_DIRECTION = 0.02
"""Reads or writes below this share of the bytes do not make a workload one of both."""
MOST_SEQUENTIAL = 0.8
"""Share of the requests in sequential files that makes a program sequential."""


def ior(trace: Characteristics) -> Workload | None:
    """Requests of one size in files of one length."""
    reads, writes = _count(trace, "read"), _count(trace, "write")
    moves = reads + writes
    if not moves or not trace.bytes_read + trace.bytes_written:
        return None
    files = max(trace.heat.files, 1)
    processes = _processes(trace.moving_processes)
    order = _order(trace)
    phases, share = _phases(trace, reads, writes)
    transfer = _common_size(trace, "write" if "write" in phases else "read")
    own = files >= processes
    each = round(files / processes) if own else files
    parts = each * processes
    length = sum(entry.files * entry.mean_bytes for entry in trace.file_lengths)
    if order == "sequential":
        length = max(length, (trace.bytes_read + trace.bytes_written) / len(phases))
    block = max(round(length / parts / transfer), 1) * transfer
    per_phase = moves / len(phases)
    requests = max(round(per_phase / processes), 1)
    limited = requests < each * block // transfer
    opens = bool(_count(trace, "open") + _count(trace, "create"))
    fields = {
        "kind": "ior",
        "files": each,
        "block": binary_size(block),
        "transfer": binary_size(transfer),
        "order": order,
        "access": "file-per-process" if own else "shared",
        "phases": phases,
        **({"requests": requests} if limited else {}),
        **({"read_share": share} if share is not None else {}),
        **({"opens": True} if opens else {}),
        **({"sync_per_write": True} if trace.syncs.count >= writes / 2 > 0 else {}),
        **_think(trace, moves),
    }
    total = processes * len(phases) * min(requests, each * block // transfer)
    lacks = ("sizes other than the most common one", "files of different lengths")
    return Workload(_toml(fields), processes, total, lacks)


def pipeline(trace: Characteristics) -> Workload | None:
    """A file that is read, and another that is written, in turn."""
    moved = trace.bytes_read + trace.bytes_written
    if not moved or min(trace.bytes_read, trace.bytes_written) < SECOND_DIRECTION * moved:
        return None
    sequential = trace.access_patterns.get("sequential", 0)
    if sequential < MOST_SEQUENTIAL * (_count(trace, "read") + _count(trace, "write")):
        return None
    source = max(trace.busiest_files, key=lambda file: file.bytes_read)
    target = max(trace.busiest_files, key=lambda file: file.bytes_written)
    if source.bytes_read < MOST_SEQUENTIAL * trace.bytes_read:
        return None
    if target.bytes_written < MOST_SEQUENTIAL * trace.bytes_written:
        return None
    in_place = source.file == target.file
    if in_place and source.bytes_read != target.bytes_written:
        return None
    reads = max(source.reads, 1)
    # Reads at the end of the file return nothing.
    request = min(_common_size(trace, "read"), source.bytes_read)
    fields = {
        "kind": "pipeline",
        "input": binary_size(source.bytes_read),
        "output": binary_size(target.bytes_written),
        "request": binary_size(request),
        **({"sync": True} if trace.syncs.count else {}),
        **({"in_place": True} if in_place else {}),
        **_think(trace, reads, "compute_per_request"),
    }
    buffers = -(-source.bytes_read // request)
    lacks = ("opens, closes and look-ups", "other files than the most read and the most written")
    return Workload(_toml(fields), 1, 2 * buffers, lacks)


def operation_mix(trace: Characteristics) -> Workload | None:
    """All operations, drawn by their shares."""
    weights = {it.operation: it.count for it in trace.operations if it.operation not in NOT_IN_MIX}
    if not weights:
        return None
    amount = sum(weights.values())
    weights, unshared = _shared(trace, weights)
    alive = trace.concurrency.alive or trace.moving_processes or 1
    lengths = {
        max(round(length.mean_bytes), 1): length.files
        for length in sorted(trace.file_lengths, key=lambda entry: entry.to_bytes)
    }
    fields: dict[str, object] = {
        "kind": "operation-mix",
        "weights": weights,
        "amount": amount,
        "files": max(trace.heat.files, 1),
    }
    if lengths:
        fields["file_sizes"] = {binary_size(size): files for size, files in lengths.items()}
    for operation in ("read", "write"):
        if sizes := _sizes(trace, operation):
            fields[f"{operation}_sizes"] = {binary_size(n): count for n, count in sizes.items()}
    if (random_from := _random_from(trace)) is not None:
        fields["random_from"] = random_from
    hot = trace.heat.top_tenth_requests
    if hot is not None and trace.heat.files >= 10 and hot > 0.1:
        fields |= {"hot_files": 0.1, "hot_share": round(min(hot, 1.0), 4)}
    fields |= _think(trace, amount)
    if "think" in fields and _varies(trace):
        fields["think_distribution"] = "exponential"
    lacks = (
        "the order of operations: each is drawn for itself",
        *unshared,
        *_places(trace),
        *(f"{it.operation}: {it.count:,}" for it in trace.operations if it.operation in NOT_IN_MIX),
    )
    return Workload(_toml(fields), _processes(round(alive)), amount, lacks)


ALL_IN_ORDER = "1 PiB"
"""Length from which on requests are at random places, where no file is as long."""
NOT_IN_MIX = ("seek", "allocate")
"""Operations of traces that a mix does not have."""


def _shared(trace: Characteristics, weights: dict[str, int]) -> tuple[dict[str, int], list[str]]:
    """Return the weights, and the use of files that a mix does not have. One file among others that
    several processes use at random places gets the shared operations of a mix."""
    shared = trace.shared
    if shared is None or trace.moving_processes < 2 or trace.heat.files == shared.files:
        return weights, []
    if shared.files != 1 or 2 * shared.consecutive > shared.following:
        of_one = trace.heat.files - shared.files
        each = f"{of_one:,} are of one process, {shared.files:,} of several"
        return weights, [
            f"files of each process: all processes use all files; of the trace, {each}"
        ]
    parts = {"read": shared.reads, "write": shared.writes}
    own = {name: count - parts.get(name, 0) for name, count in weights.items()}
    split = own | {f"shared-{name}": count for name, count in parts.items()}
    return {name: count for name, count in split.items() if count}, []


def _random_from(trace: Characteristics) -> str | None:
    """Return the length of files from which on requests are at random places; None if all are.
    Most requests are then as in the trace."""
    classes = sorted(trace.file_lengths, key=lambda entry: entry.to_bytes)
    if not any(entry.following for entry in classes):
        return ALL_IN_ORDER if _order(trace) == "sequential" else None
    misses = sum(entry.consecutive for entry in classes)
    best: int | None = None
    least = misses
    for entry in classes:
        misses += entry.following - 2 * entry.consecutive
        if misses < least:
            best, least = entry.to_bytes + 1, misses
    if best is None:
        return None
    return ALL_IN_ORDER if best > classes[-1].to_bytes else binary_size(best)


def _places(trace: Characteristics) -> list[str]:
    """Statements of places in files that a mix does not have."""
    following = sum(entry.following for entry in trace.file_lengths)
    strided = trace.access.strided + trace.access.backward
    if strided > SECOND_DIRECTION * following:
        return [f"strided and backward requests: {strided:,}; in the mix they are random"]
    return []


def _varies(trace: Characteristics) -> bool:
    """Return whether the median of the think times is nearer to ln 2 of their mean, as of an
    exponential distribution, than to the mean."""
    times = trace.think_times
    return bool(times.mean_s and times.p50_s is not None and times.p50_s < 0.85 * times.mean_s)


def tree_copy(trace: Characteristics) -> Workload | None:
    """Directories of files that are read and written again."""
    creates, moved = _count(trace, "create"), trace.bytes_read + trace.bytes_written
    alike = abs(trace.bytes_read - trace.bytes_written) <= 0.2 * moved
    if creates < 4 or not moved or not alike:
        return None
    directories = min(max(_count(trace, "mkdir"), 1), creates)
    lengths = {
        binary_size(max(round(length.mean_bytes), 1)): length.files
        for length in sorted(trace.file_lengths, key=lambda entry: entry.to_bytes)
    }
    fields = {
        "kind": "tree-copy",
        "directories": directories,
        "files": max(round(creates / directories), 1),
        "file_sizes": lengths,
        "request": binary_size(max(size.bytes for size in trace.common_sizes)),
    }
    lacks = ("think times", "operations that are not part of a copy")
    return Workload(_toml(fields), 1, trace.records, lacks)


CANDIDATES: Mapping[str, Candidate] = {
    "ior": ior,
    "pipeline": pipeline,
    "operation-mix": operation_mix,
    "tree-copy": tree_copy,
}


def _count(trace: Characteristics, operation: str) -> int:
    return sum(each.count for each in trace.operations if each.operation == operation)


def _processes(number: int) -> int:
    return min(max(number, 1), MOST_PROCESSES)


def _order(trace: Characteristics) -> str:
    patterns = {name: count for name, count in trace.access_patterns.items() if name != "single"}
    most = max(patterns, key=patterns.__getitem__, default="sequential")
    return {"strided": "strided", "backward": "backward", "random": "uniform"}.get(
        most, "sequential"
    )


def _phases(trace: Characteristics, reads: int, writes: int) -> tuple[list[str], float | None]:
    """Phases, and the read share of a mixed one."""
    moved = trace.bytes_read + trace.bytes_written
    if trace.bytes_read < SECOND_DIRECTION * moved:
        return ["write"], None
    if trace.bytes_written < SECOND_DIRECTION * moved:
        return ["read"], None
    return ["mixed"], round(reads / (reads + writes), 4)


def _common_size(trace: Characteristics, operation: str) -> int:
    """Return the size that moves most bytes."""
    sizes = [size for size in trace.common_sizes if size.operation == operation and size.bytes]
    sizes = sizes or [size for size in trace.common_sizes if size.bytes]
    return max(sizes, key=lambda entry: entry.bytes * entry.count).bytes


def _sizes(trace: Characteristics, operation: str) -> dict[int, int]:
    """Return the most common sizes with their counts, and one for each class of the others."""
    exact = [entry for entry in trace.common_sizes if entry.operation == operation][:SIZES]
    sizes = {max(entry.bytes, 1): 0 for entry in exact}
    for one in exact:
        sizes[max(one.bytes, 1)] += one.count
    for kind in trace.request_sizes:
        all_of_class = kind.reads if operation == "read" else kind.writes
        known = [entry for entry in exact if kind.from_bytes <= entry.bytes <= kind.to_bytes]
        rest = all_of_class - sum(entry.count for entry in known)
        if rest > 0:
            size = max((kind.from_bytes + kind.to_bytes) // 2, 1)
            sizes[size] = sizes.get(size, 0) + rest
    return dict(sorted(sizes.items()))


def _think(trace: Characteristics, requests: int, name: str = "think") -> dict[str, str]:
    """Time between requests, such that the sum over the trace is the recorded one."""
    seconds = trace.think_times.total_s / requests
    if trace.span_s is None or seconds < 1e-9:
        return {}
    return {name: f"{round(seconds * 1e9)} ns"}


def _toml(fields: Mapping[str, object]) -> str:
    lines = [f"{name} = {toml_value(value)}" for name, value in fields.items()]
    return "[[workload]]\n" + "\n".join(lines) + "\n"
