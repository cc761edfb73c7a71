"""Advice for the phases of a profile, from the captured trace and a machine model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import polars as pl
from msgspec import UNSET, UnsetType

from headrace.profile.advice import advise, error_of, recorded_time
from headrace.profile.advice.change import Context
from headrace.profile.document import Phase, PhasePrediction
from headrace.profile.interval_means import mean_over_time
from headrace.profile.paced_trace import MOST_RECORDS, cut
from headrace.profile.prediction import Case

CACHED_SHARE = 0.2
"""Files are taken to be cached if the program reads less than this part of its bytes from
devices."""
COMPUTE_SHARE = 0.5
"""Processes are taken to compute in their gaps if they use a processor for at least this part of
the time in which they compute or sleep."""
DEVICE_LIMITS = ("disk-read", "disk-write", "rewrite")
"""Verdicts of phases in which a device is busy: it works while a tracer stops the program."""
MOST_STOPS = 3.0
"""Stops by a tracer take up to this times the measured system time: on a busy machine, a program
and its tracer find their caches cold (measured: 12 to 18 us for each call in place of 6 to 8)."""
LONG_CALL_S = 1e-3
"""A call waits for storage beyond this time, in seconds: a stop by a tracer and the processor time
of a call take less (declared). Few samples tell the share of waits badly."""
STORAGE_SHARE = 0.5
"""Least share of its threads' time in which a program waits for storage mostly."""


@dataclass(frozen=True)
class Application:
    """Facts of the whole profile that predictions need."""

    records: pl.DataFrame
    """The captured trace with gaps, on the clock of the samples."""
    rates: pl.DataFrame
    machine: str
    cores: int
    baseline: Mapping[str, float]
    tracer_s: float
    """Time that the tracer adds to each gap."""
    directory: Path | None = None
    """Profile directory in which scenarios are saved; None to save none."""
    tracer_system_s: float = 0.0
    """System time that the tracer adds to each call: the kernel stops the program for it."""
    is_elsewhere: bool = False
    """True if the machine need not be that of the recording."""


def advise_phase(
    phase: Phase,
    application: Application,
    on_progress: Callable[[int, int, str], object] | None = None,
    number: int = 1,
) -> PhasePrediction:
    """Add advice and notes to a phase, which has a number from 1.

    Returns the simulated run time of the phase beside the recorded one.

    Raises ScenarioError if the machine is invalid.
    """
    rows = application.rates.filter(
        (pl.col("from_s") >= phase.from_s - 1e-9) & (pl.col("to_s") <= phase.to_s + 1e-9)
    )
    records = cut(application.records, phase.from_s, phase.to_s)
    simulated_operations: int | UnsetType = UNSET
    operations: int | UnsetType = UNSET
    length_s = phase.to_s - phase.from_s
    if records.height > MOST_RECORDS:
        operations = records.height
        records = cut(records, 0.0, float(records["time_ns"].sort()[MOST_RECORDS]) / 1e9)
        simulated_operations = records.height
        length_s *= simulated_operations / operations
    before = application.records.filter(pl.col("time_ns") < round(phase.from_s * 1e9))
    case = phase_case(records, rows, application, length_s, before["process"].unique())
    removed_s = (_gaps_s(records) - _gaps_s(case.records)) / max(records["process"].n_unique(), 1)
    removed_s += _tail_s(records, length_s) - case.tail_s
    stops = application.tracer_system_s * records.height / length_s if length_s > 0 else 0.0
    long_ns = (records["duration_ns"] - round(LONG_CALL_S * 1e9)).clip(lower_bound=0).sum()
    long_s = float(long_ns) / 1e9 - _mean(rows, "tree.busiest_thread_delay") * length_s
    waits = long_s / length_s if length_s > 0 else 0.0
    least_s, recorded_s = (
        min(length_s - removed_s, length_s * _own_share(rows, factor * stops, waits))
        for factor in (MOST_STOPS, 1.0)
    )
    if phase.verdict in DEVICE_LIMITS:
        least_s = recorded_s = length_s
    context = Context(
        phase.verdict,
        _free_cores(rows, application.cores),
        application.baseline,
        application.directory,
        number,
        _state(rows, "threads"),
        recorded_s,
        least_s,
        application.is_elsewhere,
    )
    advice, outcome, notes = advise(case, context, on_progress)
    error = error_of(outcome, context)
    phase.advice.extend(msgspec.structs.replace(change, error=error) for change in advice)
    phase.notes.extend(notes)
    return PhasePrediction(
        from_s=phase.from_s,
        to_s=phase.to_s,
        simulated_operations=simulated_operations,
        operations=operations,
        recorded_s=length_s,
        without_tracer_s=recorded_time(outcome, context),
        simulated_s=None if outcome.error is not None else outcome.seconds,
        error=error,
        bottleneck=outcome.bottleneck,
        gaps=case.gaps,
        cached=case.cached,
    )


def phase_case(
    records: pl.DataFrame,
    rows: pl.DataFrame,
    application: Application,
    length_s: float,
    running: pl.Series | None = None,
) -> Case:
    """Return the operations of a phase, with the gaps that they have without a tracer.

    The tracer's cost is subtracted from each gap. Gaps are then reduced to the sampled processor
    time and sleep of the program. The rest is a tracer that takes longer than measured, or a wait
    for a core. Gaps also retain system time and waits for storage as far as captured calls do not
    explain them. They are those of other calls and of page faults, which no simulation has.

    Parameters
    ----------
    records
        Captured operations with gaps, and times since the start of the phase.
    rows
        Samples of the phase.
    application
        Facts of the whole profile.
    length_s
        Time of these operations, in seconds.
    running
        Processes that run when the phase starts; None if all do. Another one does not compute in
        the time before its first operation, but for the first one.
    """
    tracer_ns = round(application.tracer_s * 1e9)
    tail_s = _tail_s(records, length_s)
    is_first = pl.col("gap_ns").cum_count().over("process") == 1
    # No call of the process comes before its first gap.
    without = pl.when(is_first).then("gap_ns").otherwise(pl.col("gap_ns") - tracer_ns)
    is_start = pl.lit(False)
    if running is not None:
        is_new = ~pl.col("process").is_in(running.implode())
        is_start = is_first & is_new & (pl.col("time_ns") > pl.col("time_ns").min())
    records = records.with_columns(gap_ns=without.clip(lower_bound=0), _is_start=is_start)
    user_s, system_s = (_mean(rows, f"tree.{kind}") * length_s for kind in ("user", "system"))
    system_s -= application.tracer_system_s * records.height
    waits_s, sleeping_s = (_state(rows, kind) * length_s for kind in ("disk_wait", "sleeping"))
    calls_s = float(records["duration_ns"].sum()) / 1e9 + application.tracer_s * records.height
    computing_s = user_s + max(system_s - calls_s, 0.0)
    gaps_s = _gaps_s(records.filter(~pl.col("_is_start"))) + tail_s
    unexplained_s = max(system_s + waits_s - calls_s, 0.0)
    known_s = min(user_s + unexplained_s + sleeping_s, gaps_s)
    computes = computing_s > 0 and computing_s >= COMPUTE_SHARE * known_s
    if computes or _is_known(rows, "tree.sleeping"):
        factor = known_s / gaps_s if gaps_s > 0 else 1.0
        # Processes start as much earlier as the program runs faster.
        factors = pl.when("_is_start").then(_own_share(rows)).otherwise(factor)
        scaled = (pl.col("gap_ns") * factors).round().cast(pl.Int64)
        records, tail_s = records.with_columns(gap_ns=scaled), tail_s * factor
        gaps_s *= factor
    read, asked = (_mean(rows, f"tree.read_{kind}bytes_per_s") for kind in ("", "call_"))
    return Case(
        machine=application.machine,
        records=records.drop("_is_start"),
        gaps="compute" if computes else "wait",
        tail_s=tail_s,
        computes=min(computing_s / gaps_s, 1.0) if gaps_s > 0 else 0.0,
        cached=asked > 0 and read < CACHED_SHARE * asked,
    )


def _own_share(rows: pl.DataFrame, stops: float = 0.0, waits: float = 0.0) -> float:
    """Return the share of time in which the program's threads computed, waited for storage or
    slept.

    The rest are stops by a tracer and waits for a core. A program that mostly waits for storage has
    1: the device works meanwhile. `stops` is the system time of stops, and `waits` the time of long
    calls, relative to the time.
    """
    threads, waits = _state(rows, "threads"), max(_state(rows, "disk_wait"), waits)
    if threads <= 0 or waits >= STORAGE_SHARE * threads:
        return 1.0
    processors = _mean(rows, "tree.user") + max(_mean(rows, "tree.system") - stops, 0.0)
    return min((waits + processors + _state(rows, "sleeping")) / threads, 1.0)


def _tail_s(records: pl.DataFrame, length_s: float) -> float:
    """Return the time after the last operation."""
    ends = (records["time_ns"] + records["duration_ns"]).max()
    return length_s if ends is None else max(length_s - float(ends) / 1e9, 0.0)  # type: ignore[arg-type]


def _gaps_s(records: pl.DataFrame) -> float:
    return float(records["gap_ns"].sum()) / 1e9


def _is_known(rows: pl.DataFrame, column: str) -> bool:
    return column in rows.columns and rows[column].null_count() < rows.height


def _state(rows: pl.DataFrame, state: str) -> float:
    """Mean number of threads in a state while there are any: none are in the last sample."""
    if "tree.threads" in rows.columns:
        rows = rows.filter(pl.col("tree.threads") >= 1)
    return _mean(rows, f"tree.{state}")


def _free_cores(rows: pl.DataFrame, cores: int) -> int:
    """Return the cores that the program uses or could use: those that others use do not help it.
    All where the idle time is unknown."""
    idle = [mean_over_time(rows, f"cpu.{state}") for state in ("idle", "iowait")]
    if idle[0] is None:
        return cores
    used = _mean(rows, "tree.user") + _mean(rows, "tree.system")
    return max(min(round(used + cores * sum(share or 0.0 for share in idle)), cores), 1)


def _mean(rows: pl.DataFrame, column: str) -> float:
    """Mean over time; 0 where a figure is unknown."""
    return mean_over_time(rows, column) or 0.0
