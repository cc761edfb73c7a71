"""Progress bars of Python functions: on a terminal, and in Jupyter."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any, TypeAlias, TypeVar

from headrace import progress_events

Advance: TypeAlias = Callable[[float, float | None, str], None]
"""Callback with what is done, the total or None if it is unknown, and a text."""
C = TypeVar("C", bound=Callable[..., object])

PATIENCE_S = 0.5
"""Seconds after which a bar is shown: what is shorter needs none."""
BETWEEN_S = 0.2
"""Seconds between two updates of a notebook's bar, at least."""


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    # A kernel has imported IPython; nothing else needs the time to do so.
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    shell = get_ipython()
    return shell is not None and hasattr(shell, "kernel")


@contextmanager
def progress_bar(title: str, shown: bool | None = None) -> Iterator[Advance]:
    """Yield a callback that draws how far the work is. The bar goes away at the end.

    Args:
        title: What is being done.
        shown: Whether to draw; None draws on a terminal and in a notebook.
    """
    with _drawn(title, shown) as draw:
        # A caller that shows the progress itself reports it as well.
        if shown is False or not progress_events.wanted():
            yield draw
            return

        def tell(done: float, total: float | None, text: str) -> None:
            draw(done, total, text)
            progress_events.report(title, done, total, text)

        yield tell
        progress_events.flush()


@contextmanager
def _drawn(title: str, shown: bool | None) -> Iterator[Advance]:
    if in_notebook() and shown is not False:
        bar = NotebookBar(title)
        try:
            yield bar.advance
        finally:
            bar.close()
    elif shown or (shown is None and _on_terminal()):
        with _terminal_bar(title) as advance:
            yield advance
    else:
        yield lambda done, total, text: None


@contextmanager
def run_progress(
    title: str, progress: bool | C | None, drawing: Callable[[Advance], C]
) -> Iterator[C | None]:
    """Yield the callback of a single run: the given one, one that draws a bar, or none.

    Args:
        title: What is being done.
        progress: The callback, or whether to draw; None draws on a terminal and in a notebook.
        drawing: Makes the callback that draws.
    """
    if callable(progress):
        yield progress
    elif progress or (progress is None and (in_notebook() or _on_terminal())):
        with progress_bar(title, True) as advance:
            yield drawing(advance)
    else:
        yield None


def _on_terminal() -> bool:
    # Bars of several threads would share the last line.
    is_main = threading.current_thread() is threading.main_thread()
    return is_main and sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def _terminal_bar(title: str) -> Iterator[Advance]:
    # Most commands draw none: imports take longer than a small run.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[detail]}", markup=False),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(title, total=None, detail="")
    began = time.monotonic()

    def advance(done: float, total: float | None, text: str) -> None:
        if not bar.live.is_started and time.monotonic() - began >= PATIENCE_S:
            bar.start()
        bar.update(task, completed=done, total=total, detail=text)

    try:
        yield advance
    finally:
        if bar.live.is_started:
            bar.stop()


class NotebookBar:
    """A progress bar as an output of a notebook's cell.

    It is an HTML element that is replaced, so that no widget has to be installed.
    """

    def __init__(self, title: str) -> None:
        self._title = title
        self._began = time.monotonic()
        self._last = 0.0
        self._shown: Any = None

    def advance(self, done: float, total: float | None, text: str) -> None:
        """Draw what is done of the total; see `Advance`."""
        now = time.monotonic()
        if now - self._began < PATIENCE_S or now - self._last < BETWEEN_S:
            return
        self._last = now
        self._draw(bar_html(self._title, done, total, text, now - self._began))

    def close(self) -> None:
        """Remove the bar."""
        if self._shown is not None:
            self._draw("")

    def _draw(self, html: str) -> None:
        from IPython.display import HTML, display

        element = HTML(html)  # type: ignore[no-untyped-call]
        if self._shown is None:
            self._shown = display(element, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._shown.update(element)


def bar_html(title: str, done: float, total: float | None, text: str, spent_s: float) -> str:
    """Return a bar with the time that is left, as far as it is known."""
    value, left = "", ""
    if total:
        part = min(done / total, 1.0)
        value = f' value="{part:.3f}"'
        left = f"about {spent_s * (1 - part) / part:,.0f} s left" if part > 0 else ""
    words = ", ".join(escape(it) for it in (text, left) if it)
    return f"{escape(title)} <progress{value}></progress> {words}"
