"""Search a design: enumerate, discard, simulate coarsely, simulate in full, choose."""

import time
from collections import Counter
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import msgspec

from headrace import simulate
from headrace._core import VERSION
from headrace.design.catalogue_file import LoadedCatalogue, load_catalogue
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
from headrace.design.options import options
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
    SURPASSED,
    Candidate,
    Screening,
    cost_of,
    loss_of,
    screen,
)
from headrace.design.search.misses import throughput_field, total_miss
from headrace.design.search.saved_runs import RunStore
from headrace.design.search.simulation_plan import (
    BATCH,
    CHEAPEST,
    MOST_COARSE,
    MOST_FULL,
    SCOUTS,
    SPREAD,
    Efficiency,
    spread,
)
from headrace.design.system import Design
from headrace.design.worksheet import Worksheet, Zone, with_flows
from headrace.design.worksheet_file import LoadedWorksheet, load_worksheet
from headrace.progress_events import OnStep
from headrace.quantities import number, quantity
from headrace.simulate import ParallelRuns

BUDGET = 120.0
"""Seconds that a search takes at the most."""
COARSE_PART = 0.6
"""Part of the budget after which no further designs are simulated coarsely."""
PAIR = 2
"""Designs that are simulated in full at a time."""
MOST_NEAREST = 4
"""Designs that are shown if none meets everything."""
IMPOSSIBLE = "applications"
"""Reason of designs whose file system cannot run an application."""


def solve(
    worksheet: str | PathLike[str] | LoadedWorksheet,
    catalogue: str | PathLike[str] | LoadedCatalogue | None = None,
    *,
    directory: str | PathLike[str] | None = None,
    budget: float = BUDGET,
    seed: int = 1,
    everything: bool = False,
    sets: Sequence[str] = (),
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
        sets: Answers that replace those of the file, as `path=value`.
        on_progress: Called with the steps done, their number, and what comes next.

    Returns:
        The designs that no other surpasses, the chosen one, and what was discarded and why.

    Raises:
        ScenarioError: The worksheet or the catalogue is wrong.
        ValueError: A file that the worksheet names is not what it should be.
        OSError: A file cannot be read or written.
        KeyboardInterrupt: On Ctrl-C; what was simulated is saved.
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
        self._discarded: Counter[str] = Counter()
        self._remarks: list[str] = []
        self._ended_early = False
        self._demand: tuple[Demand, ...] = ()
        self._runs: dict[Design, DesignRuns] = {}
        self._simulated = 0
        self._planned = 0

    def run(self) -> Solution:
        """Search, and return the solution."""
        # Files of the worksheet are read first: a wrong one is no fault of a design.
        self._demand = demands(self._worksheet, self._base)
        with ParallelRuns("design", progress=False) as runs:
            # Before the designs are enumerated: a damaged file is reported at once.
            store = RunStore(self._directory, lambda cases: run_scenarios(cases, runs))
            screening = screen(
                self._worksheet,
                self._catalogue,
                options(
                    self._worksheet, self._catalogue, self._choices, everything=self._everything
                ),
                self._demand,
                lambda count: self._tell(f"{count:,} designs enumerated"),
            )
            self._discarded += screening.discarded
            candidates = self._possible(screening.candidates)
            evaluated = self._coarsely(candidates, store)
            feasible = self._in_full(evaluated, store)
            feasible = self._confirmed(feasible, store)
            nearest = () if feasible else self._nearest(screening, evaluated, store)
        return self._solution(screening, feasible, nearest, store)

    def _possible(self, candidates: Sequence[Candidate], count: bool = True) -> list[Candidate]:
        """Return the candidates whose file system can run the applications."""
        if not self._worksheet.applications:
            return list(candidates)
        reasons: dict[str, str] = {}
        for candidate in candidates:
            file_system = candidate.design.file_system
            if file_system not in reasons:
                try:
                    case = scenario(candidate.design, self._worksheet, directory=self._base)
                    simulate.load(case.toml)
                except ValueError as error:
                    reasons[file_system] = f"{file_system} is left out: {error}"
                    self._remarks.append(reasons[file_system])
                else:
                    reasons[file_system] = ""
            if reasons[file_system] and count:
                self._discarded[IMPOSSIBLE] += 1
        return [one for one in candidates if not reasons[one.design.file_system]]

    def _coarsely(self, candidates: Sequence[Candidate], store: RunStore) -> list[Evaluation]:
        """Simulate coarsely: some over all costs, then the cheapest until enough meet everything,
        then others for the front."""
        efficiency = Efficiency()
        done: list[Evaluation] = []
        left = list(candidates)
        self._planned = min(len(candidates), CHEAPEST + SPREAD) + MOST_FULL
        met = 0

        def batch(chosen: Sequence[Candidate]) -> int:
            evaluations = self._simulate_designs([one.design for one in chosen], "coarse", store)
            for candidate, evaluation in zip(chosen, evaluations, strict=True):
                left.remove(candidate)
                if evaluation.performance:
                    satisfied = least_satisfaction(evaluation.performance)
                    efficiency.note(candidate, 1.0 if satisfied is None else satisfied)
            done.extend(evaluations)
            return sum(one.is_feasible for one in evaluations)

        allowed = [one for one in left if efficiency.allows(one)] or left
        if allowed:
            batch(spread(allowed, SCOUTS))
        while met < CHEAPEST and len(done) < MOST_COARSE and not self._is_over(COARSE_PART):
            chosen = [one for one in left if efficiency.allows(one)][:BATCH]
            if not chosen:
                break
            met += batch(chosen)
        # The front shows what more money buys.
        others = spread([one for one in left if efficiency.allows(one)], SPREAD)
        self._planned = self._simulated + len(others) + MOST_FULL
        for first in range(0, len(others), BATCH):
            if self._is_over(COARSE_PART):
                break
            batch(others[first : first + BATCH])
        field = throughput_field(self._worksheet)
        for candidate in left:
            self._discarded[SURPASSED if efficiency.allows(candidate) else field] += 1
        for row in done:
            if not row.is_feasible:
                self._discarded[row.violations[0].field] += 1
        return done

    def _in_full(self, evaluated: Sequence[Evaluation], store: RunStore) -> list[Evaluation]:
        """Return the front of the designs that meet everything, simulated in full."""
        coarse = sorted((one for one in evaluated if one.is_feasible), key=cost_of)
        queue = [coarse[index] for index in front([_objectives(one) for one in coarse])]
        if not self._worksheet.applications:
            self._discarded[SURPASSED] += len(coarse) - len(queue)
            return queue
        # The two cheapest first, then some over all costs, then the others while none meets all.
        order = [*queue[:2], *(one for one in spread(queue, MOST_FULL) if one not in queue[:2])]
        order = order[:MOST_FULL]
        rest = [evaluation for evaluation in queue if evaluation not in order]
        self._planned = self._simulated + len(order)
        met: list[Evaluation] = []
        ran = 0
        while order or (rest and not met):
            if ran and self._is_over(1.0):
                break
            pair, order = (order[:PAIR], order[PAIR:]) if order else (rest[:PAIR], order)
            rest = [evaluation for evaluation in rest if evaluation not in pair]
            ran += len(pair)
            for result in self._simulate_designs([one.design for one in pair], "full", store):
                if result.is_feasible:
                    met.append(result)
                else:
                    self._discarded[result.violations[0].field] += 1
        met.sort(key=cost_of)
        kept = [met[index] for index in front([_objectives(one) for one in met])]
        self._discarded[SURPASSED] += len(coarse) - ran + len(met) - len(kept)
        return kept

    def _confirmed(self, feasible: list[Evaluation], store: RunStore) -> list[Evaluation]:
        """Return the designs from the cheapest on that a simulation of all its servers confirms."""
        for place, best in enumerate(feasible):
            if not best.performance or scenario_scale(best) == 1:
                return feasible[place:]
            if self._is_over(1.0):
                self._remarks.append(
                    f"{best.design.name} was simulated with a part of its servers only: the budget"
                    " was spent"
                )
                return feasible[place:]
            self._planned = self._simulated + 1
            self._tell(f"simulation of all servers of {best.design.name}")
            case, simulated = confirm(
                best.design,
                self._worksheet,
                best.performance,
                directory=self._base,
                seed=self._seed,
                run=store,
            )
            self._simulated += 1
            whole = performances(case, simulated, {})
            missed = performance_violations(whole, self._worksheet)
            if not missed:
                confirmed = tuple(
                    msgspec.structs.replace(one, scenario=case.toml, notes=(*one.notes, note))
                    for one, all_servers in zip(best.performance, whole, strict=True)
                    for note in (_confirmation(best.design, all_servers),)
                )
                return [
                    msgspec.structs.replace(best, performance=confirmed),
                    *feasible[place + 1 :],
                ]
            self._discarded[missed[0].field] += 1
        return []

    def _nearest(
        self, screening: Screening, evaluated: Sequence[Evaluation], store: RunStore
    ) -> tuple[Evaluation, ...]:
        """Return the designs that miss the least, simulated."""
        misses = [evaluation for evaluation in evaluated if not evaluation.is_feasible]
        missed = [one.design for one in self._possible(screening.nearest, count=False)[:BATCH]]
        self._planned = self._simulated + len(missed)
        misses += self._simulate_designs(missed, "coarse", store)
        misses = [miss for miss in misses if not miss.is_feasible]
        misses.sort(key=lambda miss: (total_miss(miss, self._worksheet), cost_of(miss)))
        return tuple(misses[:MOST_NEAREST])

    def _simulate_designs(
        self, designs: Sequence[Design], detail: Detail, store: RunStore
    ) -> list[Evaluation]:
        """Evaluate designs with their simulated performance."""
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
                self._runs[it].event_rate if it in self._runs else expected_events(it, self._demand)
                for it in designs
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
            else evaluate(design, self._worksheet, self._catalogue, outcome.performance)
            for design, outcome in zip(designs, results, strict=True)
        ]

    def _failed(self, design: Design, error: Exception) -> Evaluation:
        """Return a design that cannot be simulated, with the reason as a violation."""
        evaluation = evaluate(design, self._worksheet, self._catalogue)
        reason = Violation(
            field=IMPOSSIBLE,
            wanted="a simulation of all applications",
            got="none",
            message=f"The applications cannot be simulated: {error}",
        )
        return msgspec.structs.replace(evaluation, violations=(*evaluation.violations, reason))

    def _is_over(self, part: float) -> bool:
        """Return whether a part of the budget is spent, and remember it for the solution."""
        if time.monotonic() - self._began < part * self._budget:
            return False
        self._ended_early = True
        return True

    def _tell(self, text: str) -> None:
        if self._on_progress is not None:
            self._on_progress(self._simulated, max(self._planned, self._simulated), text)

    def _solution(
        self,
        screening: Screening,
        feasible: Sequence[Evaluation],
        nearest: tuple[Evaluation, ...],
        store: RunStore,
    ) -> Solution:
        unsure = [*unknown_answers(self._loaded.worksheet), *self._remarks]
        if self._ended_early:
            unsure.append(
                f"the search ended when its budget of {self._budget:g} s was spent, after"
                f" {store.ran + store.taken} simulations: with the same directory it goes on"
            )
        return Solution(
            worksheet_text=self._loaded.text,
            catalogue_text=self._bought.text,
            choices=self._choices,
            front=tuple(feasible),
            chosen=0 if feasible else None,
            enumerated=screening.enumerated,
            discarded={name: count for name, count in self._discarded.most_common() if count > 0},
            nearest=nearest,
            unsure=tuple(unsure),
            seed=self._seed,
            version=VERSION,
            seconds=time.monotonic() - self._began,
        )


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
