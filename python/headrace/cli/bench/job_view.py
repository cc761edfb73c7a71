"""Progress of jobs: live on a terminal, one line every ten seconds elsewhere."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live as Screen

from headrace import progress_events
from headrace.live_rates import LiveJobRates
from headrace.plain_text import plain_line
from headrace.render.terminal import rendered
from headrace.views.jobs import live, live_line

if TYPE_CHECKING:
    from headrace.measure.jobs import JobsLive

EVERY_S = 10.0
"""Seconds between two progress lines where standard error is no terminal."""


@contextlib.contextmanager
def job_view(title: str, shown: bool) -> Iterator[Callable[["JobsLive"], None] | None]:
    """The function to call with the progress of jobs."""
    if not shown:
        yield None
        return
    figures = LiveJobRates(title)
    before: JobsLive | None = None
    begun = time.monotonic()
    with _drawn(title) as draw:

        def tell(progress: "JobsLive") -> None:
            nonlocal before, begun
            draw(progress)
            if progress.step == 0:
                begun = time.monotonic()
            if not progress_events.wanted():
                return
            known_before = (figures.rate, figures.latency)
            figures.add(progress)
            if before is not None and before.step != progress.step:
                _finished(before)
            before = progress
            moment = {
                "seconds": progress.seconds,
                "IOPS": figures.rate,
                "MB/s": None if figures.throughput is None else figures.throughput / 1e6,
                "latency": figures.latency,
            }
            is_new = (figures.rate, figures.latency) not in (known_before, (None, None))
            known = {key: value for key, value in moment.items() if value is not None}
            spent = time.monotonic() - begun
            progress_events.report(
                title,
                spent if progress.step else 0.0,
                None if progress.left is None else spent + progress.left,
                live_line(figures),
                known if is_new else {},
            )

        yield tell
        if before is not None:
            _finished(before)
        progress_events.flush()


def _finished(progress: "JobsLive") -> None:
    """Report the figures of a step whose last progress is known."""
    count, moved, latency = progress.counts
    if progress.step < 1 or not count or not progress.seconds:
        return
    progress_events.finish_step(
        progress.step,
        progress.name,
        {
            "requested": progress.requested,
            "achieved": count / progress.seconds,
            "MB/s": moved / progress.seconds / 1e6,
            "latency": latency / count,
        },
    )


@contextlib.contextmanager
def _drawn(title: str) -> Iterator[Callable[["JobsLive"], None]]:
    if sys.stderr.isatty():
        now = LiveJobRates(title)
        with Screen(console=Console(stderr=True), transient=True, refresh_per_second=4) as screen:

            def draw(progress: "JobsLive") -> None:
                now.add(progress)
                screen.update(rendered(live(now)))

            yield draw
    else:
        yield _lines(LiveJobRates(title))


def _lines(now: LiveJobRates) -> Callable[["JobsLive"], None]:
    last = time.monotonic()

    def report(progress: "JobsLive") -> None:
        nonlocal last
        now.add(progress)
        if time.monotonic() - last >= EVERY_S:
            last = time.monotonic()
            print(plain_line(live_line(now)), file=sys.stderr, flush=True)

    return report
