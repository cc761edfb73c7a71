"""Warnings about conditions that make a measurement unreliable."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from headrace._core import Loaded
from headrace.io500 import Phase
from headrace.measure.calls import NULL
from headrace.measure.report import CounterMeans, EngineReport, OperationFigures, ResultWarning
from headrace.quantities import size

STEAL = 0.02
OTHERS = 0.10
OWN = 0.90
PREPARATION = 0.5
FULL = 0.95
"""Shares from which on a warning is given. Below them, the effect on a figure is less than its
usual spread."""
THROUGH_THE_CACHE = ("read", "fread", "read-write", "mmap", "shared-read", "shared-read-write")
"""Operations that the page cache may answer."""
BALLOONS = Path("/sys/bus/virtio/drivers/virtio_balloon")
REPORTING = 5
"""The bit of the feature."""
NEARLY = 0.99
"""Part of a stonewall that a phase lasts that came to it: what comes before the first operation and
behind the last one is not in its time."""
SHORT_S = 0.5
"""Shorter times than this are too few ticks of 10 ms, which processor times are counted in."""


@dataclass(frozen=True)
class Measured:
    """Figures of a measurement on one host, from which its conditions follow."""

    calls: str
    processes: int
    seconds: float
    """Seconds that were measured."""
    file_bytes: int
    """Bytes of the benchmark's files."""
    operations: Mapping[str, OperationFigures]
    counters: CounterMeans
    direct: bool
    """True if the page cache was bypassed."""
    free: float
    """Free share of the file system at the end."""
    early: Sequence[int] = ()
    """Workloads of which a writing phase ended before its stonewall."""


def conditions(measured: Measured) -> list[ResultWarning]:
    """Return the warnings of a measurement."""
    failed = ((condition, check(measured)) for condition, check in CHECKS.items())
    return [ResultWarning(condition, message) for condition, message in failed if message]


def _no_calls(measured: Measured) -> str | None:
    if measured.calls != NULL:
        return None
    return (
        "no calls were made (--calls null): the figures show"
        " the benchmark's own cost, not that of the storage"
    )


def _fits_in_memory(measured: Measured) -> str | None:
    held, memory = measured.file_bytes, psutil.virtual_memory().total
    reads = any(
        counted.bytes and name in THROUGH_THE_CACHE for name, counted in measured.operations.items()
    )
    if measured.direct or not reads or held > memory or measured.calls == NULL:
        return None
    return (
        f"the files hold {size(held)} and memory {size(memory)}: reads may come from the page cache"
    )


def _oversubscribed(measured: Measured) -> str | None:
    processes, processors = measured.processes, measured.counters.processors
    if processes <= processors:
        return None
    return (
        f"{processes} processes share {processors} processors:"
        " latencies include the wait for a processor"
    )


def _generator_was_the_limit(measured: Measured) -> str | None:
    processors = measured.counters.processors
    share = measured.counters.cpu_own * processors / min(measured.processes, processors)
    if share >= OWN and measured.seconds >= SHORT_S:
        return (
            f"the processes computed for {share:.0%} of their time, system calls included: the"
            " processor was the limit, not the storage"
        )
    prepared = sum(operation.prepare_seconds for operation in measured.operations.values())
    share = prepared / max(measured.seconds * measured.processes, 1e-9)
    if share >= PREPARATION:
        return f"preparing operations took {share:.0%} of the processes' time"
    return None


def _others_computed(measured: Measured) -> str | None:
    counters = measured.counters
    others = min(counters.cpu_user + counters.cpu_system, 1.0) - counters.cpu_own
    if others < OTHERS or measured.seconds < SHORT_S:
        return None
    return f"other programs and kernel threads used {others:.0%} of the processors"


def _steal(measured: Measured) -> str | None:
    steal = measured.counters.cpu_steal
    if steal < STEAL or measured.seconds < SHORT_S:
        return None
    return f"this is a virtual machine, and {steal:.0%} of its processor time was stolen by others"


def _memory_given_back(measured: Measured) -> str | None:
    moved = any(counted.bytes for counted in measured.operations.values())
    if measured.direct or not moved or measured.calls == NULL or not memory_is_given_back():
        return None
    return (
        "this is a virtual machine that gives free memory back to its host"
        " (virtio free page reporting): reads into memory that was free"
        " for some seconds, and writes of new files, wait for the host"
    )


def memory_is_given_back() -> bool:
    """Return whether this virtual machine gives free memory back to its host."""
    return reports_free_pages(BALLOONS)


def reports_free_pages(drivers: Path) -> bool:
    """Return whether one of a driver's devices reports free pages (virtio 1.2, section 5.5.3:
    VIRTIO_BALLOON_F_PAGE_REPORTING, bit 5; the file has a character for each bit)."""
    features = (_word(device / "features") for device in drivers.glob("virtio*"))
    return any(word is not None and word[REPORTING : REPORTING + 1] == "1" for word in features)


def _clock(_measured: Measured) -> str | None:
    path = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    source = _word(path)
    if source in (None, "tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page"):
        return None
    return (
        f"the clock is {source}, which costs a system call to read: short times are overestimated"
    )


def _governor(_measured: Measured) -> str | None:
    paths = Path("/sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
    slow = sorted({word for path in paths if (word := _word(path)) not in (None, "performance")})
    if not slow:
        return None
    return f"processors change their frequency (governor {', '.join(map(str, slow))})"


def _nearly_full(measured: Measured) -> str | None:
    if 1 - measured.free < FULL:
        return None
    return f"the file system is {1 - measured.free:.0%} full: new files may be fragmented"


def _word(path: Path) -> str | None:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return None


def _stonewall_not_reached(measured: Measured) -> str | None:
    if not measured.early:
        return None
    return (
        f"{', '.join(f'workload.{number}' for number in measured.early)}: a writing phase ended"
        " before its stonewall, with all of its work done: give it more work, or more --space"
    )


def ended_early(loaded: Loaded, report: EngineReport) -> list[int]:
    """Return the numbers of workloads of which a writing phase ended before its stonewall, in a run
    that was not ended itself."""
    if report.stop.reason != "workload":
        return []
    seconds = {path: value for path, _, value, _ in loaded.quantities()}

    def is_early(phase: Phase) -> bool:
        stonewall = seconds.get(f"workload.{phase.workload:g}.stonewall", 0.0)
        lasted = phase.to_s - phase.from_s
        return phase.operation in ("write", "create") and lasted < NEARLY * stonewall

    return sorted({int(one.workload) for one in report.phases or () if is_early(one)})


CHECKS: dict[str, Callable[[Measured], str | None]] = {
    "no-calls": _no_calls,
    "fits-in-memory": _fits_in_memory,
    "oversubscribed": _oversubscribed,
    "generator-was-the-limit": _generator_was_the_limit,
    "others-computed": _others_computed,
    "steal": _steal,
    "stonewall-not-reached": _stonewall_not_reached,
    "memory-given-back": _memory_given_back,
    "clock": _clock,
    "governor": _governor,
    "nearly-full": _nearly_full,
}
"""Checks by condition. To add a warning, write a function and name it here."""
