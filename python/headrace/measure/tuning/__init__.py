"""Tune a mix of file operations so that the protocol below has a wanted mix: Wang 2002, section
3.3.2."""

from headrace.measure.tuning.profile import Amount, Counted, Profile, profile, workload
from headrace.measure.tuning.profilers import Profiler, Watched, profiler
from headrace.measure.tuning.search import Tuned, nearest, pairwise
from headrace.measure.tuning.targets import TARGETS, target

__all__ = [
    "TARGETS",
    "Amount",
    "Counted",
    "Profile",
    "Profiler",
    "Tuned",
    "Watched",
    "nearest",
    "pairwise",
    "profile",
    "profiler",
    "target",
    "workload",
]
