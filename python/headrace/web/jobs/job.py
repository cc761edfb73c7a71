"""Jobs and what describes them."""

import time
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, TypeAlias

import msgspec

from headrace.progress_events import Progress

__all__ = [
    "FormPart",
    "Job",
    "JobRequest",
    "JobState",
    "Progress",
    "RefusedRequest",
    "UnwritableJob",
]

Moment: TypeAlias = Annotated[float, msgspec.Meta(ge=0.0, lt=253_402_000_000.0)]
"""Seconds since the epoch, up to the year 9999."""


class RefusedRequest(ValueError):
    """A request that no job can be made of. The text is for the user, `field` is the parameter."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class UnwritableJob(RefusedRequest):
    """A job that the data directory does not take: its disk may be full."""


class JobState(StrEnum):
    """State of a job."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"
    """Its process ended without leaving its exit status: killed, or the machine restarted."""

    @property
    def ended(self) -> bool:
        """True if the job will not change any more."""
        return self not in (JobState.WAITING, JobState.RUNNING)


class JobRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command to run, with its parameters by name.

    A path is absolute and below a directory that the operator allows, or one of these:

    - `input:NAME`: a file of `inputs`
    - `upload:NAME`: a file that the user uploaded
    - `job:ID/NAME`: a file that a job made
    - `output:NAME`: a file that the command writes
    - `results:ID`: a result in the store
    """

    command: tuple[str, ...]
    values: dict[str, Any] = {}
    inputs: dict[str, str] = {}
    """Texts of files by name, such as `{"scenario.toml": "…"}`. They are written into the job's
    directory."""
    title: str = ""


class FormPart(msgspec.Struct, frozen=True):
    """Values and files that a part of a form adds to a request."""

    values: Mapping[str, str] = {}
    inputs: Mapping[str, str] = {}


class Job(msgspec.Struct):
    """A job, as `job.json` keeps it."""

    id: str
    owner: str
    request: JobRequest
    created: Moment
    state: JobState = JobState.WAITING
    started: Moment | None = None
    ended: Moment | None = None
    status: int | None = None
    """Exit status of the command."""
    message: str = ""
    """Why the job failed or was lost."""
    result: str | None = None
    """Identifier of its result in the store."""
    cancelled: bool = False
    """Whether a user asked for its end."""
    measures: bool = False
    """Whether it must run alone."""
    starts: int = 0
    """How often its process was started. More than once only if it did not begin."""

    @property
    def seconds(self) -> float | None:
        """Time from start to end, or until now; None if the job has not started."""
        if self.started is None:
            return None
        return max(0.0, (self.ended or time.time()) - self.started)

    @property
    def title(self) -> str:
        """Title of the request, or its command."""
        return self.request.title or "headrace " + " ".join(self.request.command)
