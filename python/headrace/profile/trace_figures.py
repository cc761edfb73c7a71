"""Figures of a program's accesses, by name. The rules of `trace_findings.toml` compare them.

`figures` returns a figure only if the source has it: a rule on a missing figure finds nothing.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from statistics import median

import msgspec

from headrace.profile.access_totals import DIRECTIONS, Access, Accesses, is_stream

MOST_FILES = 5
"""Files listed as evidence."""
LEAST_TARGETS = 4
"""Object storage targets from which on their speeds are compared."""


class TraceFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of a program's accesses."""

    value: float
    unit: str
    """SI unit; "" for a ratio or a number."""
    files: list[str] = []
    """Files that contribute most, the first one most."""


Figures = dict[str, TraceFigure]


def figures(accesses: Accesses) -> Figures:
    """All figures of the accesses."""
    rows = [row for row in accesses.rows if not is_stream(row)]
    posix = [row for row in rows if row.is_lowest and row.interface != "stdio"]
    result: Figures = {"processes": _number(accesses.processes)}
    for name in ("unread_modules", "incomplete_modules"):
        modules = getattr(accesses, name)
        result[f"log.{name}"] = _number(len(modules), "", [f"module {one}" for one in modules])
    for direction in DIRECTIONS:
        result |= _direction(posix, direction, accesses.processes)
    _shares(result)
    result |= _alignment(posix)
    result |= _metadata(rows, posix, accesses)
    if accesses.source == "counters":
        # Processes of other traces need not be ranks that do the same.
        result |= _balance(posix, accesses.processes)
    result |= _interfaces(accesses, rows)
    result |= _stripes(posix, accesses.processes)
    return result


def _number(value: float, unit: str = "", files: Iterable[str] = ()) -> TraceFigure:
    return TraceFigure(value=float(value), unit=unit, files=list(files))


def _top(rows: Iterable[Access], weight: Callable[[Access], float]) -> list[str]:
    """Files with the largest weights."""
    weights: dict[str, float] = defaultdict(float)
    for row in rows:
        weights[row.file] += weight(row)
    order = sorted(weights, key=lambda name: (-weights[name], name))
    return [name for name in order if weights[name] > 0][:MOST_FILES]


def _shared(rows: list[Access], processes: int) -> set[str]:
    """Files that several processes access."""
    ranks: dict[str, set[str | None]] = defaultdict(set)
    for row in rows:
        if row.requests.get("read", 0) + row.requests.get("write", 0):
            ranks[row.file].add(row.process)
    return {name for name, who in ranks.items() if len(who) > 1 or (None in who and processes > 1)}


def _direction(rows: list[Access], direction: str, processes: int) -> Figures:
    used = [row for row in rows if row.requests.get(direction)]
    requests = sum(row.requests[direction] for row in used)
    moved = sum(row.bytes[direction] for row in used)
    result = {f"{direction}.requests": _number(requests), f"{direction}.bytes": _number(moved, "B")}
    if not requests:
        return result
    small = sum(row.small[direction] for row in used)
    files = _top(used, lambda row: row.small[direction])
    result[f"{direction}.mean_size"] = _number(moved / requests, "B")
    result[f"{direction}.small_requests"] = _number(small, "", files)
    result[f"{direction}.small_share"] = _number(small / requests, "", files)
    steps = sum(max(row.requests[direction] - row.first[direction], 0) for row in used)
    if steps:

        def out_of_order(row: Access) -> int:
            step = row.requests[direction] - row.first[direction]
            return max(step - row.ordered[direction], 0)

        jumps = sum(map(out_of_order, used))
        files = _top(used, out_of_order)
        result[f"{direction}.random_requests"] = _number(jumps, "", files)
        result[f"{direction}.random_share"] = _number(jumps / steps, "", files)
        result[f"{direction}.ordered_share"] = _number(1 - jumps / steps)
    shared = _shared(rows, processes)
    together = [row for row in used if row.file in shared]
    if together:
        count = sum(row.requests[direction] for row in together)
        small = sum(row.small[direction] for row in together)
        files = _top(together, lambda row: row.small[direction])
        result[f"{direction}.shared_small_requests"] = _number(small, "", files)
        result[f"{direction}.shared_small_share"] = _number(small / count, "", files)
    result |= _repeated(used, direction, moved)
    return result


def _repeated(used: list[Access], direction: str, moved: int) -> Figures:
    """Share of the bytes that were moved again, at the least: a file is not longer than its last
    byte."""
    by_file: dict[str, tuple[int, int]] = {}
    for row in used:
        total, extent = by_file.get(row.file, (0, 0))
        extent = max(extent, row.extent[direction])
        by_file[row.file] = (total + row.bytes[direction], extent)
    again = {name: max(total - extent, 0) for name, (total, extent) in by_file.items()}
    files = sorted((name for name in again if again[name]), key=lambda name: -again[name])
    repeated = sum(again.values())
    result = {f"{direction}.repeated_bytes": _number(repeated, "B", files[:MOST_FILES])}
    if moved:
        share = repeated / moved
        result[f"{direction}.repeated_share"] = _number(share, "", files[:MOST_FILES])
    return result


def _shares(result: Figures) -> None:
    for name, figure in (("request_share", "requests"), ("byte_share", "bytes")):
        read, write = result[f"read.{figure}"].value, result[f"write.{figure}"].value
        if read + write:
            result[f"read.{name}"] = _number(read / (read + write))
            result[f"write.{name}"] = _number(write / (read + write))


def _alignment(rows: list[Access]) -> Figures:
    result: Figures = {}
    for name, attribute in (("file", "misaligned"), ("memory", "memory_misaligned")):
        known = [row for row in rows if getattr(row, attribute) is not None]
        requests = sum(sum(row.requests.values()) for row in known)
        if not requests:
            continue

        def count(row: Access, attribute: str = attribute) -> int:
            return int(getattr(row, attribute))

        total = sum(map(count, known))
        files = _top(known, count)
        result[f"misaligned.{name}_requests"] = _number(total, "", files)
        result[f"misaligned.{name}_share"] = _number(total / requests, "", files)
    return result


def _metadata(rows: list[Access], posix: list[Access], accesses: Accesses) -> Figures:
    # Calls of MPI-IO are carried out by POSIX calls, which are counted.
    rows = [row for row in rows if row.is_lowest]
    operations = sum(row.metadata for row in rows)
    data = sum(sum(row.requests.values()) for row in rows)
    seconds = sum(row.metadata_s for row in rows)
    total_s = seconds + sum(sum(row.seconds.values()) for row in rows)
    by_process: dict[str | None, float] = defaultdict(float)
    for row in rows:
        by_process[row.process] += row.metadata_s
    together_s = by_process.pop(None, 0.0) / max(accesses.processes, 1)
    files = _top(rows, lambda row: row.metadata)
    result = {
        "metadata.operations": _number(operations, "", files),
        "metadata.most_s": _number(max(by_process.values(), default=0.0) + together_s, "s"),
    }
    if operations + data:
        share = operations / (operations + data)
        result["metadata.operation_share"] = _number(share, "", files)
    if total_s:
        slow = _top(rows, lambda row: row.metadata_s)
        result["metadata.time_share"] = _number(seconds / total_s, "", slow)
    result |= _opens(rows, accesses.processes)
    writes = sum(row.requests.get("write", 0) for row in posix)
    syncs = sum(row.syncs for row in posix)
    if writes:
        syncing = _top(posix, lambda row: row.syncs)
        result["sync.per_write"] = _number(syncs / writes, "", syncing)
        result["sync.count"] = _number(syncs, "", syncing)
    return result


def _opens(rows: list[Access], processes: int) -> Figures:
    """Opens of one file by one process: the mean of the file with the most."""
    opens: dict[str, int] = defaultdict(int)
    openers: dict[str, int] = defaultdict(int)
    for row in rows:
        if row.opens:
            opens[row.file] += row.opens
            openers[row.file] += 1 if row.process is not None else processes
    if not opens:
        return {}
    repeats = {name: opens[name] / max(openers[name], 1) for name in opens}
    files = sorted(repeats, key=lambda name: (-repeats[name], name))[:MOST_FILES]
    return {
        "open.count": _number(sum(opens.values())),
        "open.most_per_process": _number(repeats[files[0]], "", files),
    }


def _balance(rows: list[Access], processes: int) -> Figures:
    """Differences between processes, as a share of the larger value."""
    result: Figures = {}
    together = [row for row in rows if row.process is None and processes > 1]
    if together:
        time = {row.file: _difference(row.slowest_s or 0, row.fastest_s or 0) for row in together}
        moved = {
            row.file: _difference(row.slowest_bytes or 0, row.fastest_bytes or 0)
            for row in together
        }
        result["shared.time_imbalance"] = _worst(time)
        result["shared.byte_imbalance"] = _worst(moved)
        slowest = max((row.slowest_s or 0 for row in together), default=0)
        result["shared.slowest_s"] = _number(slowest, "s")
    for direction in DIRECTIONS:
        by_file: dict[str, list[int]] = defaultdict(list)
        for row in rows:
            if row.process is not None:
                by_file[row.file].append(row.bytes.get(direction, 0))
        imbalances = {
            name: _difference(max(each), min(each))
            for name, each in by_file.items()
            if len(each) > 1
        }
        if imbalances:
            result[f"{direction}.file_imbalance"] = _worst(imbalances)
    if processes > 1 and not together:
        by_process: dict[str, int] = defaultdict(int)
        for row in rows:
            by_process[str(row.process)] += sum(row.bytes.values())
        total = sum(by_process.values())
        if total:
            most = max(by_process.values())
            result["process.largest_byte_share"] = _number(most / total)
            result["process.byte_imbalance"] = _number(1 - total / processes / most)
    return result


def _difference(one: float, other: float) -> float:
    larger = max(one, other)
    return abs(one - other) / larger if larger else 0.0


def _worst(values: dict[str, float]) -> TraceFigure:
    order = sorted(values, key=lambda name: (-values[name], name))
    files = [name for name in order if values[name] > 0][:MOST_FILES]
    return _number(values[order[0]], "", files)


def _interfaces(accesses: Accesses, rows: list[Access]) -> Figures:
    if accesses.source != "counters":
        return {}
    moved: dict[str, int] = defaultdict(int)
    for row in accesses.rows:
        if row.is_lowest:
            kind = "stream" if is_stream(row) else row.interface
            moved[kind] += sum(row.bytes.values())
    total = sum(moved.values())
    result: Figures = {"mpi_io.used": _number(bool(accesses.has_mpi_io))}
    if total:
        stdio = [row for row in rows if row.interface == "stdio"]
        files = _top(stdio, lambda row: sum(row.bytes.values()))
        result["stdio.byte_share"] = _number(moved["stdio"] / total, "", files)
        result["stream.byte_share"] = _number(moved["stream"] / total)
        result["job.bytes"] = _number(total, "B")
    mpi_io = [row for row in rows if row.interface == "mpi-io"]
    for direction in DIRECTIONS:
        calls = sum(row.requests.get(direction, 0) for row in mpi_io)
        result[f"mpi_io.{direction}_calls"] = _number(calls)
        if not calls:
            continue
        collective = sum(row.collective[direction] for row in mpi_io)

        def independent(row: Access, direction: str = direction) -> int:
            return row.requests[direction] - row.collective[direction]

        files = _top(mpi_io, independent)
        result[f"mpi_io.{direction}_independent"] = _number(calls - collective, "", files)
        result[f"mpi_io.{direction}_independent_share"] = _number(1 - collective / calls, "", files)
        result[f"mpi_io.{direction}_collective_share"] = _number(collective / calls)
        asynchronous = sum(row.non_blocking[direction] for row in mpi_io)
        result[f"mpi_io.{direction}_blocking_share"] = _number(1 - asynchronous / calls)
    return result


def _stripes(rows: list[Access], processes: int) -> Figures:
    """Lustre layouts: large shared files on one target, and targets slower than the others."""
    result: Figures = {}
    shared = _shared(rows, processes)
    narrow = {
        row.file: sum(row.bytes.values()) for row in rows if row.stripes == 1 and row.file in shared
    }
    if narrow:
        files = sorted(narrow, key=lambda name: -narrow[name])[:MOST_FILES]
        result["stripes.narrow_bytes"] = _number(narrow[files[0]], "B", files)
    times: dict[int, float] = defaultdict(float)
    moved: dict[int, int] = defaultdict(int)
    for row in rows:
        if len(row.targets) == 1:
            times[row.targets[0]] += sum(row.seconds.values())
            moved[row.targets[0]] += sum(row.bytes.values())
    each = {target: times[target] / moved[target] for target in times if moved[target]}
    if len(each) >= LEAST_TARGETS and (middle := median(each.values())):
        worst = max(each, key=lambda target: each[target])
        result["target.slowest_ratio"] = _number(
            each[worst] / middle, "", [f"object storage target {worst}"]
        )
    return result
