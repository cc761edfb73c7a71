"""Progress of work that knows which part of it is done."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from headrace.cli.screen import PATIENCE_S, ProgressLines
from headrace.report.plain_text import plain


@contextlib.contextmanager
def part_done(title: str) -> Iterator[Callable[[float], None]]:
    """Yield a callback for the part of the work that is done, from 0 to 1. It draws a bar if the
    work takes long, or prints lines where standard error is no terminal."""
    if not sys.stderr.isatty():
        lines = ProgressLines(title)
        yield lambda part: lines.write(lambda: f"{100 * min(part, 1.0):.0f} % done")
        return
    begun = time.monotonic()
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(plain(title), total=1.0)
    running = False

    def report(part: float) -> None:
        nonlocal running
        if not running and time.monotonic() - begun > PATIENCE_S:
            bar.start()
            running = True
        bar.update(task, completed=min(part, 1.0))

    try:
        yield report
    finally:
        if running:
            bar.stop()
