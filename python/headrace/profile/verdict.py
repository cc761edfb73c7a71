"""Judge the phases of a run: the verdict of each, with its evidence."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import polars as pl

from headrace.profile.document import Evidence, Phase, Verdict
from headrace.profile.figures import (
    BASELINE,
    COMMIT_S,
    FIGURES,
    PhaseSamples,
    busiest_disk,
    busiest_interface,
)
from headrace.profile.phases import phases
from headrace.profile.rules import Rule, load_rules
from headrace.profile.time_balance import main_sleep
from headrace.profile.traced_calls import traced_calls

NO_BASELINE = (
    "no baseline: the verdict comes from utilisation and shares of time alone; run"
    " `headrace baseline DIR`"
)
UNDETECTED = (
    "the kind of wait was not recorded: a timer, a lock, input and a deadlock look alike in the"
    " other counters"
)
LEAST_CONFIDENCE = 0.3
"""A verdict with less confidence is `unsure` (declared)."""
TRACER_WEIGHT, LOAD_WEIGHT = 0.5, 0.25
"""Confidence that a tracer and other programs' load take for all of the time (declared)."""
NOTED = 0.2
"""Share of time from which a reason of low confidence is reported."""
MEMORY_THROUGHPUT = (
    "a program limited by memory throughput looks the same without hardware counters; compare"
    " instructions per cycle in `perf stat`"
)
LARGE_MEMORY = float(32 << 20)
"""Resident memory from which data may exceed the last-level cache, in bytes (declared)."""
NOT_SEEN = (
    "no sample shows the program while it runs: it did not come, or it is too short; profile a loop"
    " that runs it many times"
)
UNMATCHED = "no rule holds: too few figures are known"
UNLIMITED = "no resource of the machine is at its limit"
UNSURE = "the confidence of {confidence:.0%} is too low for the verdict {verdict}"


class _Value(Protocol):
    @property
    def value(self) -> float: ...


class BaselineFigures(Protocol):
    """The part of a baseline that verdicts use."""

    @property
    def figures(self) -> Mapping[str, _Value]: ...


@dataclass(frozen=True)
class _Decided:
    """A range of rows with the rule that decides it."""

    first: int
    end: int
    samples: PhaseSamples
    rule: Rule | None

    @property
    def verdict(self) -> Verdict | None:
        """Verdict of the rule; None without one."""
        return None if self.rule is None else self.rule.verdict


def judge(
    rates: pl.DataFrame,
    baseline: BaselineFigures | Mapping[str, BaselineFigures] | None = None,
    rules: Sequence[Rule] | None = None,
    disks: Sequence[str] | None = None,
    device_disks: int = 1,
    trace: pl.DataFrame | None = None,
    link_rates: Mapping[str, float] | None = None,
    *,
    stops: bool = False,
    of_directory: str | None = None,
) -> list[Phase]:
    """Return the phases of a run, each with its verdict and evidence.

    The first rule that holds gives the verdict. Neighbouring phases of one verdict are
    merged, if both together have it too. The level of a program on a busy machine changes, and its
    limit does not.

    Parameters
    ----------
    rates
        Frame of `headrace.profile.recording.rates`.
    baseline
        Baseline of the program's directory, or one for each disk by name.
    rules
        Rules in order of precedence; those of Headrace if None.
    disks
        Disks that the program uses, such as `["sda"]`; all if None.
    device_disks
        Number of disks in each device, such as those of an array.
    trace
        Captured file operations, a frame of `headrace.trace.frame`, on the clock of the samples.
    link_rates
        Nominal rates of network interfaces by name, in B/s.
    stops
        Whether a tracer stopped the program at each call.
    of_directory
        Disk of the program's directory.
    """
    applied = load_rules() if rules is None else rules

    def decide(first: int, end: int) -> _Decided:
        samples = _samples(
            rates[first:end], baseline, disks, device_disks, trace, link_rates, of_directory
        )
        samples.stops = stops
        committed = pl.col("from_s") < float(rates["to_s"][end - 1]) + COMMIT_S
        samples.until_commit = rates[first:].filter(committed)
        # A disk without traffic in the phase may still write its journal later.
        samples.disk = samples.disk or busiest_disk(
            samples.until_commit, disks, of_directory=of_directory
        )
        decisive = next((row for row in applied if row.verdict and row.holds(samples.value)), None)
        return _Decided(first, end, samples, decisive)

    decided: list[_Decided] = []
    for first, end in phases(rates, disks):
        last = decide(first, end)
        if decided and decided[-1].verdict == last.verdict:
            both = decide(decided[-1].first, end)
            if both.verdict == last.verdict:
                decided[-1] = both
                continue
        decided.append(last)
    return [_phase(phase, applied) for phase in decided]


def overall(judged: Iterable[Phase]) -> Verdict | None:
    """Return the verdict of the phases that take the longest together; None if no rule holds in
    them, and without a phase."""
    totals: dict[Verdict | None, float] = defaultdict(float)
    for phase in judged:
        totals[phase.verdict] += phase.to_s - phase.from_s
    return max(totals, key=lambda name: totals[name], default=None)


def limited_s(judged: Iterable[Phase]) -> float:
    """Return the time in which a resource limits the program, in seconds: not that of waits for
    something else, and not that of unknown limits."""
    return sum(
        one.to_s - one.from_s for one in judged if one.verdict not in (None, "waiting", "unsure")
    )


def _samples(
    rates: pl.DataFrame,
    baseline: BaselineFigures | Mapping[str, BaselineFigures] | None,
    disks: Sequence[str] | None,
    device_disks: int,
    trace: pl.DataFrame | None,
    link_rates: Mapping[str, float] | None,
    of_directory: str | None,
) -> PhaseSamples:
    common = None if isinstance(baseline, Mapping) else baseline
    disk = busiest_disk(rates, disks, _values(common), of_directory)
    interface = busiest_interface(rates)
    chosen = baseline.get(disk or "") if isinstance(baseline, Mapping) else baseline
    from_s, to_s = _span(rates)
    return PhaseSamples(
        rates,
        disk,
        interface,
        device_disks,
        _values(chosen),
        (link_rates or {}).get(interface or ""),
        None if trace is None or to_s <= from_s else traced_calls(trace, from_s, to_s),
    )


def _values(baseline: BaselineFigures | None) -> Mapping[str, float] | None:
    return None if baseline is None else {name: one.value for name, one in baseline.figures.items()}


def _span(rates: pl.DataFrame) -> tuple[float, float]:
    return float(rates["from_s"][0]), float(rates["to_s"][-1])


def _phase(decided: _Decided, rules: Sequence[Rule]) -> Phase:
    samples, decisive = decided.samples, decided.rule
    from_s, to_s = _span(samples.rates)
    phase = Phase(from_s=from_s, to_s=to_s, verdict=decided.verdict)
    phase.balance = samples.balance
    phase.confidence = _confidence(samples)
    if decisive is None:
        is_host = samples.value("program.cores") is None
        is_known = is_host and samples.value("machine.idle") is not None
        phase.notes.append(UNLIMITED if is_known else UNMATCHED)
    else:
        phase.notes.append(decisive.text)
        phase.evidence.extend(_evidence(decisive, samples))
    is_judged = phase.verdict not in (None, "unsure")
    if is_judged and phase.confidence is not None and phase.confidence < LEAST_CONFIDENCE:
        phase.notes.append(UNSURE.format(confidence=phase.confidence, verdict=phase.verdict))
        phase.verdict = "unsure"
    for rule in rules:
        if rule.verdict is None and rule.holds(samples.value):
            phase.notes.append(rule.text)
            phase.evidence.extend(_evidence(rule, samples))
    phase.notes.extend(_limits(phase.verdict, samples))
    return phase


def _confidence(samples: PhaseSamples) -> float | None:
    """Return the confidence in a verdict; None if no program is watched."""
    if samples.balance is None:
        return None
    unknown, tracer, others = _shares_against(samples)
    return max(1.0 - unknown - TRACER_WEIGHT * tracer - LOAD_WEIGHT * others, 0.0)


def _shares_against(samples: PhaseSamples) -> tuple[float, float, float]:
    """Return the unknown and the tracer's share of the time, and that of the processors which
    other programs use."""
    shares = [samples.value(f"balance.{part}") or 0.0 for part in ("unknown", "tracer")]
    idle = samples.value("machine.idle")
    own = samples.value("program.cores_share") or 0.0
    others = 0.0 if idle is None else min(max(1.0 - idle - own, 0.0), 1.0)
    return shares[0], shares[1], others


def _doubts(samples: PhaseSamples) -> Iterator[str]:
    """Yield what lowers the confidence in a verdict."""
    if samples.balance is None:
        return
    unknown, tracer, others = _shares_against(samples)
    if unknown >= NOTED:
        yield f"{unknown:.0%} of the time is not known"
    if tracer >= NOTED:
        yield f"the tracer takes {tracer:.0%} of the time"
    if others >= NOTED:
        yield f"other programs use {others:.0%} of the processors"


def _limits(verdict: Verdict | None, samples: PhaseSamples) -> Iterator[str]:
    """Yield the statements that limit a verdict."""
    if samples.baseline is None:
        yield NO_BASELINE
    if samples.alive.is_empty():
        yield NOT_SEEN
    elif verdict == "waiting" and samples.balance is not None:
        waits = main_sleep(samples.balance)
        yield UNDETECTED if waits is None else f"it mostly waits for {waits}"
    yield from _doubts(samples)
    resident = FIGURES["program.resident"].value(samples)
    if verdict == "cpu" and resident is not None and resident > LARGE_MEMORY:
        yield MEMORY_THROUGHPUT


def _evidence(rule: Rule, samples: PhaseSamples) -> Iterator[Evidence]:
    """Yield the known figures that a rule compares, each once."""
    baselines: dict[str, float | None] = {}
    for condition in rule.when.values():
        if condition.of is not None and condition.of.startswith(BASELINE):
            known = baselines.get(condition.figure)
            baselines[condition.figure] = known or samples.value(condition.of)
    for name, value in rule.evidence(samples.value).items():
        if spec := FIGURES.get(name):
            yield Evidence(
                figure=_named(spec.name, spec.description, samples),
                value=float(value),
                unit=spec.unit,
                baseline=baselines.get(name),
                rule=rule.id,
                source=rule.source,
            )


def _named(name: str, description: str, samples: PhaseSamples) -> str:
    """Return a figure in words, such as "disk sda read throughput"."""
    kind = name.partition(".")[0]
    device = {"disk": samples.disk, "network": samples.interface}.get(kind)
    return f"{kind} {device} {description}" if device else f"{kind} {description}"
