"""Jobs: reads and writes of one block size at a queue depth (the quick start, fio job files)."""

from headrace.measure.jobs.fio_file import read_fio_file
from headrace.measure.jobs.plan import FileLayout, Job, Plan
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
