"""Search a scenario's parameters for the best point: objectives, constraints and prices."""

from typing import TYPE_CHECKING

from headrace.late_imports import late_names

if TYPE_CHECKING:
    from headrace.optimisation.candidate import Candidate
    from headrace.optimisation.goals import Constraint, Goals, Objective, WrongGoal
    from headrace.optimisation.optimum import Optimum
    from headrace.optimisation.prices import WrongPrice
    from headrace.optimisation.samplers import SAMPLERS
    from headrace.optimisation.search import Infeasible, optimise
else:
    __getattr__ = late_names(
        __name__,
        {
            "candidate": ("Candidate",),
            "goals": ("Constraint", "Goals", "Objective", "WrongGoal"),
            "optimum": ("Optimum",),
            "prices": ("WrongPrice",),
            "samplers": ("SAMPLERS",),
            "search": ("Infeasible", "optimise"),
        },
    )

__all__ = [
    "SAMPLERS",
    "Candidate",
    "Constraint",
    "Goals",
    "Infeasible",
    "Objective",
    "Optimum",
    "WrongGoal",
    "WrongPrice",
    "optimise",
]
