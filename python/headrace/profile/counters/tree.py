"""The process tree: processor time, threads, faults, calls and transfers (proc(5), /proc/PID).

A process that ended keeps its counters in the sums. When a parent waits for a child, the kernel
adds the child's time, faults and transfers to the parent's (wait(2)). Such a child is not counted
twice.

Not seen: processes that started and lost their parent between two samples.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from operator import add

from headrace.profile.counters.process import Process, Sums
from headrace.profile.counters.process_files import PAGE, TICKS, OpenFiles, parse_stat
from headrace.profile.counters.source import (
    Columns,
    Raw,
    Read,
    Source,
    Watched,
    per_second,
    with_prefix,
)

NAME = "tree"
MOST_SWITCHES = 64
"""Threads up to which context switches are read, as each costs a file of its own, and up to which
a sample has the time of each."""
TIMES = ("user", "system", "minor_faults", "major_faults")
TRANSFERS = {
    "rchar": "read_call_bytes_per_s",
    "wchar": "write_call_bytes_per_s",
    "syscr": "read_calls_per_s",
    "syscw": "write_calls_per_s",
    "read_bytes": "read_bytes_per_s",
    "write_bytes": "write_bytes_per_s",
}
"""Lines of /proc/PID/io in their order, and their columns."""
WAITS = ("io_wait", "voluntary", "involuntary")
STATES = {"R": "running", "D": "disk_wait", "S": "sleeping", "t": "traced"}
"""Columns by state; a thread in state t is stopped by a tracer, such as strace."""
COUNTERS = (*TIMES, *TRANSFERS, *WAITS)
IN_TICKS = ("user", "system", "io_wait")


class Tree:
    """The processes that descend from some, and their counters."""

    def __init__(self, watched: Watched, roots: Callable[[], Iterable[int]]) -> None:
        self._roots = roots
        self._watched = watched
        self._left_out = watched.left_out
        self._proc = str(watched.proc)
        self._files = OpenFiles()
        self._processes: dict[int, Process] = {}
        self._sums = Sums()
        self._last: dict[str, float] = {}
        self._begin = int(time.clock_gettime(time.CLOCK_BOOTTIME) * TICKS)
        self._finder = None if _has_children_files(self._proc) else ParentFinder(self._proc)
        self._has_io_wait = accounts_delays(self._proc)

    def read(self) -> Raw:
        """Return the sums over the tree, and the counters of each process."""
        self._discover()
        threads = sum(each.stat.threads if each.stat else 1 for each in self._processes.values())
        has_switches = threads <= MOST_SWITCHES
        missing: dict[int, Process] = {}
        # Children before their parents: the parent of a child that has ended then has its counters.
        for process in reversed(self._processes.values()):
            is_new = process.stat is None
            try:
                process.read(switches=has_switches, begin=self._begin)
            except (ProcessLookupError, FileNotFoundError):
                missing[process.number] = process
                continue
            except OSError:
                self._left_out[NAME] += 1
                missing[process.number] = process
                continue
            if is_new and process.stat is not None and process.stat.started < self._begin:
                self._sums.subtract_all(process)
        are_newer = any(each.children_faults_grown for each in self._processes.values())
        while True:
            if are_newer:
                # Some that were read may have ended since, and be in their parents' counters.
                missing |= {one.number: one for one in self._processes.values() if one.has_ended()}
            if not missing:
                break
            are_newer = self._drop(missing)
            missing = {}
        return self._raw(has_switches)

    def _discover(self) -> None:
        waiting: list[tuple[int, int | None]]
        waiting = [(number, None) for number in (*self._roots(), *self._processes)]
        if self._finder is not None:
            waiting += self._finder.descendants([number for number, _ in waiting])
        done = set()
        while waiting:
            number, parent = waiting.pop()
            if number in done:
                continue
            done.add(number)
            if number not in self._processes:
                self._processes[number] = Process(
                    self._files, self._proc, number, parent, self._watched
                )
            if self._finder is None:
                waiting += [(child, number) for child in self._processes[number].children()]

    def _drop(self, missing: dict[int, Process]) -> bool:
        """Remove ended processes. Add the counters that no parent has taken over to the sums.

        Return whether parents were read once more.
        """
        are_newer = False
        by_heir: dict[int | None, list[Process]] = {}
        for process in missing.values():
            by_heir.setdefault(self._heir(process, missing), []).append(process)
        for number, ended in by_heir.items():
            heir = None if number is None else self._processes[number]
            if heir is not None and any(child.parent != number for child in ended):
                # It may have been read before they ended.
                heir.refresh()
                are_newer = True
            for process in ended:
                waited_for = heir is not None and self._was_waited_for(process, ended, heir)
                if not waited_for:
                    self._sums.add_times(process)
                    self._sums.add_transfers(process)
                self._sums.add_waits(process)
        for number in missing:
            self._processes.pop(number).close()
        return are_newer

    def _was_waited_for(self, process: Process, ended: list[Process], heir: Process) -> bool:
        """Return whether a living process has the counters of an ended one below it, or will have
        them when it is read next."""
        parent = heir if process.parent is None else self._processes[process.parent]
        if parent is heir:
            return not heir.ignores_children
        # The parent has ended as well. Did it wait before it was last read, or later, or never?
        of_parent = sum(_faults(child, ended) for child in _children(parent, ended))
        if parent.children_faults_grown >= of_parent:
            return not parent.ignores_children
        of_heir = sum(_faults(child, ended) for child in _children(heir, ended))
        return not heir.ignores_children and heir.children_faults_grown >= of_heir

    def _heir(self, process: Process, missing: Collection[int]) -> int | None:
        """Return the nearest process above one that is still there."""
        above = process
        for _ in range(len(missing)):
            parent = above.parent
            if parent is None or parent not in self._processes:
                return None
            if parent not in missing:
                return parent
            above = self._processes[parent]
        return None

    def _raw(self, has_switches: bool) -> Raw:
        times, transfers, waits = self._sums.times, self._sums.transfers, self._sums.waits
        states: Counter[str] = Counter()
        busiest = delay = delays = resident = 0
        unknown = processes_alive = 0
        processes: Raw = {}
        threads: dict[str, int] = {}
        for process in self._processes.values():
            times = list(map(add, times, process.times))
            if (stat := process.stat) is None:
                continue
            moved = process.transfers
            if moved is not None:
                transfers = list(map(add, transfers, moved))
            if process.is_tracer:
                continue
            unknown += moved is None
            waits = list(map(add, waits, process.waits))
            there = process.threads
            for thread in there:
                states[thread.state] += 1
                delays += thread.delay_grown_ns
                threads[thread.path.rpartition("/")[2]] = thread.time or 0
                if thread.grown >= busiest:
                    busiest, delay = thread.grown, thread.delay_grown_ns
            processes_alive += bool(there)
            resident += stat.resident
            processes[str(process.number)] = [
                *(stat.name, stat.started, stat.times[0] / TICKS, stat.times[1] / TICKS),
                *(stat.resident * PAGE, *(moved[4:6] if moved else (None, None))),
            ]
        raw: Raw = self._increasing(dict(zip(COUNTERS, (*times, *transfers, *waits), strict=True)))
        if unknown and unknown == len(processes):
            for name in TRANSFERS:
                raw[name] = None
        if not has_switches:
            raw["voluntary"] = raw["involuntary"] = None
        if not self._has_io_wait:
            raw["io_wait"] = None
        raw |= {
            "busiest": busiest / TICKS,
            "busiest_delay": delay / 1e9,
            "delays": delays / 1e9,
            "threads": sum(states.values()),
            "states": dict(states),
            "resident": resident * PAGE,
            "begin": self._begin,
            "alive": processes_alive,
            "processes": processes,
        }
        if unknown:
            raw["without_transfers"] = unknown
        if processes_alive == 1 < len(threads) <= MOST_SWITCHES:
            raw["thread_times"] = {number: ticks / TICKS for number, ticks in threads.items()}
        return raw

    def _increasing(self, counters: dict[str, int]) -> Raw:
        """Return counters in seconds and units, not smaller than in the sample before.

        A child that ends while the tree is read may be missing from one sample.
        """
        for name, value in counters.items():
            now = value / TICKS if name in IN_TICKS else value
            self._last[name] = max(now, self._last.get(name, 0))
        return dict(self._last)


def _children(parent: Process, among: list[Process]) -> list[Process]:
    return [process for process in among if process.parent == parent.number]


def _faults(process: Process, ended: list[Process]) -> int:
    """Return the minor faults that the parent of an ended process gets at least, if the process
    has waited for its own children. Every process has some faults, even without a tick."""
    below = sum(_faults(child, ended) for child in _children(process, ended))
    # Some of them may have been in its counters when it was last read.
    return process.times[2] + max(below - process.children_faults_grown, 0)


class ParentFinder:
    """Find descendants by their parents, on kernels without lists of children."""

    def __init__(self, proc: str) -> None:
        self._proc = proc
        self._parents: dict[int, int] = {}

    def descendants(self, roots: Iterable[int]) -> list[tuple[int, int | None]]:
        """Return all processes below some with their parents, children before their parents."""
        there = {int(name) for name in os.listdir(self._proc) if name.isdigit()}
        self._parents = {child: parent for child, parent in self._parents.items() if child in there}
        for number in there - self._parents.keys():
            try:
                with open(f"{self._proc}/{number}/stat", "rb") as file:
                    stat = parse_stat(file.read())
            except OSError:
                continue
            if stat is not None:
                self._parents[number] = stat.parent
        parents: dict[int, int | None] = dict.fromkeys(roots)
        size = -1
        while size != len(parents):
            size = len(parents)
            below = {child: up for child, up in self._parents.items() if up in parents}
            parents |= {child: up for child, up in below.items() if child not in parents}
        return list(reversed(parents.items()))


def _has_children_files(proc: str) -> bool:
    return os.path.exists(f"{proc}/self/task/{os.getpid()}/children")


def accounts_delays(proc: str) -> bool:
    """Return whether the kernel counts waits for I/O (Linux, Documentation/accounting/
    delay-accounting.rst). It always does before 5.14, which has no such file."""
    try:
        with open(f"{proc}/sys/kernel/task_delayacct", "rb") as file:
            return file.read().strip() != b"0"
    except OSError:
        return True


def _open(watched: Watched) -> Read | None:
    return None if watched.roots is None else Tree(watched, watched.roots).read


SINCE_LAST = ("busiest", "busiest_delay", "delays")
"""Figures of a sample that count from the sample before it."""


def with_dropped(dropped: Raw, kept: Raw) -> Raw:
    """Return the counters of a sample whose predecessor is left out.

    The sum of the busiest threads' times is that of the busiest one, unless it is another thread
    each time.
    """
    return kept | {name: kept.get(name, 0.0) + dropped.get(name, 0.0) for name in SINCE_LAST}


def rates(before: Raw, after: Raw, seconds: float) -> Columns:
    """Return the figures of the whole tree."""

    def rate(name: str) -> float | None:
        then, now = before.get(name), after.get(name)
        return None if then is None or now is None else per_second(then, now, seconds)

    columns: Columns = {name: rate(name) for name in ("user", "system", "io_wait")}
    columns |= {f"{name}_per_s": rate(name) for name in ("major_faults", "minor_faults")}
    columns |= {column: rate(name) for name, column in TRANSFERS.items()}
    columns |= {f"{name}_switches_per_s": rate(name) for name in ("voluntary", "involuntary")}
    columns |= {column: float(after["states"].get(letter, 0)) for letter, column in STATES.items()}
    columns |= {
        "busiest_thread": after["busiest"] / seconds,
        # Recordings of earlier versions lack it.
        "busiest_thread_delay": after.get("busiest_delay", 0.0) / seconds,
        "core_wait": _or_busiest(after.get("delays"), after.get("busiest_delay"), seconds),
        **_short_lived(before, after, seconds),
        "threads": after["threads"],
        "processes": after["alive"],
        "resident_bytes": after["resident"],
    }
    return with_prefix(NAME, columns)


def _or_busiest(all_s: float | None, busiest_s: float | None, seconds: float) -> float | None:
    """Return the waits of all threads for a core, or those of the busiest one. Recordings of
    earlier versions have less."""
    known = busiest_s if all_s is None else all_s
    return None if known is None else known / seconds


def _short_lived(before: Raw, after: Raw, seconds: float) -> Columns:
    """Return the processor time of processes that started and ended in the interval, and the rate
    of new process numbers. An older process that ended in it is taken to have run until its end."""
    then, now = before["processes"], after["processes"]
    if not now:
        return {}
    begin = after["begin"]
    own = lived = 0.0
    for number, (_, started, user, system, *_rest) in now.items():
        known = then.get(number)
        if known is not None and known[1] == started:
            own += user + system - known[2] - known[3]
        elif started >= begin:
            own += user + system
    for number in then.keys() - now.keys():
        lived += max(then[number][2] + then[number][3], 0.0) > seconds / 2
    total = after["user"] + after["system"] - before["user"] - before["system"]
    numbers = [max(map(int, processes), default=0) for processes in (then, now)]
    newer = numbers[1] - numbers[0] if then and numbers[1] > numbers[0] else 0
    return {
        "short_lived": max(total - own - lived * seconds, 0.0) / seconds,
        "new_numbers_per_s": newer / seconds,
    }


SOURCE = Source(NAME, _open, rates)
