"""A sweep over client hosts: the same load sweep with one number of hosts after another."""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, TypeAlias

from headrace import _core, ranks
from headrace.measure.load_sweep import (
    OVERALL,
    SPEC_SFS,
    AtLoad,
    Criteria,
    Loads,
    findings,
    load_step,
)
from headrace.measure.sweep_result import LoadSweep
from headrace.measure.sweep_runner import SoFar, SweepRunner, Watch, run_sweep
from headrace.report.units import hosts as in_words

AtLoadByRanks: TypeAlias = Callable[[float, int], _core.Loaded]
"""Function that returns the scenario for a rate and a number of ranks."""
SWEEP_OVER = "client-hosts"
"""Value of `of` in the document."""
POINTS = ("knee", "kept_up", "cut_off")


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
        of=SWEEP_OVER,
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
            f"--client-hosts {most}: the ranks are on {in_words(there)}"
            f" ({names}): expected at most {there}, or mpirun or srun with more hosts"
        )


def _check_clients(loaded: _core.Loaded, wanted: int) -> None:
    """Raise ScenarioError if there are fewer clients than ranks that take part."""
    clients = tomllib.loads(loaded.toml).get("clients", {}).get("count")
    if isinstance(clients, int) and clients < wanted:
        raise _core.ScenarioError(
            f"clients.count = {clients}: expected {wanted} at least, because clients are"
            f" distributed over {wanted} ranks; take more clients, or start fewer ranks"
        )


def _check_ranks(resumed: Mapping[str, Any] | None, hosts: Mapping[str, Sequence[int]]) -> None:
    """Raise ValueError if the resumed result had its ranks on other hosts."""
    if resumed is None or resumed.get("of") != SWEEP_OVER:
        return
    before = [it["ranks"] for it in resumed.get("hosts", ())]
    if before != [list(of_it) for of_it in hosts.values()]:
        raise ValueError(
            f"{resumed.get('named', 'the resumed result')}: its ranks were on other hosts: start"
            " again without --resume"
        )


def _step(document: dict[str, Any]) -> dict[str, Any] | None:
    """Return the sweep's step for a measurement; None if no operation was done."""
    step = load_step(document)
    if step is None:
        return None
    # Without mpirun there is only this host, which the document does not list.
    count = len(document.get("hosts", ("",)))
    return {**step, "name": on_hosts(step["name"], count), "client_hosts": count}


def on_hosts(what: str, count: int) -> str:
    """Return the name of a step or a point with its number of hosts."""
    return f"{what} on {in_words(count)}"


def _document(
    sweep: SweepRunner, criteria: Criteria, hosts: Mapping[str, Sequence[int]]
) -> dict[str, Any]:
    steps = sorted(
        sweep.steps, key=lambda it: (int(it["client_hosts"]), float(it["requested_per_second"]))
    )
    steps = [step | {"keeps_up": criteria.met(step)} for step in steps]
    document = {
        **sweep.document(),
        "criteria": criteria._asdict(),
        "hosts": [{"name": name, "ranks": list(of_it)} for name, of_it in hosts.items()],
        "steps": steps,
    }
    whole = [step for step in steps if not step.get("partial")]
    document |= _shown(whole)
    if sweep.repetition_count > 1:
        document["repetitions"] = (
            list(_repetitions(whole, criteria)) if sweep.first_complete else []
        )
    return document


def _shown(steps: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The curve of each number of hosts, and the figures that the store catalogues."""
    curves = [
        {"client_hosts": count, **findings([it for it in steps if it["client_hosts"] == count])}
        for count in dict.fromkeys(step["client_hosts"] for step in steps)
    ]
    operations: dict[str, Any] = {}
    latency: dict[str, Any] = {}
    for curve in curves:
        count = curve["client_hosts"]
        for point in POINTS:
            if curve[point] is not None:
                name = on_hosts(point.replace("_", " "), count)
                operations[name] = {"per_second": curve[point]["requested_per_second"]}
        if curve["overall_response_s"] is not None:
            latency[on_hosts(OVERALL, count)] = {"mean": curve["overall_response_s"]}
    for step in steps:
        operations[step["name"]] = {"per_second": step["achieved_per_second"]}
        latency[step["name"]] = step["response"]
    return {"curves": curves, "operations": operations, "latency": latency}


def _repetitions(steps: Sequence[dict[str, Any]], criteria: Criteria) -> Iterator[dict[str, Any]]:
    """Yield the figures of each complete repetition of the sweep."""
    for several in zip(*(step.get("repetitions", ()) for step in steps), strict=False):
        of_it = filter(None, map(_step, several))
        yield _shown([step | {"keeps_up": criteria.met(step)} for step in of_it])
