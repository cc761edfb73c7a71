"""The applications of a worksheet as clients and workloads of a scenario."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from headrace._core import Loaded, parse_bytes
from headrace.design.performance.access import PROCESSES, access, distribution
from headrace.design.performance.pacing import Pace
from headrace.design.performance.recorded import (
    PROBE,
    Recorded,
    Table,
    TrainingNeed,
    call_size,
    complete,
    file_size,
    preset,
    recorded,
    training_need,
)
from headrace.design.performance.scenario_text import ScenarioText
from headrace.design.performance.system import device_arrays, layout_servers
from headrace.design.system import Design
from headrace.design.worksheet import Application, ClientGroup, Worksheet
from headrace.quantities import binary_size, written_rate, written_time

MOST_PROCESSES = 2048
"""Simulated processes, at most."""
CLIENT_MEMORY = 1 << 30
"""Bytes of a client's memory (declared: little, so that the servers are measured)."""
DIRTY = 256 << 20
"""Bytes that all clients together may have written and not yet sent (declared: likewise)."""
LEAST_DIRTY = 1 << 20
MOST_DIRTY = 32 << 20
"""Bounds of what a client has for one array of a server."""
DIRTY_IN_MEMORY = 10
"""Times such data that a client's memory holds."""
WRITTEN_ONCE = 16 << 30
"""Bytes that a process writes where a file is written once: more than a short run takes."""
CLIENT_CORES = 8
"""Cores of a client (declared)."""
SYSTEM_CALL = 1e-6
"""Seconds of a system call (declared: as in `scenarios/nfs.toml`)."""
LEAST_STEPS = 24
"""Steps that the accelerators of a training can make in a simulation, at least (declared: their
loaders end batches together, so that a few rounds of loaders count)."""
MOST_FILES = 2000
"""Files of a process, at most."""
MOST_PRESET_FILES = 500_000
"""Files of all processes of a preset, at most."""
WHOLE_FILES = 64 << 20
"""Bytes of a file up to which opening it is simulated."""


class ApplicationLoad(NamedTuple):
    """An application as it is simulated."""

    application: Application
    groups: tuple[str, ...]
    """Groups of simulated clients."""
    processes: int
    """Simulated processes in all."""
    transfer: int | None
    """Bytes of a call, if all have one size."""
    repeats: bool
    """Whether it goes on until the run ends."""
    notes: tuple[str, ...]
    callers: int = 1
    """Processes of the real clients, or loaders of a training."""
    need: TrainingNeed | None = None
    """What it takes, if it is a training."""
    sections: tuple[int, ...] = ()
    """Numbers of its workloads in the scenario."""


class _Part(NamedTuple):
    """Clients of a group that do the same."""

    group: str
    application: Application
    workloads: tuple[Table, ...]
    clients: int
    processes: float
    """Processes of a client."""
    source_rate: float | None
    notes: tuple[str, ...]
    share: float = 1.0
    """Part of the application's bytes."""
    need: TrainingNeed | None = None


def write_applications(
    text: ScenarioText,
    design: Design,
    worksheet: Worksheet,
    *,
    directory: Path,
    most_clients: int,
    pace: Pace,
    scale: float = 1.0,
    seconds: float,
) -> tuple[tuple[ApplicationLoad, ...], tuple[str, ...], float]:
    """Add clients and workloads to a scenario.

    Args:
        text: The scenario.
        design: The system that they use.
        worksheet: The applications and the groups of clients.
        directory: Directory that files of the worksheet are relative to.
        most_clients: Simulated clients, at most.
        pace: Pauses between calls.
        scale: Real servers for each that is simulated: of the clients the same part is.
        seconds: Simulated seconds.

    Returns:
        Applications as they are simulated, the simplifications for all of them, and the seconds
        that suffice for the steps of trainings.

    Raises:
        ValueError: An application cannot run on the file system, or a file of it cannot be read.
    """
    notes: list[str] = []
    parts = [
        part
        for application in worksheet.applications
        for part in _parts(application, design, worksheet, directory)
    ]
    counts, processes, fold = _folded(parts, most_clients, scale, notes)
    _write_clients(
        text, design, dict(zip([it.group for it in parts], counts, strict=True)), processes, fold
    )
    files = _files_left(parts, counts, processes)
    seconds = max([seconds, *(LEAST_STEPS * part.need.step for part in parts if part.need)])
    sections = iter(range(sum(len(part.workloads) for part in parts)))
    loads: dict[str, ApplicationLoad] = {}
    for part, count in zip(parts, counts, strict=True):
        simulated = count * processes
        repeats = True
        name = part.application.name
        transfers: set[int] = set()
        part_notes = [*part.notes]
        for workload in part.workloads:
            shaped, whole = _endless(workload, design.file_system == "hdfs", part_notes)
            complete_shaped = _complete(shaped)
            transfer = _transfer(complete_shaped)
            transfers.add(transfer or 0)
            kind = complete_shaped.get("kind", "ior")
            if kind == "ior":
                _fill_files(shaped, files, simulated, processes, fold)
                if part.application.synchronous:
                    shaped["sync_per_write"] = True
            elif part.application.synchronous:
                part_notes.append(f"writes of the kind {kind} are not synchronous")
            think = _think(part, transfer, simulated * scale, pace, _calls_each(complete_shaped))
            if think and kind in ("ior", "operation-mix"):
                shaped |= {"think": written_time(think), "think_distribution": "exponential"}
            if part.need is not None:
                steps = math.ceil(seconds / part.need.step) + 1
                shaped, whole = _training(shaped, complete_shaped, simulated, scale, steps), True
            repeats = repeats and whole
            text.section("[workload]")
            for key, value in shaped.items():
                text.value(key, value)
        known = loads.get(name)
        one = transfers.pop() if len(transfers) == 1 else 0
        if known is not None and known.transfer != one:
            one = 0
        loads[name] = ApplicationLoad(
            application=part.application,
            groups=(*(known.groups if known else ()), part.group),
            processes=simulated + (known.processes if known else 0),
            callers=(part.need.loaders if part.need else round(part.clients * part.processes))
            + (known.callers if known else 0),
            transfer=one or None,
            repeats=repeats and (known is None or known.repeats),
            notes=tuple(dict.fromkeys([*(known.notes if known else ()), *part_notes])),
            need=part.need,
            sections=(
                *(known.sections if known else ()),
                *(next(sections) for _ in part.workloads),
            ),
        )
    return tuple(loads.values()), tuple(notes), seconds


def client_groups(application: Application, worksheet: Worksheet) -> Sequence[ClientGroup]:
    """Return the groups of clients that an application runs on; all if it names none."""
    named = [client for client in worksheet.clients if client.name in application.clients]
    return named or worksheet.clients


def _parts(
    application: Application, design: Design, worksheet: Worksheet, directory: Path
) -> list[_Part]:
    notes: list[str] = []
    source = _recorded(application, worksheet, directory, notes)
    groups = client_groups(application, worksheet)
    clients = sum(group.count for group in groups) or 1
    if not groups:
        notes.append("clients are unknown: one is simulated")
    processes: float = application.processes or source.processes or PROCESSES
    if source.processes and not application.processes:
        processes = max(1, -(-source.processes // clients))
    table = source.workloads[0]
    need = training_need(
        application, complete(table) if "preset" in table else table, clients, source.processes
    )
    processes = processes if need is None else need.accelerators / clients
    rates = [(group.source_rate, group.count) for group in groups if group.source_rate is not None]
    source_rate = None
    if rates and sum(count for _, count in rates) == clients:
        source_rate = sum(each * count for each, count in rates) / clients
    striped = distribution(application, worksheet)
    workloads = tuple(source.workloads)
    if striped is not None and striped != (design.distribution == "striped"):
        if design.file_system in ("lustre", "pvfs2"):
            layout = {"servers": layout_servers(design, striped)}
            workloads = tuple(workload | {"layout": layout} for workload in workloads)
        else:
            notes.append(
                f"{design.file_system} distributes the files of all zones as the design says"
            )
    part = _Part(
        application.name,
        application,
        workloads,
        clients,
        processes,
        source_rate,
        tuple(notes),
        need=need,
    )
    return _write_once(part) if design.file_system == "hdfs" else [_grouped(part)]


def _grouped(part: _Part) -> _Part:
    workloads = tuple({"group": part.group} | workload for workload in part.workloads)
    return part._replace(workloads=workloads)


def _recorded(
    application: Application, worksheet: Worksheet, directory: Path, notes: list[str]
) -> Recorded:
    if application.profile is not None:
        return recorded(directory / application.profile)
    if application.preset is not None:
        table: Table = {"preset": application.preset}
        given = preset(application.preset)
        if application.transfer is not None and given.get("kind") == "ior":
            table["transfer"] = binary_size(application.transfer)
            block = max(parse_bytes(given["block"]), round(application.transfer))
            calls = -(-block // round(application.transfer))
            table["block"] = binary_size(calls * round(application.transfer))
        return Recorded((table,), None)
    does = access(application, worksheet)
    if does.assumed:
        notes.append("assumed: " + ", ".join(does.assumed))
    table = {"block": binary_size(does.file_size), "transfer": binary_size(does.transfer)}
    if does.pattern == "random":
        table["order"] = "random"
    if does.read_share >= 1:
        table["phases"] = ["read"]
    elif does.read_share <= 0:
        table["phases"] = ["write"]
    else:
        table |= {"phases": ["mixed"], "read_share": does.read_share}
    # In random order all files are opened before the first transfer.
    if does.file_size <= WHOLE_FILES and does.pattern == "sequential":
        table["opens"] = True
    return Recorded((table,), None)


def _write_once(part: _Part) -> list[_Part]:
    """Divide the processes into some that read and some that write, as files are written once.

    Raises:
        ValueError: The application writes at random places, or reads and writes one file.
    """
    readers, writers = [], []
    share = 0.0
    for workload in part.workloads:
        whole = complete(workload)
        kind, phases = whole.get("kind", "ior"), whole.get("phases", [])
        writes = kind != "ior" or "write" in phases or "mixed" in phases
        if kind != "ior" or (writes and whole.get("order", "sequential") != "sequential"):
            raise ValueError(
                f"{part.application.name}: HDFS files are written once, in order: expected an"
                " application that reads, or writes sequentially, or another file system"
            )
        if writes and whole.get("access") == "shared":
            raise ValueError(
                f"{part.application.name}: an HDFS file has one writer: expected files of its own"
                " for each process, or another file system"
            )
        reads = "read" in phases or "mixed" in phases
        share = float(whole.get("read_share", 0.5)) if reads and writes else float(reads)
        plain = {key: value for key, value in workload.items() if key != "read_share"}
        if share > 0:
            readers.append(plain | {"phases": ["read"]})
        if share < 1:
            writers.append(plain | {"phases": ["write"]})
    if not (readers and writers):
        return [_grouped(part)]
    total = round(part.clients * part.processes)
    reading = min(max(1, round(total * share)), max(1, total - 1))
    note = f"{share:.0%} of the processes read and the others write, as files are written once"

    def of(verb: str, workloads: list[Table], count: int, part_share: float) -> _Part:
        return _grouped(
            part._replace(
                share=part_share,
                group=f"{part.group} ({verb})",
                workloads=tuple(workloads),
                clients=max(1, math.ceil(count / part.processes)),
                processes=min(part.processes, count),
                notes=(*part.notes, note),
            )
        )

    return [
        of("reads", readers, reading, share),
        of("writes", writers, max(1, total - reading), 1 - share),
    ]


def _folded(
    parts: Sequence[_Part], most_clients: int, scale: float, notes: list[str]
) -> tuple[list[int], int, float]:
    """Return the simulated clients of each part, the processes of each, and the real clients that
    one stands for. Trainings have as many accelerators as in reality, or more by rounding."""
    real = sum(part.clients for part in parts) / scale
    streams = [part.clients * part.processes / scale for part in parts]
    factor = max(1.0, real / most_clients) * scale
    counts = [max(1, round(part.clients / factor)) for part in parts]
    accelerators = [math.ceil(number - 1e-9) for number in streams]
    exact = [number for number, part in zip(accelerators, parts, strict=True) if part.need]
    thinning = 1.0 if exact else min(1.0, MOST_PROCESSES / sum(streams))
    processes = max(1, round(sum(streams) * thinning / sum(counts)))
    if exact:
        common = math.gcd(*exact)
        processes = max(one for one in range(1, processes + 1) if common % one == 0)
        counts = [
            number // processes if part.need else max(1, round(number / processes))
            for number, part in zip(accelerators, parts, strict=True)
        ]
    elif len({part.processes for part in parts}) > 1 and len(parts) > 1:
        # All simulated clients have as many processes: their number makes up for it.
        counts = [max(1, round(number * thinning / processes)) for number in streams]
        notes.append(
            f"processes a client differ by application: all have {processes} here, and the number"
            " of clients is chosen so that each application has its processes"
        )
    fold = real / sum(counts)
    if factor > scale:
        notes.append(
            f"{sum(counts)} simulated clients stand for {real:.0f}: the card, memory and requests"
            f" in flight of each are those of {fold:.3g} clients"
        )
    if thinning < 1:
        notes.append(
            f"{sum(counts) * processes} processes stand for {sum(streams):.0f}, so that a"
            " run is short"
        )
    return counts, processes, fold


def _write_clients(
    text: ScenarioText, design: Design, counts: Mapping[str, int], processes: int, fold: float
) -> None:
    text.section("clients")
    text.value("count", sum(counts.values()))
    text.value("processes", processes)
    text.value("groups", counts)
    if fold != 1:
        text.section("clients.card")
        text.value(
            "bandwidth", written_rate(design.network.bandwidth * fold), f"{fold:.3g} clients in one"
        )
    usual = _client_defaults(design.file_system)
    in_flight = usual.get("rpc", {}).get("in_flight")
    if fold != 1 and isinstance(in_flight, int):
        text.section("clients.rpc")
        text.value("in_flight", max(1, round(in_flight * fold)), f"{fold:.3g} clients in one")
    if usual.get("kind") != "machine":
        return
    targets = design.nodes * device_arrays(design).in_server
    share = DIRTY / (sum(counts.values()) * fold * targets)
    limit = parse_bytes(usual["machine"].get("dirty_per_server", "0 B")) or MOST_DIRTY
    dirty = min(limit, max(LEAST_DIRTY, share))
    text.section("clients.machine")
    text.value(
        "dirty_per_server", binary_size(dirty * fold), "declared: little, to measure the servers"
    )
    text.section("clients.machine.memory")
    # Beyond a tenth of it, the kernel slows writers down.
    memory = max(CLIENT_MEMORY, DIRTY_IN_MEMORY * dirty * targets)
    text.value("size", binary_size(memory * fold), "declared: less than the files")
    text.section("clients.machine.cpu")
    text.value("cores", max(1, round(CLIENT_CORES * fold)), "declared")
    text.value("system_call", written_time(SYSTEM_CALL), "declared")


@lru_cache(maxsize=16)
def _client_defaults(file_system: str) -> Table:
    """Return the clients of a file system's preset."""
    text = PROBE.replace('"pvfs2"', f'"{file_system}"') + "\n[[workload]]\nblock = '1 MiB'\n"
    clients: Table = tomllib.loads(Loaded.from_text(text, "system.toml", []).toml)["clients"]
    return clients


def _endless(workload: Table, written_once: bool, notes: list[str]) -> tuple[Table, bool]:
    """Return a workload that goes on until the run ends, and whether it does."""
    whole = _complete(workload)
    kind = whole.get("kind", "ior")
    if kind == "ior":
        phases = whole.get("phases", ["write"])
        if written_once and "write" in phases:
            return workload | {"files": max(1, -(-WRITTEN_ONCE // file_size(whole)))}, False
        shaped = workload | {"repeat": "forever"}
        if "read" in phases and "write" in phases:
            notes.append("reads and writes are mixed, so that a short run has both")
            shaped |= {"phases": ["mixed"], "read_share": 0.5}
        return shaped, True
    if kind == "operation-mix":
        return workload | {"amount": "forever"}, True
    if kind == "mdtest":
        notes.append("phases of metadata operations are mixed, so that a short run has all")
        return _metadata_mix(workload, whole), True
    return dict(workload), False


def _training(workload: Table, whole: Table, number: int, scale: float, steps: int) -> Table:
    """Return a training with new samples for a number of steps, of which no epoch is the end."""
    batch, each = int(whole["batch"]), int(whole["samples_per_file"])
    files = number * math.ceil(steps * batch / each)
    return workload | {"files": max(files, math.ceil(int(whole["files"]) / scale)), "steps": 0}


MIXED_PHASES = {"find": "readdir"}
"""Operations of a mix for phases that have other names."""


def _metadata_mix(workload: Table, whole: Table) -> Table:
    """Return the operations of mdtest as a mix."""
    weights: dict[str, int] = {}
    bytes_each = parse_bytes(whole.get("bytes", "0 B"))
    for phase in whole.get("phases", ["create", "stat", "unlink"]):
        weights[MIXED_PHASES.get(phase, phase)] = 1
        if phase == "create" and bytes_each:
            weights["write"] = 1
    table: Table = {"group": workload["group"]} if "group" in workload else {}
    table |= {"kind": "operation-mix", "weights": weights, "files": MOST_FILES, "amount": "forever"}
    if bytes_each:
        sizes = {binary_size(bytes_each): 1}
        table |= {"file_sizes": sizes, "read_sizes": sizes, "write_sizes": sizes}
    return table


def _complete(workload: Table) -> Table:
    """Return a workload with its defaults, without its group of clients."""
    return complete({key: value for key, value in workload.items() if key != "group"})


def _transfer(whole: Table) -> int | None:
    """Return the bytes of a call of a workload with its defaults; None if calls differ."""
    return call_size(whole) if whole.get("kind", "ior") == "ior" else None


def _files_left(parts: Sequence[_Part], counts: Sequence[int], processes: int) -> int:
    """Return how many files a process may have."""
    return max(1, min(MOST_FILES, 200_000 // max(1, sum(counts) * processes)))


def _fill_files(workload: Table, most: int, number: int, processes: int, fold: float) -> None:
    """Give each of a number of processes as many files as a client's memory does not hold."""
    if "preset" in workload or "files" in workload:
        most = MOST_PRESET_FILES // number
        if int(_complete(workload).get("files", 1)) > most:
            workload["files"] = max(1, most)
        return
    bytes_ = 4 * CLIENT_MEMORY * fold / processes
    block = parse_bytes(workload["block"])
    files = max(1, min(most, -(-round(bytes_) // max(1, block))))
    if files > 1:
        workload["files"] = files


def _calls_each(whole: Table) -> float:
    """Return the calls of a workload with its defaults for each call that moves data: files are
    opened and closed."""
    if whole.get("kind", "ior") != "ior" or not whole.get("opens"):
        return 1.0
    return 1.0 + 2.0 * call_size(whole) / file_size(whole)


def _think(
    part: _Part, transfer: int | None, simulated: float, pace: Pace, calls_each: float
) -> float:
    """Return the seconds between calls of a process, so that it asks for no more than its pace and
    its source deliver."""
    processes = simulated * len(part.workloads) / part.share
    think = pace.think(part.application, transfer, processes, calls_each)
    if part.source_rate is not None and transfer is not None:
        limit = part.source_rate * part.clients * part.share / len(part.workloads)
        think = max(think, transfer * simulated / limit)
    return think
