"""Run one scenario at many points: sweeps, replications and searches."""

import sys
from types import ModuleType

from headrace.sweep.axis import Axis, WrongAxis, of_mapping, parse
from headrace.sweep.designs import DESIGNS
from headrace.sweep.engines import ENGINES
from headrace.sweep.result import FIGURES, Run, Sweep
from headrace.sweep.sensitivity import METHODS, Index, Sensitivity
from headrace.sweep.sweep import Precision, run_points, sweep

__all__ = [
    "DESIGNS",
    "ENGINES",
    "FIGURES",
    "METHODS",
    "Axis",
    "Index",
    "Precision",
    "Run",
    "Sensitivity",
    "Sweep",
    "WrongAxis",
    "of_mapping",
    "parse",
    "run_points",
    "sweep",
]


class _Callable(ModuleType):
    """Makes `hr.sweep(...)` work: the import of this package gives `headrace` its name, which
    would hide a function."""

    __call__ = staticmethod(sweep)


sys.modules[__name__].__class__ = _Callable
