"""First in, first out: the Python twin of `kind = "fifo"`, for the cost of the crossing."""

from collections import deque

import headrace


class Fifo(headrace.Scheduler):
    """At most `depth` jobs out at once."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.out = 0
        self.waiting: deque[headrace.Job] = deque()

    def job_arrival(self, job: headrace.Job) -> None:
        if self.out < self.depth:
            self.out += 1
            self.dispatch(job)
        else:
            self.waiting.append(job)

    def job_finish(self, job: headrace.Job) -> None:
        if self.waiting:
            self.dispatch(self.waiting.popleft())
        else:
            self.out -= 1
