"""Jobs: requests at a queue depth (the quick start, fio's job files and command lines)."""

from headrace.jobs.fio import read_fio_file
from headrace.jobs.plan import FileLayout, Job, Plan
from headrace.measure.jobs.quick_start import Options, quick_start
from headrace.measure.jobs.run import JobsLive, JobsResult, run_jobs

__all__ = [
    "FileLayout",
    "Job",
    "JobsLive",
    "JobsResult",
    "Options",
    "Plan",
    "quick_start",
    "read_fio_file",
    "run_jobs",
]
