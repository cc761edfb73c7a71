"""The figures of a running benchmark on a terminal."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live as Screen

from headrace.cli.screen import ProgressLines
from headrace.report.measurement_tables import Now, live

if TYPE_CHECKING:
    from headrace.measure import Live


@contextlib.contextmanager
def live_view(title: str, shown: bool) -> Iterator[Callable[["Live"], None] | None]:
    """Yield a progress callback that shows the figures live, or as lines where standard error is no
    terminal."""
    if not shown:
        yield None
        return
    if not sys.stderr.isatty():
        lines = ProgressLines(title)
        yield lambda progress: lines.write(lambda: _so_far(progress))
        return
    now = Now(title)
    with Screen(console=Console(stderr=True), transient=True, refresh_per_second=4) as screen:

        def report(progress: "Live") -> None:
            if progress.removing:
                now.removed = progress.removed
            else:
                now.add(progress.preparing, progress.seconds, progress.operations)
            screen.update(live(now))

        yield report


def _so_far(progress: "Live") -> str:
    if progress.removing:
        return f"{progress.removed:,} files and directories removed"
    done = sum(count for count, _ in progress.operations.values())
    size = sum(count for _, count in progress.operations.values())
    what = "prepared" if progress.preparing else f"measured for {progress.seconds:,.0f} s"
    return f"{what}: {done:,} operations, {size / 1e6:,.0f} MB"
