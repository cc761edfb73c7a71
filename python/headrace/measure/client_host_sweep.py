"""A sweep over client hosts: the same load sweep with one number of hosts after another."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias

import msgspec

from headrace import _core, ranks
from headrace.fields import to_document
from headrace.measure.load_sweep import (
    SPEC_SFS,
    AtLoad,
    Criteria,
    Loads,
    catalogued,
    findings,
    judged,
    load_step,
    repetitions_of,
)
from headrace.measure.report import CataloguedRate, CataloguedTime, Latency, Report
from headrace.measure.sweep_result import LoadSweep
from headrace.measure.sweep_runner import SoFar, SweepRunner, Watch, run_sweep
from headrace.measure.sweep_steps import Curve, Step
from headrace.quantities import numbered

AtLoadByRanks: TypeAlias = Callable[[float, int], _core.Loaded]
"""Function that returns the scenario for a rate and a number of ranks."""
SWEEP_OVER = "client-hosts"
"""Value of `of` in the document."""


def client_host_sweep(
    at_load: AtLoadByRanks,
    below: str | PathLike[str],
    counts: Sequence[int],
    *,
    rates: Sequence[float] = (),
    start: float = 100.0,
    refinements: int = 4,
    criteria: Criteria = SPEC_SFS,
    calls: str = "posix",
    repeats: int = 1,
    keep: bool = False,
    watch: Watch | None = None,
    resumed: Mapping[str, Any] | None = None,
    so_far: SoFar | None = None,
) -> LoadSweep:
    """Run `load_sweep` once for each number of client hosts.

    All ranks of the first hosts take part; the ranks of the others are idle. Hosts are in the order
    of their ranks, the numbers in the order of `counts`. Without `rates`, each number of hosts has
    its own search.

    Raises as `load_sweep` does, and ValueError for more hosts than there are.

    Examples:
        >>> mix = hr.measure.MixedLoad("mpfs-benchmark", seconds=0.1, warm_up=0)
        >>> sweep = hr.measure.client_host_sweep(mix.at, ".", [1], rates=[100], calls="null")
        >>> [step["name"] for step in sweep.document["steps"]]
        ['100/s on 1 host']
    """
    hosts = ranks.current().hosts()
    _check_counts(counts, hosts)
    ranks_of = {count: sum(map(len, list(hosts.values())[:count])) for count in counts}
    loads = Loads(rates, start, refinements, criteria)

    def at_load_on(count: int) -> AtLoad:
        return lambda rate: at_load(rate, ranks_of[count])

    most = max(counts)
    first = max(rates, default=start)
    _check_clients(at_load_on(most)(first), ranks_of[most])
    _check_ranks(resumed, hosts)
    loads.check_room(at_load_on(most), below, calls)

    def steps(sweep: SweepRunner) -> None:
        sweep.begin(at_load(first, ranks.count()))
        for count in counts:
            loads.measure(sweep, at_load_on(count), count)

    return run_sweep(
        steps,
        lambda sweep: _document(sweep, criteria, hosts),
        below,
        command=SWEEP_OVER,
        step_of=_step,
        calls=calls,
        repeats=repeats,
        keep=keep,
        watch=watch,
        resumed=resumed,
        so_far=so_far,
    )


def _check_counts(counts: Sequence[int], hosts: Mapping[str, Sequence[int]]) -> None:
    """Raise ValueError if there are fewer hosts than requested."""
    most, there = max(counts), len(hosts)
    if most > there:
        names = ", ".join(list(hosts)[:3]) + (", ..." if there > 3 else "")
        raise ValueError(
            f"--client-hosts {most}: the ranks are on {numbered(there, 'host')}"
            f" ({names}): expected at most {there}, or mpirun or srun with more hosts"
        )


def _check_clients(loaded: _core.Loaded, count: int) -> None:
    """Raise ScenarioError if there are fewer clients than ranks that take part."""
    clients = tomllib.loads(loaded.toml).get("clients", {}).get("count")
    if isinstance(clients, int) and clients < count:
        raise _core.ScenarioError(
            f"clients.count = {clients}: expected {count} at least, because clients are"
            f" distributed over {count} ranks; take more clients, or start fewer ranks"
        )


def _check_ranks(resumed: Mapping[str, Any] | None, hosts: Mapping[str, Sequence[int]]) -> None:
    """Raise ValueError if the resumed result had its ranks on other hosts."""
    if resumed is None or resumed.get("of") != SWEEP_OVER:
        return
    before = [host["ranks"] for host in resumed.get("hosts", ())]
    if before != [list(of_it) for of_it in hosts.values()]:
        raise ValueError(
            f"{resumed.get('named', 'the resumed result')}: its ranks were on other hosts: start"
            " again without --resume"
        )


def _step(report: Report, each: Sequence[Report]) -> Step | None:
    """Return the sweep's step for a measurement; None if no operation was done."""
    step = load_step(report, each)
    if step is not None:
        # Without mpirun there is only this host, which the report does not list.
        step.client_hosts = len(report.hosts) or 1
        step.name = on_hosts(step.name, step.client_hosts)
    return step


def on_hosts(label: str, count: int) -> str:
    """Return the name of a step or a point with its number of hosts."""
    return f"{label} on {numbered(count, 'host')}"


def _document(
    sweep: SweepRunner, criteria: Criteria, hosts: Mapping[str, Sequence[int]]
) -> dict[str, Any]:
    steps = sorted(sweep.steps, key=lambda it: (it.client_hosts or 1, it.load.requested_per_second))
    whole = judged(steps, criteria)
    document = {
        **sweep.document(),
        "criteria": criteria._asdict(),
        "hosts": [{"name": name, "ranks": list(of_it)} for name, of_it in hosts.items()],
        "steps": [step.json() for step in steps],
        **to_document(_shown(whole)),
    }
    if sweep.repetition_count > 1:
        repetitions = repetitions_of(whole, _step) if sweep.first_complete else ()
        document["repetitions"] = to_document([_shown(judged(it, criteria)) for it in repetitions])
    return document


class FoundCurves(msgspec.Struct, frozen=True):
    """The curve of each number of hosts, and the figures for the store's catalogue."""

    curves: list[Curve]
    operations: dict[str, CataloguedRate]
    latency: dict[str, Latency | CataloguedTime | None]


def _shown(steps: Sequence[Step]) -> FoundCurves:
    """Return the findings of complete steps, with the catalogued figures."""
    counts = dict.fromkeys(step.client_hosts or 1 for step in steps)
    curves = {count: findings([it for it in steps if it.client_hosts == count]) for count in counts}
    suffixes = {on_hosts("", count): curve for count, curve in curves.items()}
    figures = catalogued(steps, suffixes)
    return FoundCurves(
        [
            Curve(client_hosts=count, **msgspec.structs.asdict(curve))
            for count, curve in curves.items()
        ],
        figures.operations,
        figures.latency,
    )
