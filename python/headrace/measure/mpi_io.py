"""IOR's phases by MPI-IO: MPI.File of mpi4py, with one process on each rank.

The result of a rank has the form of the load engine's (crates/load/src/outcome_merge.rs), which
merges and reports both alike. The data of a transfer is part of one random buffer, and is there
before the call.

Not supported: hints, file views and datatypes, O_DIRECT, a stonewall, pauses.
"""

import re
import struct
import time
import tomllib
from array import array
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np

from headrace import _core, ranks
from headrace.interruption import STOP_EXCEPTIONS
from headrace.measure.calls import COLLECTIVE
from headrace.measure.space import space_limit
from headrace.ranks.launcher import load_mpi
from headrace.store.record import scenario_fields

OnProgress: TypeAlias = Callable[..., object]
Key: TypeAlias = tuple[int, int, str, int]
"""Workload, phase, operation, and bytes of a call."""
MISSING = 'MPI-IO needs mpi4py: install it with pip install "headrace[mpi]"'
PLAIN = '[[workload]]\nkind = "ior"\nblock = "1 MiB"\n'
"""A scenario with the defaults of all fields."""
TAKEN = {
    *("block", "transfer", "segments", "access", "order", "phases", "turns", "opens"),
    *("rank_shift", "sync_per_write", "io.verify", "seed", "replications"),
}
"""Fields of a workload, and of the run, that have an effect."""
PLACES, APART = 1 << 14, 64
"""Places in the random buffer at which transfers begin, and bytes from one to the next."""
AGREEMENT = 16
"""Transfers after which ranks that call together agree to go on."""
REPORT_NS = 200_000_000
WINDOWS, SHORTEST_NS = 256, 10_000_000
"""Most windows of a series, and the shortest (crates/load/src/record/windows.rs)."""


class Access(msgspec.Struct, frozen=True):
    """A workload of kind "ior", with the fields of docs/reference/scenario/workload.md."""

    block: str
    transfer: str
    segments: int
    access: str
    order: Literal["sequential", "random"]
    phases: list[Literal["write", "sync", "read"]]
    rank_shift: int
    sync_per_write: bool
    io: dict[str, object]

    def offsets(self, process: int, processes: int, seed: Sequence[int]) -> np.ndarray:
        """Return the offsets of a process's transfers in their order, in bytes."""
        block, transfer = _core.parse_bytes(self.block), _core.parse_bytes(self.transfer)
        first, stride = (process, processes) if self.access == "shared" else (0, 1)
        starts = (np.arange(self.segments) * stride + first) * block
        offsets = np.add.outer(starts, np.arange(0, block, transfer)).ravel()
        if self.order == "random":
            return np.random.default_rng(seed).permutation(offsets)
        return offsets


def read_accesses(loaded: _core.Loaded, processes: int) -> list[Access]:
    """Return the workloads of a scenario, in the order in which they run.

    Raises ScenarioError for fields that MPI-IO does not follow, and ValueError without mpi4py.
    """
    document = tomllib.loads(loaded.toml)
    there = document["clients"]["count"] * document["clients"]["processes"]
    if there != processes:
        message = f"MPI-IO has one process on each rank: expected {processes} in all, not {there}"
        raise loaded.refusal("clients.processes", message)
    known = scenario_fields(_core.Loaded.measured(PLAIN, Path("plain.toml"), []).toml)
    for path, value in scenario_fields(loaded.toml).items():
        name = re.sub(r"^(workload\.\d+|run)\.", "", path)
        default = known.get(re.sub(r"^workload\.\d+", "workload.0", path))
        if name not in (path, *TAKEN) and value != default:
            raise loaded.refusal(path, "MPI-IO does not follow it: leave it out")
    try:
        accesses = msgspec.convert(document["workload"], list[Access])
    except msgspec.ValidationError as error:
        path = re.sub(r".*\$\[(\d+)\]\.(\w+).*", r"workload.\1.\2", str(error))
        raise loaded.refusal(path, f"MPI-IO does not follow it: {error}") from None
    load_mpi(MISSING)
    return accesses


def run(
    loaded: _core.Loaded, directory: _core.BenchmarkDirectory, calls: str, report: OnProgress
) -> dict[str, Any]:
    """Run this rank's part of all workloads, as `headrace._core.measure` does with `share`.

    Raises as `read_accesses` and `_core.check_room` do, and RunError or KeyboardInterrupt if files
    that are read cannot be made.
    """
    here = ranks.current()
    accesses = read_accesses(loaded, here.size)
    here.run_on_all(lambda: _core.check_room(loaded, directory.path, space_limit()))
    mpi = load_mpi(MISSING)
    communicator = here.duplicate() if here.total > 1 else mpi.COMM_SELF.Dup()
    try:
        path = Path(directory.path)
        return _Rank(mpi, communicator, path, loaded.seed, calls, report).run(accesses)
    finally:
        communicator.Free()


@dataclass
class _Rank:
    """The calls of one rank, in step with those of the others."""

    mpi: ModuleType
    communicator: Any  # MPI.Intracomm
    directory: Path
    seed: int
    calls: str
    report: OnProgress
    done: "dict[Key, array[int]]" = field(default_factory=lambda: defaultdict(lambda: array("q")))
    """Start and duration of each call, one after the other, in ns."""
    error: str | None = None
    interrupted: bool = False
    file: Any = None
    began_ns: int = 0
    reported_ns: int = 0

    def run(self, accesses: Sequence[Access]) -> dict[str, Any]:
        here = ranks.current()
        preparation_ns = time.perf_counter_ns()
        largest = max(_core.parse_bytes(access.transfer) for access in accesses)
        random = np.random.default_rng(self.seed)
        data = here.run_on_all(lambda: random.integers(0, 256, largest + PLACES * APART, np.uint8))
        started_s = 0.0
        try:
            for number, access in enumerate(accesses):
                if "write" not in access.phases:
                    self._phase(access, number, 0, "write", data)
            if self._all_stopped():
                raise KeyboardInterrupt if self.error is None else _core.RunError(self.error)
            self.done.clear()
            self.communicator.Barrier()
            started_s, self.began_ns = time.monotonic(), time.perf_counter_ns()
            for number, access in enumerate(accesses):
                for phase, name in enumerate(access.phases):
                    if name != "sync" and not self._all_stopped():
                        self._phase(access, number, phase, name, data)
            if self._all_stopped():
                self.interrupted = self.interrupted or self.error is None
        except STOP_EXCEPTIONS:
            # Without other ranks; these take note of signals, and stop together.
            if not self.began_ns:
                raise
            self.interrupted = True
        finally:
            if self.file and here.total == 1:
                self.file.Close()
        reason = "interrupted" if self.interrupted else "failed" if self.error else "workload"
        lasted, prepared = time.perf_counter_ns() - self.began_ns, self.began_ns - preparation_ns
        ended = {"reason": reason, "processes": 1}
        times = {"started": int(started_s * 1e9), "lasted": lasted, "prepared": prepared}
        error = {"error": self.error if reason == "failed" else None, "left_out": ()}
        part = msgspec.json.encode({"record": self._record(lasted), **ended, **times, **error})
        return {"part": part, "started_s": started_s, **ended}

    def _phase(self, access: Access, number: int, phase: int, name: str, data: np.ndarray) -> None:
        """Write or read the files of a workload, with the phase "sync" that follows."""
        processes, rank = self.communicator.Get_size(), self.communicator.Get_rank()
        process = (rank + access.rank_shift * (name == "read")) % processes
        offsets = access.offsets(process, processes, [self.seed, number, process])
        is_shared = access.access == "shared"
        file = 0 if is_shared else process
        path = str(self.directory / f"hr-f{number * processes + file}")
        writes, mpi = name == "write", self.mpi
        mode = mpi.MODE_WRONLY | mpi.MODE_CREATE if writes else mpi.MODE_RDONLY
        takers = self.communicator if is_shared else mpi.COMM_SELF
        agrees = is_shared and (self.calls == COLLECTIVE or access.sync_per_write)
        self.communicator.Barrier()
        self.file = self._timed((number, phase, "open", 0), mpi.File.Open, takers, path, mode)
        if self.file is None:
            return
        method = f"{name.capitalize()}_at{'_all' * (self.calls == COLLECTIVE)}"
        call, status = getattr(self.file, method), mpi.Status()
        size = _core.parse_bytes(access.transfer)
        buffer, key = np.empty(size, np.uint8), (number, phase, name, size)
        for at, offset in enumerate(offsets.tolist()):
            if self._stops(at, agrees=agrees):
                break
            place = (offset // size + file * 7919) % PLACES * APART
            expected = data[place : place + size]
            self._timed(key, call, offset, expected if writes else buffer, status)
            moved = status.Get_count(mpi.BYTE)
            if self.error is None and moved != size:
                self.error = f"{path}: {name} of {size} B at {offset}: {moved} B moved"
            if writes and access.sync_per_write:
                self._timed((number, phase, "sync", 0), self.file.Sync)
            if not writes and access.io["verify"] and not np.array_equal(buffer, expected):
                self.error = self.error or f"{path}: wrong data at {offset}"
        if writes and access.phases[phase + 1 : phase + 2] == ["sync"]:
            self._timed((number, phase + 1, "sync", 0), self.file.Sync)
        self._timed((number, phase, "close", 0), self.file.Close)
        self.file = None

    def _timed(self, key: Key, call: Callable[..., Any], *given: object) -> Any:
        """Call, take the time, and return the result; the first error is the one that counts."""
        begun = time.perf_counter_ns()
        try:
            result = call(*given)
        except self.mpi.Exception as error:
            text = re.sub(r"^\S+\.{3,}: ", "", error.Get_error_string().splitlines()[-1])
            self.error = self.error or f"{key[2]}: {text}"
            return None
        ended = time.perf_counter_ns()
        self.done[key].extend((begun - self.began_ns, ended - begun))
        if ended - self.reported_ns > REPORT_NS:
            self.reported_ns = ended
            counts = {key: len(times) // 2 for key, times in self.done.items()}
            amounts = []
            for name, _, _ in _core.operations():
                own = [(count, count * key[3]) for key, count in counts.items() if name in key]
                amounts.append((sum(count for count, _ in own), sum(moved for _, moved in own)))
            seconds = (ended - self.began_ns) * 1e-9 if self.began_ns else 0.0
            try:
                self.report(not self.began_ns, seconds, amounts, (0, 0))
            except Exception as error:
                # The other ranks wait for this one, so it ends with them.
                self.error = self.error or f"progress: {error}"
        return result

    def _stops(self, at: int, *, agrees: bool) -> bool:
        """Return whether to break off before a transfer. Ranks that call together agree on it;
        others report their own end to all."""
        communicator = self.communicator
        own = self._is_stopped()
        if agrees:
            return at % AGREEMENT == 0 and communicator.allreduce(own, op=self.mpi.LOR)
        if own:
            for rank in {*range(communicator.Get_size())} - {communicator.Get_rank()}:
                communicator.isend(None, rank).Wait()
        return own or communicator.iprobe()

    def _is_stopped(self) -> bool:
        self.interrupted = ranks.current().take_interrupt() or self.interrupted
        return self.interrupted or self.error is not None

    def _all_stopped(self) -> bool:
        """Return whether any rank has stopped, when all have come to the end of a phase."""
        any_stopped: bool = self.communicator.allreduce(self._is_stopped(), op=self.mpi.LOR)
        while self.communicator.iprobe():
            self.communicator.recv()
        return any_stopped

    def _record(self, lasted_ns: int) -> dict[str, object]:
        """Return all calls as the load engine has them (crates/load/src/record)."""
        length = SHORTEST_NS
        while lasted_ns // length >= WINDOWS:
            length *= 2
        operations = _core.operations()
        cells: list[object] = [None] * len(operations)
        windows: list[list[object]] = [[] for _ in operations]
        stretches = []
        for at, (name, _, _) in enumerate(operations):
            own = {key: np.reshape(a, (-1, 2)) for key, a in self.done.items() if name in key}
            if not own:
                continue
            for (workload, phase, _, size), times in own.items():
                place = {"operation": at, "workload": workload, "phase": phase}
                span = {"from": int(times[0, 0]), "to": int(times.sum(axis=1).max())}
                amount = {"count": len(times), "bytes": len(times) * size}
                stretches.append(place | span | amount)
            every = np.concatenate([*own.values()])
            took, ends = every[:, 1], every.sum(axis=1)
            sizes = np.repeat([key[3] for key in own], [len(times) for times in own.values()])
            amount = {"count": len(every), "bytes": int(sizes.sum()), "prepared": 0}
            cells[at] = amount | {"service": _times(took), "response": _times(took[:0])}
            for window in range(int(ends.max()) // length + 1):
                within = ends // length == window
                amount = {"count": int(within.sum()), "bytes": int(sizes[within].sum())}
                most = int(took[within].max(initial=0))
                windows[at].append(amount | {"service": int(took[within].sum()), "longest": most})
        reads = dict.fromkeys(("asked", "hits", "read_ahead", "unknown"), 0)
        over_time = {"length": length, "given": False, "of": windows}
        rest = {"unfinished": {}, "warm_up": 0, "reads": reads, "windows": over_time}
        return {"cells": cells, "stretches": stretches, **rest}


def _times(took_ns: np.ndarray) -> dict[str, object]:
    """Return times as the load engine has them: a histogram in the version 2 of HdrHistogram, and
    the exact figures."""
    # With three digits, a bucket has 1,024 places, of twice the width of those of the one before
    # it (HdrHistogram, countsArrayIndex).
    bucket = np.frexp((took_ns | 2047).astype(float))[1] - 11
    places = (bucket << 10) + (took_ns >> bucket)
    payload, zeros = bytearray(), 0
    for count in np.bincount(places.astype(np.int64), minlength=1).tolist():
        if count == 0:
            zeros += 1
            continue
        # Runs of zeros are negative; numbers have the sign in the lowest bit, and 7 bits a byte.
        for number in [2 * zeros - 1] * (zeros > 0) + [2 * count]:
            while number > 0x7F:
                payload.append(number & 0x7F | 0x80)
                number >>= 7
            payload.append(number)
        zeros = 0
    longest = max(int(took_ns.max(initial=1)) * 2, 3_600_000_000_000)
    head = struct.pack(">iiiiqqd", 0x1C849313, len(payload), 0, 3, 1, longest, 1.0)
    figures = (took_ns.sum(), took_ns.min(initial=longest), took_ns.max(initial=0))
    exact = dict(zip(("sum", "least", "most"), map(int, figures), strict=True))
    return {"histogram": [*head, *payload], "exact": exact if len(took_ns) else None}
