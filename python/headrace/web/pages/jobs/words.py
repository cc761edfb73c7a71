"""Words for jobs."""

from datetime import datetime

from headrace.quantities import duration
from headrace.web.access.permissions import Action, Kind, is_allowed
from headrace.web.access.users import User
from headrace.web.jobs import Job, JobState

ICONS = {
    JobState.WAITING: "schedule",
    JobState.RUNNING: "play_circle",
    JobState.DONE: "check_circle",
    JobState.FAILED: "error",
    JobState.CANCELLED: "cancel",
    JobState.LOST: "help",
}


def may_change(job: Job, user: User) -> bool:
    """Return true if a user may cancel or remove a job."""
    return is_allowed(user, Action.CHANGE, Kind.JOB, job.owner)


def moment(time: float | None) -> str:
    """Return a time of the day, with the date unless it is today's."""
    if time is None:
        return ""
    at = datetime.fromtimestamp(time)
    today = at.date() == datetime.now().date()
    return at.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M")


def span(seconds: float | None) -> str:
    """Return a span of time such as `3 min 20 s`."""
    if seconds is None:
        return ""
    return duration(round(seconds))
