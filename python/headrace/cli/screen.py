"""What people see: tables on standard output, progress on standard error."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from headrace.report.plain import plain

WIDE = 1000
"""Columns where there is no terminal that has a width: nothing is cut."""
PATIENCE_S = 0.5
"""What takes longer gets a progress bar."""


def show(what: RenderableType) -> None:
    """Prints tables or text."""
    width = None if sys.stdout.isatty() else WIDE
    # A line too long for the terminal is still better than half a line.
    Console(width=width, highlight=False, markup=False).print(what, crop=False)


@contextlib.contextmanager
def progress(
    title: str, shown: bool
) -> Iterator[Callable[[float, int, float | None], None] | None]:
    """What to tell a run's progress to; it shows a bar if the run takes long on a terminal."""
    if not (shown and sys.stderr.isatty()):
        yield None
        return
    started = time.monotonic()
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[detail]}"),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(plain(title), total=None, detail="")
    running = False

    def tell(seconds: float, requests: int, part: float | None) -> None:
        nonlocal running
        if not running and time.monotonic() - started > PATIENCE_S:
            bar.start()
            running = True
        detail = f"{seconds:,.1f} s simulated, {requests:,} requests"
        total = None if part is None else 1.0
        bar.update(task, total=total, completed=min(part or 0.0, 1.0), detail=detail)

    try:
        yield tell
    finally:
        if running:
            bar.stop()


@contextlib.contextmanager
def steps(title: str) -> Iterator[Callable[[int, int, str], None] | None]:
    """What to tell steps to, done and in all, and what is next; it shows a bar on a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed} of {task.total}"),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[detail]}", markup=False),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(plain(title), total=None, detail="")

        def tell(done: int, total: int, what: str) -> None:
            bar.update(task, total=total, completed=done, detail=plain(what))

        yield tell
