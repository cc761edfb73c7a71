"""Progress bar of a sweep, on a terminal and in Jupyter."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from headrace.progress_bar import progress_bar

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
    with progress_bar(title, progress) as advance:
        yield lambda done, known: advance(done, known, f"{done:,} of {known:,} runs")
