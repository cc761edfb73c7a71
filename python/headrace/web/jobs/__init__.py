"""Jobs: commands that run as processes of their own, in a queue that survives the server.

A job has a directory with its record (`job.json`) and the output of its command
(`document.json`). Its log is `log.txt`, its progress `progress.jsonl`, and its exit status
`end.json`. The process that runs the command belongs to no server: a server that starts finds it by
the directory.
"""

from headrace.web.jobs.forms import CommandForm, FormField
from headrace.web.jobs.job import Job, JobRequest, JobState, Progress, RefusedRequest, UnwritableJob
from headrace.web.jobs.queue import JobQueue

__all__ = [
    "CommandForm",
    "FormField",
    "Job",
    "JobQueue",
    "JobRequest",
    "JobState",
    "Progress",
    "RefusedRequest",
    "UnwritableJob",
]
