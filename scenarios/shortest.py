"""A scheduler of one's own: the shortest job first. See docs/how-to/own-code.md."""

import heapq

import headrace


class ShortestFirst(headrace.Scheduler):
    """Serves the smallest of the waiting jobs, the earlier of two equal ones."""

    def __init__(self, depth: int = 4) -> None:
        self.depth = depth
        self.out = 0
        self.waiting: list[tuple[int, int, headrace.Job]] = []
        self.arrivals = 0

    def job_arrival(self, job: headrace.Job) -> None:
        self.arrivals += 1
        heapq.heappush(self.waiting, (job.size, self.arrivals, job))
        self.fill()

    def job_finish(self, job: headrace.Job) -> None:
        self.out -= 1
        self.fill()

    def fill(self) -> None:
        while self.waiting and self.out < self.depth:
            self.out += 1
            self.dispatch(heapq.heappop(self.waiting)[-1])
