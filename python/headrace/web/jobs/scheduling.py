"""The order in which waiting jobs start."""

from collections.abc import Iterable, Sequence

from headrace.web.jobs.job import Job, JobState


def in_turn(jobs: Iterable[Job]) -> list[Job]:
    """Return the waiting jobs in the order in which they would start now.

    Users take turns: the one with the fewest running jobs, and then the one whose last start is
    oldest, is next. The jobs of one user keep their order.
    """
    known = sorted(jobs, key=_place)
    waiting: dict[str, list[Job]] = {}
    running: dict[str, int] = {}
    started: dict[str, float] = {}
    for job in known:
        if job.state is JobState.WAITING:
            waiting.setdefault(job.owner, []).append(job)
        elif job.state is JobState.RUNNING:
            running[job.owner] = running.get(job.owner, 0) + 1
        if job.started is not None:
            started[job.owner] = max(started.get(job.owner, 0.0), job.started)
    order: list[Job] = []
    turn = max(started.values(), default=0.0)
    while waiting:
        owner = min(
            waiting,
            key=lambda who: (running.get(who, 0), started.get(who, 0.0), _place(waiting[who][0])),
        )
        order.append(waiting[owner].pop(0))
        if not waiting[owner]:
            del waiting[owner]
        running[owner] = running.get(owner, 0) + 1
        turn += 1.0
        started[owner] = turn
    return order


def fits(job: Job, running: Sequence[Job], cores: int) -> bool:
    """Return true if a job may start beside those that run. A measurement runs alone."""
    if not running:
        return True
    return not (job.measures or any(one.measures for one in running) or len(running) >= cores)


def _place(job: Job) -> tuple[float, str]:
    return job.created, job.id
