"""Samplers: how a search chooses its points.

A sampler is added by a function and one line in `SAMPLERS`.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from optuna.samplers import BaseSampler, NSGAIISampler, QMCSampler, RandomSampler, TPESampler

from headrace.optimisation.goals import WrongGoal

Maker: TypeAlias = Callable[[int, int], BaseSampler]
"""Makes a sampler from a seed and the number of trials."""
FULL = "full"
"""Name of the search that runs every point."""
MANY_TRIALS = 1000
"""Trials from which several objectives are searched by NSGA-II."""
POPULATION = (8, 50)
"""Smallest and largest population of NSGA-II."""


def tpe(seed: int, trials: int) -> BaseSampler:
    """Tree-structured Parzen estimator (Bergstra et al. 2011), for one objective or several
    (Ozaki et al. 2022)."""
    return TPESampler(seed=seed, multivariate=True, n_startup_trials=min(10, max(trials // 3, 2)))


def nsga2(seed: int, trials: int) -> BaseSampler:
    """NSGA-II (Deb et al. 2002), with about ten generations."""
    least, most = POPULATION
    return NSGAIISampler(seed=seed, population_size=min(max(trials // 10, least), most))


def random(seed: int, trials: int) -> BaseSampler:
    """Independent uniform samples."""
    return RandomSampler(seed=seed)


def sobol(seed: int, trials: int) -> BaseSampler:
    """Scrambled Sobol sequence."""
    return QMCSampler(seed=seed, scramble=True, warn_independent_sampling=False)


SAMPLERS: Mapping[str, Maker] = {
    "tpe": tpe,
    "nsga2": nsga2,
    FULL: random,
    "random": random,
    "sobol": sobol,
}
"""Samplers by name. The full search gives its points itself."""


def choose(name: str | None, size: int | None, objectives: int, trials: int) -> str:
    """Return the name of the sampler for a search.

    Args:
        name: The user's choice, or None.
        size: Number of points of the space, or None.
        objectives: Number of objectives.
        trials: Most trials.

    Raises:
        WrongGoal: There is no such sampler, or the space is not finite.
    """
    if name is None:
        if size is not None and size <= trials:
            return FULL
        return "nsga2" if objectives > 1 and trials >= MANY_TRIALS else "tpe"
    if name not in SAMPLERS:
        raise WrongGoal(f"sampler {name!r}: expected {', '.join(SAMPLERS)}")
    if name == FULL and (size is None or size > trials):
        points = "without end" if size is None else f"of {size:,} points"
        raise WrongGoal(
            f"sampler full: a space {points} needs more than {trials:,} trials: give more, or the"
            " number of values of ranges, such as path=1..16:5"
        )
    return name
