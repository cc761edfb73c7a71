"""Optuna's study of a search: proposes points, and learns what they gave."""

import itertools
import random
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

import optuna
from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances
from optuna.samplers import BaseSampler, NSGAIISampler, QMCSampler, RandomSampler, TPESampler
from optuna.trial import FrozenTrial, Trial, TrialState

from headrace.optimisation.candidate import Candidate
from headrace.optimisation.goals import Goals
from headrace.optimisation.samplers import Sampler
from headrace.optimisation.space import Space
from headrace.sweeps.designs import Point

FEWEST_FOR_IMPORTANCE = 20
"""Fewest trials from which importances are computed: a tenth of them is compared with the rest."""

PROPOSALS = 50
"""Proposals of known points in a row, after which random points follow; after as many known ones
of those, a search ends."""

POPULATION = (8, 50)
"""Smallest and largest population of NSGA-II."""


class Study:
    """Proposes points in batches. Equal seeds and outcomes give equal proposals."""

    def __init__(
        self, space: Space, goals: Goals, sampler: Sampler, seed: int, most_trials: int
    ) -> None:
        """Begin a study.

        Args:
            space: The search space.
            goals: Objectives and constraints.
            sampler: How points are chosen.
            seed: Seed of the sampler.
            most_trials: Trials, as far as the sampler depends on them.
        """
        self._space, self._goals = space, goals
        self._random = random.Random(seed)
        self._every = space.every() if sampler is Sampler.FULL else None
        with _quiet():
            self._study = optuna.create_study(
                sampler=_create(sampler, seed, most_trials),
                directions=[
                    "maximize" if goal.is_maximised else "minimize" for goal in goals.objectives
                ],
            )

    def ask(self, count: int, is_known: Callable[[Point], bool]) -> list[tuple[Trial, Point]]:
        """Return the next points; fewer or none if a full search has no more.

        A known point tells nothing new, as all points have the same seeds: another is proposed
        instead.
        """
        if self._every is not None:
            rows = list(itertools.islice(self._every, count))
            for row in rows:
                self._study.enqueue_trial(dict(row))
            count = len(rows)
        asked: list[tuple[Trial, Point]] = []
        with _quiet():
            while len(asked) < count:
                new = self._ask_new(
                    lambda point: is_known(point) or any(point == other for _, other in asked)
                )
                if new is None:
                    break
                asked.append(new)
        return asked

    def _ask_new(self, is_known: Callable[[Point], bool]) -> tuple[Trial, Point] | None:
        """Return a new point: the sampler's, or a random one if the sampler has converged."""
        for number in range(2 * PROPOSALS):
            if number >= PROPOSALS:
                self._study.enqueue_trial(self._space.draw(self._random))
            trial = self._study.ask(self._space.distributions)
            point = self._space.point(trial.params)
            if self._every is not None or not is_known(point):
                return trial, point
            self._study.tell(trial, state=TrialState.FAIL)
        return None

    def tell(self, trial: Trial, candidate: Candidate) -> None:
        """Note the means of a candidate, or that it failed."""
        with _quiet():
            if candidate.error:
                self._study.tell(trial, state=TrialState.FAIL)
                return
            means = candidate.means(self._goals.figures)
            for number, limit in enumerate(self._goals.constraints):
                trial.set_constraint(str(number), limit.violation(means[limit.figure]))
            self._study.tell(trial, [means[goal.figure] for goal in self._goals.objectives])

    def importances(self) -> Mapping[str, Mapping[str, float]]:
        """Return the importance of each axis by objective; none of few trials."""
        complete = self._study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        names = [dimension.axis.name for dimension in self._space.dimensions if dimension.size != 1]
        if len(complete) < FEWEST_FOR_IMPORTANCE or len(names) < 2:
            return {}
        values = {}
        with _quiet():
            for number, objective in enumerate(self._goals.objectives):
                if len({trial.values[number] for trial in complete}) == 1:
                    continue
                values[objective.figure] = get_param_importances(
                    self._study,
                    evaluator=PedAnovaImportanceEvaluator(),
                    params=names,
                    # The lower, the better.
                    target=partial(_loss, number, objective.sign),
                )
        return values


def _loss(number: int, sign: int, trial: FrozenTrial) -> float:
    value: float = trial.values[number]
    return -sign * value


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Optuna's log and its warnings of experimental features."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="optuna")
            warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(before)


def _create(sampler: Sampler, seed: int, trials: int) -> BaseSampler:
    match sampler:
        case Sampler.TPE:
            startup = min(10, max(trials // 3, 2))
            return TPESampler(seed=seed, multivariate=True, n_startup_trials=startup)
        case Sampler.NSGA2:
            least, most = POPULATION
            return NSGAIISampler(seed=seed, population_size=min(max(trials // 10, least), most))
        case Sampler.SOBOL:
            return QMCSampler(seed=seed, scramble=True, warn_independent_sampling=False)
        case Sampler.FULL | Sampler.RANDOM:
            # Every point of a full search is given.
            return RandomSampler(seed=seed)
