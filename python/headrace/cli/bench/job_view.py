"""Progress of jobs: live on a terminal, one line every ten seconds elsewhere."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live as Screen

from headrace.report.job_tables import Now, live, live_line
from headrace.report.plain_text import plain_line

if TYPE_CHECKING:
    from headrace.measure.jobs import JobsLive

EVERY_S = 10.0
"""Seconds between two progress lines where standard error is no terminal."""


@contextlib.contextmanager
def job_view(title: str, shown: bool) -> Iterator[Callable[["JobsLive"], None] | None]:
    """The function to call with the progress of jobs."""
    if not shown:
        yield None
    elif sys.stderr.isatty():
        now = Now(title)
        with Screen(console=Console(stderr=True), transient=True, refresh_per_second=4) as screen:

            def draw(progress: "JobsLive") -> None:
                now.add(progress)
                screen.update(live(now))

            yield draw
    else:
        yield _lines(Now(title))


def _lines(now: Now) -> Callable[["JobsLive"], None]:
    last = time.monotonic()

    def report(progress: "JobsLive") -> None:
        nonlocal last
        now.add(progress)
        if time.monotonic() - last >= EVERY_S:
            last = time.monotonic()
            print(plain_line(live_line(now)), file=sys.stderr, flush=True)

    return report
