"""Search a design: enumerate, discard, simulate coarsely, simulate in full, choose."""

import copy
import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from os import PathLike
from pathlib import Path

import msgspec

from headrace import simulate
from headrace._core import VERSION
from headrace.design.archive import alternatives
from headrace.design.catalogue import NetworkModel
from headrace.design.catalogue_file import LoadedCatalogue, load_catalogue
from headrace.design.document_file import Sets
from headrace.design.evaluate import evaluate, performance_violations
from headrace.design.evaluation import (
    ApplicationPerformance,
    Choice,
    Evaluation,
    Solution,
    Violation,
    least_satisfaction,
)
from headrace.design.headroom import Demand, demands, expected_events
from headrace.design.options import Options, options
from headrace.design.pareto import front
from headrace.design.performance import Detail, scenario
from headrace.design.performance.measurement import (
    DesignRuns,
    confirm,
    performances_of,
    run_scenarios,
)
from headrace.design.performance.pacing import DEMAND
from headrace.design.performance.simulation import EFFORTS, performances
from headrace.design.performance.system import simulated_nodes
from headrace.design.recommendation import recommend, unknown_answers
from headrace.design.search.candidates import (
    EXCLUDED,
    Candidate,
    Frontier,
    Rank,
    cost_of,
    loss_of,
    nearness,
)
from headrace.design.search.pools import Pools, cheapest_pools, open_pools, zone_groups
from headrace.design.search.saved_runs import RunStore
from headrace.design.system import Design
from headrace.design.worksheet import Worksheet, Zone, with_flows
from headrace.design.worksheet_file import LoadedWorksheet, load_worksheet
from headrace.progress_events import OnStep
from headrace.quantities import number, quantity
from headrace.simulate import ParallelRuns

BUDGET = 120.0
"""Seconds that a search takes at the most."""
ENUMERATION = 0.5
"""Part of the budget after which no further designs are enumerated."""
FIRST, SECOND = 0.6, 0.85
"""Parts of the budget after which the first and the second of two searches end: for designs with
equal servers, and for those whose zones have servers of their own."""
BATCH = 4
"""Designs that are simulated side by side before the next ones are chosen."""
RANGES = (1.0, 1.25, 1.6, 2.5)
"""Costs of alternatives as multiples of that of the chosen design."""
IN_RANGE = 12
"""Alternatives of each range whose figures are computed, at most."""
PAIR = 2
"""Designs that are simulated in full at a time."""
MOST_NEAREST, ROUNDS = 4, 30
"""Designs that are shown if none meets everything, and batches that are simulated for them."""


def solve(
    worksheet: str | PathLike[str] | LoadedWorksheet,
    catalogue: str | PathLike[str] | LoadedCatalogue | None = None,
    *,
    directory: str | PathLike[str] | None = None,
    budget: float = BUDGET,
    seed: int = 1,
    everything: bool = False,
    sets: Sets = (),
    on_progress: OnStep | None = None,
) -> Solution:
    """Search the designs that a catalogue allows for one that meets a worksheet.

    Equal worksheets, catalogues and seeds give equal solutions, unless the budget ends the search.

    Args:
        worksheet: File of the worksheet, or the loaded one.
        catalogue: File or name of the catalogue; by default the example that ships.
        directory: Directory in which simulations are saved. A search that was ended goes on there.
            Without it nothing is saved.
        budget: Seconds after which no further design is simulated.
        seed: Seed of the random numbers of simulations.
        everything: Try values too that a rule speaks against.
        sets: Answers that replace those of the file: `{"facility.power": "6 kW"}`.
        on_progress: Called with the steps done, their number, and what comes next.

    Returns:
        The designs that no other surpasses, the chosen one, and what was discarded and why.

    Raises:
        ScenarioError: The worksheet or the catalogue is wrong.
        ValueError: A file that the worksheet names is not what it should be.
        OSError: A file cannot be read or written.
        KeyboardInterrupt: On Ctrl-C; what was simulated is saved.

    Examples:
        >>> solution = hr.design.solve("scenarios/design/lab.toml", budget=1)
        >>> solution.seed, "network" in {choice.aspect for choice in solution.choices}
        (1, True)
    """
    loaded = (
        worksheet if isinstance(worksheet, LoadedWorksheet) else load_worksheet(worksheet, sets)
    )
    base = Path() if isinstance(worksheet, LoadedWorksheet) else Path(worksheet).parent
    bought = catalogue if isinstance(catalogue, LoadedCatalogue) else load_catalogue(catalogue)
    return Search(
        loaded,
        bought,
        base=base,
        directory=None if directory is None else Path(directory),
        budget=budget,
        seed=seed,
        everything=everything,
        on_progress=on_progress,
    ).run()


class Search:
    """A search for designs."""

    def __init__(
        self,
        worksheet: LoadedWorksheet,
        catalogue: LoadedCatalogue,
        *,
        base: Path = Path(),
        directory: Path | None = None,
        budget: float = BUDGET,
        seed: int = 1,
        everything: bool = False,
        on_progress: OnStep | None = None,
    ) -> None:
        self._loaded, self._bought = worksheet, catalogue
        self._catalogue = catalogue.catalogue
        self._base, self._directory = base, directory
        self._budget, self._seed, self._everything = budget, seed, everything
        self._on_progress = on_progress
        self._began = time.monotonic()
        self._choices = recommend(worksheet.worksheet, self._catalogue)
        self._worksheet = with_flows(with_distributions(worksheet.worksheet, self._choices))
        self._remarks: list[str] = []
        self._ended_early = False
        self._demand: tuple[Demand, ...] = ()
        self._runs: dict[Design, DesignRuns] = {}
        self._simulated = 0
        self._planned = 0
        self._runs_on: dict[str, bool] = {}
        self._part = 1.0
        """Part of the budget that may be spent now."""
        self._separated: list[str] = []

    def run(self) -> Solution:
        """Search, and return the solution."""
        # Files of the worksheet are read first: a wrong one is no fault of a design.
        frontier = self._opened()
        deadline = self._began + self._budget
        with ParallelRuns("design", progress=False, deadline=deadline) as runs:
            # Before the designs are enumerated: a damaged file is reported at once.
            store = RunStore(self._directory, lambda cases: run_scenarios(cases, runs))
            self._fill(frontier)
            pools = self._open_pools(store)
            # Those that may be cheaper are searched first: their cost limits the others.
            early = [one for one in pools if one.least < frontier.lower_bound(math.inf)]
            late = [one for one in pools if one not in early]
            self._part = FIRST if pools else 1.0
            confirmed = self._cheapest_pools(early, math.inf, store)
            self._part = SECOND if early else self._part
            single, misses = self._cheapest(frontier, store, _least_cost(confirmed))
            confirmed += [single] if single is not None and _is_confirmed(single) else []
            self._part = SECOND if pools else 1.0
            confirmed += self._cheapest_pools(late, _least_cost(confirmed), store)
            self._part = 1.0
            chosen = min(confirmed, key=cost_of, default=single)
            nearest = self._nearest(frontier, misses, store) if chosen is None else ()
            designs = [] if chosen is None else self._with_alternatives(chosen, frontier, store)
            if any(one.design.pools for one in confirmed):
                designs += [one for one in confirmed if one is not chosen]
                designs = _front(designs)
        best = math.inf if chosen is None else cost_of(chosen)
        frontier.count_left(best)
        return self._solution(frontier, frontier.options, designs, nearest, store)

    def _opened(self) -> Frontier:
        """Return the designs of the worksheet, of which none is enumerated yet."""
        self._demand = demands(self._worksheet, self._base)
        tried = options(self._worksheet, self._choices, everything=self._everything)
        return Frontier(self._worksheet, self._catalogue, tried, self._demand)

    def _fill(self, frontier: Frontier) -> None:
        frontier.fill(
            lambda count: self._tell(f"{count:,} designs enumerated"),
            lambda: self._is_over(ENUMERATION),
        )

    def _open_pools(self, store: RunStore) -> list[Pools]:
        """Return the designs with servers of their own for groups of zones, enumerated."""
        sheet = self._loaded.worksheet
        start = partial(self._of_pool, store=store)
        return [
            open_pools(sheet, groups, self._catalogue.networks, start)
            for groups in zone_groups(sheet, self._choices)
            if not self._is_over(ENUMERATION)
        ]

    def _cheapest_pools(
        self, pools: Sequence[Pools], limit: float, store: RunStore
    ) -> list[Evaluation]:
        """Return designs with servers of their own for groups of zones that meet everything, each
        cheaper than a limit and than the one before."""
        confirmed = []
        for one in pools:
            cheaper = cheapest_pools(
                one, limit, partial(self._of_pool, store=store), self._with_performance
            )
            if cheaper is not None:
                confirmed.append(cheaper)
                limit = cost_of(cheaper)
                outcome = "it meets everything"
            elif one.least >= limit:
                least = quantity(one.least, "money", self._catalogue.currency)
                outcome = f"it costs at least {least}, and another design less"
            elif self._is_over():
                outcome = "the time ended before one was confirmed"
            else:
                outcome = "none meets everything and costs less than another design"
            self._separated.append(f"servers of their own for zones {one.names}: {outcome}")
        return confirmed

    def _with_performance(
        self, design: Design, performance: tuple[ApplicationPerformance, ...]
    ) -> Evaluation:
        return evaluate(design, self._worksheet, self._catalogue, performance)

    def _of_pool(
        self, worksheet: Worksheet, store: RunStore
    ) -> Callable[[NetworkModel], "_PoolSearch"]:
        """Return the searches for some zones by network, in the time that is left."""
        loaded = copy.copy(self._loaded)
        loaded.worksheet = worksheet
        search = Search(
            loaded,
            self._bought,
            base=self._base,
            budget=self._left(),
            seed=self._seed,
            everything=self._everything,
            on_progress=self._on_progress,
        )
        frontier = search._opened()
        search._fill(frontier)

        def on_network(network: NetworkModel) -> _PoolSearch:
            return _PoolSearch(search, frontier.on_network(network), network, store, self._left)

        return on_network

    def _left(self) -> float:
        """Return the seconds of the part of the budget that may be spent now."""
        return self._part * self._budget - (time.monotonic() - self._began)

    def _cheapest(
        self, frontier: Frontier, store: RunStore, most: float = math.inf
    ) -> tuple[Evaluation | None, list[Evaluation]]:
        """Return the cheapest design that meets everything, and simulated ones that do not.

        A design counts if a full simulation of all its servers confirms it. Without any such
        design, the cheapest unconfirmed one is returned.
        """
        best: Evaluation | None = None
        unconfirmed: Evaluation | None = None
        misses: list[Evaluation] = []
        limit = math.inf
        wants = bool(self._worksheet.applications)
        while not self._is_over() and frontier.lower_bound(math.inf) < most:
            likely = frontier.take_likely(PAIR, limit, self._is_over) if wants else []
            taken = frontier.take(BATCH, limit, self._is_over, likely)
            if not taken:
                break
            batch = [one for one in taken if self._can_run(one, frontier)]
            self._planned = self._simulated + len(batch)
            coarse = self._simulate_designs([one.design for one in batch], "coarse", store)
            undecided = {candidate.design: candidate for candidate in batch}
            for evaluation in sorted(coarse, key=cost_of):
                if cost_of(evaluation) >= limit or (self._is_over() and not evaluation.is_feasible):
                    continue
                confirmed = self._confirmed(evaluation, store)
                if confirmed is None:
                    unconfirmed = unconfirmed or evaluation
                    continue
                candidate = undecided.pop(confirmed.design)
                if confirmed.is_feasible:
                    best, limit = confirmed, cost_of(confirmed)
                else:
                    misses.append(confirmed)
                    frontier.discarded[confirmed.violations[0].field] += 1
                    served = least_satisfaction(confirmed.performance)
                    is_slow = bool(confirmed.performance)
                    frontier.fail(candidate, 1.0 if served is None else served, is_slow)
            frontier.reopen(undecided.values())
        return best or unconfirmed, misses

    def _can_run(self, candidate: Candidate, frontier: Frontier) -> bool:
        """Return whether a candidate's file system can run the applications."""
        file_system = candidate.design.file_system
        if self._worksheet.applications and file_system not in self._runs_on:
            try:
                case = scenario(candidate.design, self._worksheet, directory=self._base)
                simulate.load(case.toml)
            except ValueError as error:
                self._remarks.append(f"{file_system} is left out: {error}")
                frontier.exclude(file_system)
            self._runs_on[file_system] = frontier.can_run(file_system)
        return self._runs_on.get(file_system, True)

    def _confirmed(self, evaluation: Evaluation, store: RunStore) -> Evaluation | None:
        """Return a design that meets everything as full simulations of all its servers show it.

        Another one is returned as it is; None if the time ends before.
        """
        if not evaluation.is_feasible or not self._worksheet.applications:
            return evaluation
        design = evaluation.design
        full = [] if self._is_over() else self._simulate_designs([design], "full", store)
        if not full or not full[0].is_feasible or scenario_scale(full[0]) == 1:
            return full[0] if full else None
        self._tell(f"simulation of all servers of {design.name}")
        try:
            case, simulated = confirm(
                design,
                self._worksheet,
                full[0].performance,
                directory=self._base,
                seed=self._seed,
                run=store,
            )
        except TimeoutError:
            return None
        self._simulated += 1
        whole = performances(case, simulated, {})
        if performance_violations(whole, self._worksheet):
            return evaluate(design, self._worksheet, self._catalogue, whole)
        confirmed = tuple(
            msgspec.structs.replace(one, scenario=case.toml, notes=(*one.notes, note))
            for one, all_servers in zip(full[0].performance, whole, strict=True)
            for note in (_confirmation(design, all_servers),)
        )
        return msgspec.structs.replace(full[0], performance=confirmed)

    def _with_alternatives(
        self, chosen: Evaluation, frontier: Frontier, store: RunStore
    ) -> list[Evaluation]:
        """Return the chosen design, and more expensive ones that are faster or safer."""
        met = [chosen]
        dearer = [] if self._is_over() else frontier.beyond(cost_of(chosen), RANGES, IN_RANGE)
        others = [one for one in dearer if self._can_run(one, frontier)]
        self._planned = self._simulated + 2 * len(others)
        for first in range(0, len(others), PAIR):
            if self._is_over():
                break
            pair = [one.design for one in others[first : first + PAIR]]
            coarse = self._simulate_designs(pair, "coarse", store)
            passed = [one.design for one in coarse if one.is_feasible]
            if passed and not self._is_over():
                full = self._simulate_designs(passed, "full", store)
                met += [one for one in full if one.is_feasible]
        return _front(met)

    def _nearest(
        self, frontier: Frontier, misses: Sequence[Evaluation], store: RunStore
    ) -> tuple[Evaluation, ...]:
        """Return the designs that miss the fewest requirements, by the least, simulated.

        A simulation that shows a design to be slow changes the order of the others.
        """
        known = {one.design: one for one in misses}
        for _ in range(ROUNDS):
            ranks = sorted({self._rank(one) for one in known.values()})
            near = [
                one
                for rank, one in frontier.nearest(BATCH, known, self._is_over)
                if len(ranks) < MOST_NEAREST or rank < ranks[MOST_NEAREST - 1][0]
            ]
            if not near or self._is_over():
                known |= {one.design: one.evaluation for one in near}
                break
            self._planned = self._simulated + len(near)
            entries = {one.design: one.entry for one in near}
            for evaluation in self._simulate_designs(list(entries), "coarse", store):
                known[evaluation.design] = evaluation
                served = least_satisfaction(evaluation.performance)
                if served is not None:
                    is_slow = bool(performance_violations(evaluation.performance, self._worksheet))
                    frontier.learn(entries[evaluation.design], served, misses=is_slow)
        missing = {self._rank(one): one for one in known.values() if not one.is_feasible}
        return tuple(missing[rank] for rank in sorted(missing)[:MOST_NEAREST])

    def _rank(self, evaluation: Evaluation) -> tuple[Rank, str]:
        """Return how near a design is, with its name: equal ones look alike."""
        return nearness(evaluation, self._worksheet), evaluation.design.name

    def _simulate_designs(
        self, designs: Sequence[Design], detail: Detail, store: RunStore
    ) -> list[Evaluation]:
        """Evaluate designs with their simulated performance, except those that time ends before."""
        if not self._worksheet.applications:
            return [evaluate(each, self._worksheet, self._catalogue) for each in designs]
        self._tell(f"{detail} simulation of {designs[0].name}" if designs else "")
        results = performances_of(
            designs,
            self._worksheet,
            detail=detail,
            directory=self._base,
            seed=self._seed,
            run=store,
            event_rates=[
                known.event_rate
                if (known := self._runs.get(design))
                else expected_events(design, self._demand)
                for design in designs
            ],
            before=[self._runs.get(each) for each in designs],
        )
        self._simulated += len(designs)
        for design, outcome in zip(designs, results, strict=True):
            if isinstance(outcome, DesignRuns):
                self._runs[design] = outcome
        return [
            self._failed(design, outcome)
            if isinstance(outcome, Exception)
            else evaluate(
                design,
                self._worksheet,
                self._catalogue,
                outcome.performance,
                to_the_end=detail == "full"
                or not performance_violations(outcome.performance, self._worksheet),
            )
            for design, outcome in zip(designs, results, strict=True)
            if not isinstance(outcome, TimeoutError)
        ]

    def _failed(self, design: Design, error: Exception) -> Evaluation:
        """Return a design that cannot be simulated, with the reason as a violation."""
        evaluation = evaluate(design, self._worksheet, self._catalogue)
        reason = Violation(
            field=EXCLUDED,
            wanted="a simulation of all applications",
            got="none",
            message=f"The applications cannot be simulated: {error}",
        )
        return msgspec.structs.replace(evaluation, violations=(*evaluation.violations, reason))

    def _is_over(self, part: float = 1.0) -> bool:
        """Return whether a part of the budget is spent, and remember it for the solution."""
        if time.monotonic() - self._began < part * self._part * self._budget:
            return False
        self._ended_early = True
        return True

    def _tell(self, text: str) -> None:
        if self._on_progress is not None:
            self._on_progress(self._simulated, max(self._planned, self._simulated), text)

    def _solution(
        self,
        frontier: Frontier,
        tried: Options,
        feasible: Sequence[Evaluation],
        nearest: tuple[Evaluation, ...],
        store: RunStore,
    ) -> Solution:
        unsure = [*self._remarks, *unknown_answers(self._loaded.worksheet)]
        if self._ended_early:
            unsure.append(
                f"the search ended when its budget of {self._budget:g} s was spent, after"
                f" {store.ran + store.taken} simulations: with the same directory it goes on"
            )
        best = cost_of(feasible[0]) if feasible else math.inf
        # Nothing is known of designs that were not enumerated.
        bound = frontier.lower_bound(best) if frontier.is_complete else 0.0
        return Solution(
            worksheet_text=self._loaded.text,
            catalogue_text=self._bought.text,
            choices=self._choices,
            front=tuple(feasible),
            chosen=0 if feasible else None,
            enumerated=frontier.enumerated,
            discarded={n: count for n, count in frontier.discarded.most_common() if count > 0},
            nearest=nearest,
            excluded=tried.excluded,
            lower_bound=bound if math.isfinite(bound) else None,
            archives=alternatives(
                self._loaded.worksheet, self._catalogue, feasible[0] if feasible else None
            ),
            separated=tuple(self._separated),
            unsure=tuple(unsure),
            seed=self._seed,
            version=VERSION,
            seconds=time.monotonic() - self._began,
        )


class _PoolSearch:
    """The search for the servers of some zones, on one network."""

    def __init__(
        self,
        search: Search,
        frontier: Frontier,
        network: NetworkModel,
        store: RunStore,
        time_left: Callable[[], float],
    ) -> None:
        self._search, self._frontier, self._store = search, frontier, store
        self._time_left = time_left
        self.least = frontier.lower_bound(math.inf)
        self.shared = frontier.shared_cost(network)

    def cheapest(self, limit: float) -> Evaluation | None:
        """Return the cheapest design that meets everything and is confirmed, if it may cost less
        than a limit."""
        search = self._search
        search._budget = time.monotonic() - search._began + self._time_left()
        best = search._cheapest(self._frontier, self._store, limit)[0]
        return best if best is not None and _is_confirmed(best) else None


def _is_confirmed(evaluation: Evaluation) -> bool:
    """Return whether full simulations show that a design meets everything."""
    return evaluation.is_feasible and all(one.detail == "full" for one in evaluation.performance)


def _least_cost(evaluations: Sequence[Evaluation]) -> float:
    return min(map(cost_of, evaluations), default=math.inf)


def _front(evaluations: Sequence[Evaluation]) -> list[Evaluation]:
    """Return the designs that no other surpasses, the cheapest first."""
    met = sorted(evaluations, key=cost_of)
    return [met[index] for index in front([_objectives(one) for one in met])]


def with_distributions(worksheet: Worksheet, choices: Sequence[Choice]) -> Worksheet:
    """Return the worksheet with the recommended distribution of zones that leave it open."""
    recommended = {
        one.zone: one.values[0] for one in choices if one.aspect == "distribution" and one.values
    }

    def decided(zone: Zone) -> Zone:
        value = recommended.get(zone.name)
        if zone.distribution != "either" or value not in ("simple", "striped"):
            return zone
        return msgspec.structs.replace(zone, distribution=value)

    return msgspec.structs.replace(worksheet, zones=tuple(decided(one) for one in worksheet.zones))


def scenario_scale(evaluation: Evaluation) -> float:
    """Return how many real servers each simulated one of a full simulation stands for."""
    return evaluation.design.nodes / simulated_nodes(evaluation.design, EFFORTS["full"].disks)


def _confirmation(design: Design, whole: ApplicationPerformance) -> str:
    return (
        f"a simulation of all {design.nodes} servers, asked for {DEMAND:g} times what is wanted,"
        f" confirms it: {quantity(whole.throughput, 'B/s')}, {number(whole.operations)} calls a"
        f" second of {quantity(whole.latency, 's')}"
    )


def _objectives(evaluation: Evaluation) -> tuple[float, float, float]:
    """Return cost, throughput and loss probability, all to be small."""
    return (
        cost_of(evaluation),
        -sum(part.throughput for part in evaluation.performance),
        loss_of(evaluation),
    )
