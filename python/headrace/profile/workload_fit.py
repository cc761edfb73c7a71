"""Fit a synthetic workload to a trace, and say how well it fits."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from headrace import simulate
from headrace._core import TRACE_NO_FILE, TRACE_OPERATIONS, ScenarioError
from headrace.document_io import STANDARD_INPUT, toml_value
from headrace.fields import convert
from headrace.plain_text import plain_line
from headrace.profile.characterise import Characteriser, characterise
from headrace.profile.characteristics import Characteristics, SizeClass, Steps
from headrace.profile.workload_candidates import CANDIDATES, Workload
from headrace.progress_events import OnStep
from headrace.trace import BATCH, Batch
from headrace.trace.darshan.workload import SYSTEM as SERVERS

SYSTEM = """name = "goodness of fit"
kind = "local"
system = "ext4"
[machine.device]
kind = "simple"
read_rate = "1 GB/s"
write_rate = "1 GB/s"
[run]
window = "1 h"
"""
"""Any system makes the same requests; this one is simulated fast."""
MIX = "operation-mix"
MOST_REQUESTS = 500_000
"""Requests that are simulated to judge a workload, at most."""

MOST_BYTES = 1 << 50
"""Bytes that a trace moves at most. The simulation of more would not end."""


class Goodness(msgspec.Struct, frozen=True, kw_only=True):
    """A comparison of the requests of a workload with those of the trace."""

    operation_distance: float
    """Total variation distance of the operations' shares: 0 if equal, 1 if disjoint."""
    read_size_distance: float | None
    """The same of the sizes, in classes of powers of two; None if neither reads. Requests of 0
    bytes count as 1."""
    write_size_distance: float | None
    sequential_share: float | None
    """Consecutive share of the workload's reads and writes that follow another."""
    recorded_sequential_share: float | None
    requests_ratio: float
    """Requests of the workload over records of the trace."""
    bytes_read_ratio: float | None
    bytes_written_ratio: float | None
    """Bytes over those of the trace; None if the trace has none."""
    score: float
    """Mean of the distances, of the difference of the sequential shares, and of 1 - r for each
    ratio r or 1/r, whichever is below 1: 0 for a perfect fit, 1 for the worst."""


class FittedWorkload(msgspec.Struct, frozen=True, kw_only=True):
    """A workload that resembles a trace."""

    kind: str
    toml: str
    """Clients and `[[workload]]`: with a system, a scenario."""
    workload: str
    """The `[[workload]]` alone."""
    processes: int
    """Its number of processes (`clients.processes`)."""
    goodness: Goodness
    not_reproduced: list[str]
    """Properties of the trace that the workload does not have."""
    others: dict[str, float]
    """Scores of the other kinds that were tried."""


class OperationShare(msgspec.Struct, frozen=True, kw_only=True):
    """An operation of a trace, a mix, or both. A mix counts operations as they are simulated."""

    operation: str
    recorded: float
    """Share of the trace's records."""
    fitted: float
    """Share of the mix's requests."""


class FittedMix(msgspec.Struct, frozen=True, kw_only=True):
    """A mix of operations that resembles a trace."""

    toml: str
    """A scenario with a system."""
    processes: int
    shares: list[OperationShare]
    goodness: Goodness
    not_reproduced: list[str]
    """Properties of the trace that the mix does not have."""


def fit_mix(
    trace: str | Path,
    system: str = "lustre",
    *,
    format: str | None = None,
    on_progress: OnStep | None = None,
) -> FittedMix:
    """Return the mix of operations that resembles a trace most, as a scenario of a system.

    Parameters:
        trace: A trace in any supported format, or a Darshan log.
        system: Preset of the system; its servers and network are those of Hindman 2011, section 4.

    Raises:
        ValueError: if the trace has no operation that a mix can have.
        OSError: if the trace cannot be read.
    """
    recorded = _recorded(trace, characterise(trace, format))
    workload = CANDIDATES[MIX](recorded)
    if workload is None:
        raise ValueError(f"{trace}: no operation that a mix can have: expected reads or writes")
    if on_progress is not None:
        on_progress(0, 1, MIX)
    played = _play(workload)
    quality = _goodness(workload, played, recorded)
    left_out = [*workload.not_reproduced, *_differences(recorded, quality)]
    return FittedMix(
        toml=_scenario(Path(trace), system, workload, left_out),
        processes=workload.processes,
        shares=_shares(_of_operations(recorded), _of_operations(played)),
        goodness=quality,
        not_reproduced=left_out,
    )


def _shares(recorded: Mapping[str, float], fitted: Mapping[str, float]) -> list[OperationShare]:
    totals = [sum(side.values()) or 1 for side in (recorded, fitted)]
    names = sorted({*recorded, *fitted}, key=lambda name: (-recorded.get(name, 0), name))
    return [
        OperationShare(
            operation=name,
            recorded=recorded.get(name, 0) / totals[0],
            fitted=fitted.get(name, 0) / totals[1],
        )
        for name in names
    ]


def _scenario(trace: Path, system: str, workload: Workload, left_out: Sequence[str]) -> str:
    """Return a scenario with a comment for each property that the workload lacks."""
    name = "standard input" if trace == STANDARD_INPUT else trace.name
    head = [
        f"# Fitted by headrace trace mix to {plain_line(name)}.",
        f"# Assumed: the system is {system} as in Hindman 2011, section 4.",
        *(f"# Left out: {plain_line(text)}." for text in left_out),
        f"name = {toml_value(name.partition('.')[0] or name)}",
        f'system = "{system}"',
        "",
        f"[clients]\ncount = 1\nprocesses = {workload.processes}",
        "",
        SERVERS,
    ]
    return "\n".join(head) + "\n" + workload.toml


def fit(
    trace: str | Path,
    characteristics: Mapping[str, Any] | None = None,
    *,
    format: str | None = None,
    on_progress: OnStep | None = None,
) -> FittedWorkload:
    """Return the workload that resembles a trace most.

    Each kind of workload that may fit is simulated, and its requests are compared with the trace.

    Parameters:
        trace: The trace.
        characteristics: The document of `characterise`, if there is one already.

    Raises:
        ValueError: if the trace has no read, write or other operation that a workload can have.
        OSError: if the trace cannot be read.
    """
    document = characterise(trace, format) if characteristics is None else characteristics
    recorded = _recorded(trace, document)
    fits = [
        (kind, workload)
        for kind, candidate in CANDIDATES.items()
        if (workload := candidate(recorded)) is not None
    ]
    fitted: dict[str, tuple[Workload, Goodness]] = {}
    for number, (kind, workload) in enumerate(fits):
        if on_progress is not None:
            on_progress(number, len(fits), kind)
        try:
            fitted[kind] = workload, goodness(workload, recorded)
        except ScenarioError:
            # No scenario has such sizes; they are those of a damaged trace.
            continue
    if not fitted:
        raise ValueError(
            f"{trace}: no operation that a workload can have: expected reads or writes"
        )
    best = min(fitted, key=lambda kind: fitted[kind][1].score)
    workload, quality = fitted[best]
    return FittedWorkload(
        kind=best,
        toml=workload.scenario(),
        workload=workload.toml,
        processes=workload.processes,
        goodness=quality,
        not_reproduced=[*workload.not_reproduced, *_differences(recorded, quality)],
        others={kind: file.score for kind, (_, file) in fitted.items() if kind != best},
    )


def _recorded(trace: str | Path, document: Mapping[str, Any]) -> Characteristics:
    recorded = convert(document, Characteristics)
    if recorded.bytes_read + recorded.bytes_written > MOST_BYTES:
        raise ValueError(f"{trace}: it moves more than 1 PiB: expected the trace of a program")
    return recorded


def goodness(workload: Workload, recorded: Characteristics) -> Goodness:
    """Simulate a workload and compare its requests with a trace."""
    return _goodness(workload, _play(workload), recorded)


def _play(workload: Workload) -> Characteristics:
    """Simulate a workload, and return the characteristics of its requests."""
    stop = f"stop.requests = {MOST_REQUESTS}\n"
    scenario = simulate.load(SYSTEM + stop + workload.scenario())
    requests = _Requests()
    simulate.run(scenario, requests=requests, server_series=False)
    return requests.finish()


def _goodness(workload: Workload, played: Characteristics, recorded: Characteristics) -> Goodness:
    # A workload that was cut off would have gone on in the same way.
    longer = workload.requests / played.records if played.records >= MOST_REQUESTS else 1.0
    sizes = [
        _distance(_of_sizes(played.request_sizes, way), _of_sizes(recorded.request_sizes, way))
        for way in ("reads", "writes")
    ]
    sequential = [_sequential_share(side.access) for side in (played, recorded)]
    ratios = [
        longer * played.records / recorded.records,
        _ratio(longer * played.bytes_read, recorded.bytes_read),
        _ratio(longer * played.bytes_written, recorded.bytes_written),
    ]
    operations = _distance(_of_operations(played), _of_operations(recorded)) or 0.0
    misses = [operations, *(size for size in sizes if size is not None)]
    misses += [_miss(ratio) for ratio in ratios if ratio is not None]
    if sequential[0] is not None and sequential[1] is not None:
        misses.append(abs(sequential[0] - sequential[1]))
    return Goodness(
        operation_distance=operations,
        read_size_distance=sizes[0],
        write_size_distance=sizes[1],
        sequential_share=sequential[0],
        recorded_sequential_share=sequential[1],
        requests_ratio=ratios[0] or 0.0,
        bytes_read_ratio=ratios[1],
        bytes_written_ratio=ratios[2],
        score=float(np.mean(misses)),
    )


class _Requests:
    """Takes in the single requests of a simulation, as the records of a trace."""

    def __init__(self) -> None:
        self._characteriser = Characteriser()
        self._begun = False

    def begin(self) -> None:
        """Requests of a run follow."""

    def add(self, requests: pl.DataFrame) -> None:
        for part in requests.iter_slices(BATCH):
            self._characteriser.add(_batch(part))

    def forget(self) -> None:
        """The run had no warm-up."""

    def finish(self) -> Characteristics:
        return self._characteriser.finish(_NoNames())


class _NoNames:
    """Names of simulated files, which have no meaning."""

    def file_names(self, numbers: Sequence[int]) -> list[str]:
        return [str(number) for number in numbers]

    process_names = file_names

    def skipped(self) -> str:
        return "[]"

    def cancel(self) -> None:
        pass

    def next_batch(self, max: int) -> Batch | None:
        return None


def _batch(requests: pl.DataFrame) -> Batch:
    count = requests.height
    issued = requests["issued_s"].to_numpy()
    operation = requests["operation"].cast(pl.String).cast(pl.Enum(TRACE_OPERATIONS))
    return {
        "time_ns": np.round(issued * 1e9).astype(np.int64),
        "process": requests["process"].to_numpy(),
        "operation": operation.to_physical().cast(pl.UInt8).to_numpy(),
        "file": requests["file"].to_numpy(),
        "offset": requests["offset_bytes"].to_numpy(),
        "size": requests["size_bytes"].to_numpy(),
        "duration_ns": np.round(requests["latency_s"].to_numpy() * 1e9).astype(np.int64),
        "flags": np.zeros(count, dtype=np.uint16),
        "other": np.full(count, TRACE_NO_FILE, dtype=np.uint32),
    }


def _distance(one: Mapping[Any, float], other: Mapping[Any, float]) -> float | None:
    """Return the total variation distance of two distributions, given by counts."""
    totals = sum(one.values()), sum(other.values())
    if not any(totals):
        return None
    if not all(totals):
        return 1.0
    kinds = {*one, *other}
    differences = (abs(one.get(it, 0) / totals[0] - other.get(it, 0) / totals[1]) for it in kinds)
    return sum(differences) / 2


def _of_sizes(classes: Sequence[SizeClass], direction: str) -> Mapping[int, float]:
    # A workload has no requests of 0 bytes, such as reads at the end of a file: it makes them 1.
    counts: Counter[int] = Counter()
    for entry in classes:
        counts[max(entry.to_bytes, 1)] += getattr(entry, direction)
    return counts


def _of_operations(characteristics: Characteristics) -> dict[str, float]:
    return {operation.operation: operation.count for operation in characteristics.operations}


def _sequential_share(steps: Steps) -> float | None:
    following = sum(msgspec.structs.astuple(steps)) - steps.first
    return steps.consecutive / following if following else None


def _ratio(replayed: float, recorded: float) -> float | None:
    return replayed / recorded if recorded else None


def _miss(ratio: float) -> float:
    return 1 - min(ratio, 1 / ratio) if ratio else 1.0


def _differences(recorded: Characteristics, quality: Goodness) -> Iterator[str]:
    """Statements of what any workload lacks, as far as the trace has it."""
    if recorded.mapped:
        yield f"accesses to mapped memory: {recorded.mapped:,} calls of mmap or msync"
    failed = sum(operation.failed for operation in recorded.operations)
    if failed:
        yield f"calls that failed: {failed:,}"
    empty = sum(one.reads + one.writes for one in recorded.request_sizes if not one.to_bytes)
    if empty:
        yield f"requests that moved 0 bytes: {empty:,}"
    if recorded.bursts.count > 1:
        yield f"bursts: {recorded.bursts.count:,}, apart by over {recorded.bursts.gap_s} s"
    if recorded.processes > 1:
        yield "dependencies between processes, and processes that start or end during the run"
    if quality.operation_distance > 0.05:
        yield f"shares of operations: distance {quality.operation_distance:.2f}"
    for name, distance in (
        ("read", quality.read_size_distance),
        ("write", quality.write_size_distance),
    ):
        if distance is not None and distance > 0.05:
            yield f"{name} sizes: distance {distance:.2f}"
