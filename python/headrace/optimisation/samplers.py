"""Samplers: how a search chooses its points."""

from enum import StrEnum

from headrace.optimisation.goals import WrongGoal

MANY_TRIALS = 1000
"""Trials from which several objectives are searched by NSGA-II."""


class Sampler(StrEnum):
    """A sampler, which `study.py` creates."""

    TPE = "tpe"
    """Tree-structured Parzen estimator (Bergstra et al. 2011), for one objective or several
    (Ozaki et al. 2022)."""
    NSGA2 = "nsga2"
    """NSGA-II (Deb et al. 2002), with about ten generations."""
    FULL = "full"
    """Every point."""
    RANDOM = "random"
    """Independent uniform samples."""
    SOBOL = "sobol"
    """Scrambled Sobol sequence."""


SAMPLERS = tuple(Sampler)
"""All samplers."""


def choose(name: str | None, size: int | None, objectives: int, trials: int) -> Sampler:
    """Return the sampler for a search.

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
            return Sampler.FULL
        several = objectives > 1 and trials >= MANY_TRIALS
        return Sampler.NSGA2 if several else Sampler.TPE
    if name not in SAMPLERS:
        raise WrongGoal(f"sampler {name!r}: expected {', '.join(SAMPLERS)}")
    if name == Sampler.FULL and (size is None or size > trials):
        points = "without end" if size is None else f"of {size:,} points"
        raise WrongGoal(
            f"sampler full: a space {points} needs more than {trials:,} trials: give more, or the"
            " number of values of ranges, such as path=1..16:5"
        )
    return Sampler(name)
