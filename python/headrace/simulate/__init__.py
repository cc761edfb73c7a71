"""Run scenarios and read their results."""

from typing import TYPE_CHECKING

from headrace.late_imports import late_names

__all__ = [
    "ParallelRuns",
    "Placement",
    "Playback",
    "Quantified",
    "ReplacementPolicy",
    "Result",
    "Scenario",
    "Trust",
    "import_saved",
    "in_file",
    "keep",
    "load",
    "load_playback",
    "load_result",
    "load_with_sets",
    "rerun",
    "run",
]

if TYPE_CHECKING:
    from headrace.simulate.parallel_runs import ParallelRuns
    from headrace.simulate.placement import Placement
    from headrace.simulate.playback import Playback, load_playback
    from headrace.simulate.policies import ReplacementPolicy
    from headrace.simulate.result import Result
    from headrace.simulate.runs import rerun, run
    from headrace.simulate.saved_results import load_result
    from headrace.simulate.scenario import Quantified, Scenario, load, load_with_sets
    from headrace.simulate.single_requests import in_file
    from headrace.simulate.stored_results import import_saved, keep
    from headrace.simulate.trust import Trust
else:
    __getattr__ = late_names(
        __name__,
        {
            "parallel_runs": ("ParallelRuns",),
            "placement": ("Placement",),
            "playback": ("Playback", "load_playback"),
            "policies": ("ReplacementPolicy",),
            "result": ("Result",),
            "saved_results": ("load_result",),
            "runs": ("rerun", "run"),
            "scenario": ("Quantified", "Scenario", "load", "load_with_sets"),
            "single_requests": ("in_file",),
            "stored_results": ("import_saved", "keep"),
            "trust": ("Trust",),
        },
    )
