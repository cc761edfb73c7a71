"""How a job ended, in words."""

import re
import signal

from headrace.web.jobs.directory import End, Order
from headrace.web.jobs.job import JobState
from headrace.web.jobs.runner import CANCELLED, TIME

OUT_OF_MEMORY = re.compile(
    r"out of memory|MemoryError|memory allocation of \d+ bytes failed|[Cc]annot allocate memory"
)
"""Last words of a command that got no memory: Python's, Rust's and the system's."""
TAIL_LINES = 20
LONGEST = 500
"""Characters of a message."""


def ending(end: End, order: Order | None, log: str, cancelled: bool) -> tuple[JobState, str]:
    """Return the state of a job that has ended, and a message for its user.

    Parameters:
        end: What the runner left.
        order: The order of the runner, with the limits; None if it is missing.
        log: End of the log.
        cancelled: Whether a user asked for the end.
    """
    status, reason = end.status, end.reason
    if reason == TIME:
        limit = "" if order is None else f" of {order.seconds:,.0f} s"
        return JobState.FAILED, f"stopped: it reached the time limit{limit}"
    if reason == CANCELLED or (cancelled and status != 0):
        return JobState.CANCELLED, ""
    if status == 0:
        return JobState.DONE, ""
    if end.error:
        return JobState.FAILED, f"its command could not be started: {end.error}"
    tail = log.strip().splitlines()[-TAIL_LINES:]
    last = tail[-1][:LONGEST] if tail else ""
    if OUT_OF_MEMORY.search("\n".join(tail)):
        limit = "" if order is None else f": a job may have {order.memory / (1 << 30):,.3g} GiB"
        return JobState.FAILED, f"out of memory{limit}"
    if status < 0:
        name = next((each.name for each in signal.Signals if each == -status), f"signal {-status}")
        hint = ": the machine may be out of memory" if -status == signal.SIGKILL else ""
        return JobState.FAILED, f"its command was ended by {name}{hint}"
    return JobState.FAILED, last or f"its command ended with status {status}"
