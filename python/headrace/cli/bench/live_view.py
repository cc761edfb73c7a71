"""The figures of a running benchmark on a terminal."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live as Screen

from headrace import progress_events
from headrace.cli.screen import ProgressLines
from headrace.live_rates import LiveRates
from headrace.render.terminal import rendered
from headrace.views.measured import live

if TYPE_CHECKING:
    from headrace.measure import Live


@contextlib.contextmanager
def live_view(title: str, shown: bool) -> Iterator[Callable[["Live"], None] | None]:
    """Yield a progress callback that shows the figures live, or as lines where standard error is no
    terminal."""
    if not shown:
        yield None
        return
    figures = LiveRates(title)
    with _drawn(title) as draw:

        def tell(progress: "Live") -> None:
            draw(progress)
            if not progress_events.wanted():
                return
            moment: dict[str, float] = {}
            before = figures.rates
            if not progress.removing:
                figures.add(progress.preparing, progress.seconds, progress.operations)
            # Rates are new about once a second.
            if not progress.preparing and figures.rates is not before:
                rates = figures.rates.values()
                moment = {
                    "seconds": progress.seconds,
                    "operations/s": sum(rate for rate, _ in rates),
                    "MB/s": sum(moved for _, moved in rates) / 1e6,
                }
            progress_events.report(title, progress.seconds, None, _so_far(progress), moment)

        yield tell
        progress_events.flush()


@contextlib.contextmanager
def _drawn(title: str) -> Iterator[Callable[["Live"], None]]:
    if not sys.stderr.isatty():
        lines = ProgressLines(title)
        yield lambda progress: lines.write(lambda: _so_far(progress))
        return
    now = LiveRates(title)
    with Screen(console=Console(stderr=True), transient=True, refresh_per_second=4) as screen:

        def report(progress: "Live") -> None:
            now.prepared = progress.prepared
            if progress.removing:
                now.removed = progress.removed
            else:
                now.add(progress.preparing, progress.seconds, progress.operations)
            screen.update(rendered(live(now)))

        yield report


def _so_far(progress: "Live") -> str:
    if progress.removing:
        return f"{progress.removed:,} files and directories removed"
    made, planned = progress.prepared
    if progress.preparing and planned:
        return f"making files: {made:,} of {planned:,}"
    done = sum(count for count, _ in progress.operations.values())
    size = sum(count for _, count in progress.operations.values())
    what = "prepared" if progress.preparing else f"measured for {progress.seconds:,.0f} s"
    return f"{what}: {done:,} operations, {size / 1e6:,.0f} MB"
