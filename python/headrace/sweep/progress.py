"""Progress bar of a sweep, on a terminal and in Jupyter."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TypeAlias

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

OnProgress: TypeAlias = Callable[[int, int], object]
"""Callback with the finished runs and the known runs."""


@contextmanager
def shown(progress: bool | OnProgress | None, title: str = "sweep") -> Iterator[OnProgress]:
    """Yield a callback for the finished and the known runs.

    Args:
        progress: Whether to draw a bar; None draws one on a terminal and in Jupyter. Or the
            callback itself.
        title: Name of the work.
    """
    if callable(progress):
        yield progress
        return
    console = Console(stderr=True)
    # Without ipywidgets, rich prints a warning for each change of the bar.
    drawn = find_spec("ipywidgets") is not None if console.is_jupyter else console.is_terminal
    if not (progress or (progress is None and drawn)):
        yield lambda done, known: None
        return
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,} of {task.total:,} runs"),
        TimeRemainingColumn(compact=True),
        console=console,
        transient=True,
    )
    task = bar.add_task(title, total=0)
    with bar:
        yield lambda done, known: bar.update(task, completed=done, total=known)
