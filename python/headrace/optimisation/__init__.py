"""Search a scenario's parameters for the best point: objectives, constraints and prices."""

from headrace.optimisation.candidate import Candidate
from headrace.optimisation.goals import Constraint, Goals, Objective, WrongGoal
from headrace.optimisation.optimum import Optimum
from headrace.optimisation.prices import WrongPrice
from headrace.optimisation.samplers import SAMPLERS
from headrace.optimisation.search import Infeasible, optimise

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
