"""Run scenarios and read their results."""

from headrace.simulate.parallel_runs import ParallelRuns
from headrace.simulate.playback import Playback, load_playback
from headrace.simulate.result import Result, load_result
from headrace.simulate.runs import rerun, run
from headrace.simulate.scenario import Quantified, Scenario, load, load_with_sets
from headrace.simulate.single_requests import in_file
from headrace.simulate.stored_results import import_saved, keep
from headrace.simulate.trust import Trust
from headrace.simulate.whatifs import WhatIf, study, whatif

__all__ = [
    "ParallelRuns",
    "Playback",
    "Quantified",
    "Result",
    "Scenario",
    "Trust",
    "WhatIf",
    "import_saved",
    "in_file",
    "keep",
    "load",
    "load_playback",
    "load_result",
    "load_with_sets",
    "rerun",
    "run",
    "study",
    "whatif",
]
