"""Terminal output: tables on standard output, progress on standard error."""

import contextlib
import os
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from headrace import progress_events
from headrace.kinds import with_kind
from headrace.plain_text import plain, plain_line
from headrace.quantities import duration, percent_text
from headrace.ranks import current

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress, ProgressColumn

    from headrace.render.blocks import View

WIDE = 1000
"""Columns where there is no terminal that has a width: nothing is cut."""
FOLDED = 80
"""Columns where there is no terminal, for tables whose longest cells are texts."""
PATIENCE_S = 0.5
"""Seconds after which a command shows a progress bar."""
LINES_S = 10.0
"""Seconds between two progress lines, at least, where standard error is no terminal."""
LOOK_LINES_S = 1.0
"""Seconds between two checks for a due progress line."""


class ProgressLines:
    """Whole lines on standard error, at most one every ten seconds: for logs and pipes."""

    _begun: ClassVar[float | None] = None
    _last: ClassVar[float] = 0.0
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, title: str) -> None:
        self._title = plain_line(title)
        if ProgressLines._begun is None:
            # Time of the whole command: a single step may take less than ten seconds.
            ProgressLines._begun = ProgressLines._last = time.monotonic()

    def write(self, text: Callable[[], str]) -> None:
        """Write how far the work is, if the last line is ten seconds old."""
        with self._lock:
            now, begun = time.monotonic(), ProgressLines._begun or 0.0
            if now - ProgressLines._last < LINES_S or not current().first:
                return
            ProgressLines._last = now
            line = f"{self._title}: {now - begun:,.0f} s: {plain_line(text())}\n"
            # One write within the lock: print() writes the end of the line on its own, and another
            # thread's line may come between. A reader that has gone away must not end the work.
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.write(line)
                sys.stderr.flush()

    @contextlib.contextmanager
    def repeated(self, text: Callable[[], str]) -> Iterator[None]:
        """Write a line every ten seconds within it, however long a single step takes."""
        over = threading.Event()

        def repeat() -> None:
            while not over.wait(LOOK_LINES_S):
                self.write(text)

        thread = threading.Thread(target=repeat, name="headrace-progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def show(what: "RenderableType", *, redirected_width: int = WIDE) -> None:
    """Print tables or text.

    Args:
        what: What is printed.
        redirected_width: Columns where there is no terminal that has a width, and COLUMNS states
            none. Texts are folded there; tables of figures may lose columns.
    """
    from rich.console import Console

    width = None if _has_width() else redirected_width
    # A line too long for the terminal is still better than half a line.
    Console(width=width, highlight=False, markup=False).print(what, crop=False)


def show_view(view: "View", *, redirected_width: int = WIDE) -> None:
    """Print the notes and tables of a view, as `show` does."""
    from headrace.render.terminal import rendered

    show(rendered(view), redirected_width=redirected_width)


def _has_width() -> bool:
    """Return whether the terminal or COLUMNS, which rich reads, states the width of a line."""
    columns = os.environ.get("COLUMNS", "")
    return sys.stdout.isatty() or (columns.isdecimal() and int(columns) > 0)


def show_line(line: str, indent: int = 0) -> None:
    """Print a line, folded between words to the width of the terminal or COLUMNS.

    Parameters:
        line: Text without line breaks.
        indent: Spaces before each line but the first.
    """
    width = shutil.get_terminal_size().columns if _has_width() else WIDE
    folded = textwrap.wrap(
        plain_line(line),
        max(width, 2 * indent),
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
    )
    print("\n".join(folded))


def print_document(document: bytes) -> None:
    """Print a document that programs read, such as JSON in UTF-8, whatever the locale is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(document)
    sys.stdout.buffer.flush()


def print_json(document: Any, kind: str = "") -> None:
    """Print a document as JSON, two spaces a level.

    Args:
        document: A mapping or a record.
        kind: Name of its kind, if it has no fields `kind` and `version`.
    """
    import msgspec

    document = with_kind(kind, document) if kind else document
    print_document(msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n")


def show_files(files: Mapping[str, Path | None]) -> None:
    """Print a line for each file or directory that was written.

    Args:
        files: Paths by what they hold; None for what was not asked for.
    """
    for what, path in files.items():
        if path is not None:
            print(plain_line(f"{what}: {path}"))


@contextlib.contextmanager
def progress(
    title: str, shown: bool
) -> Iterator[Callable[[float, int, float | None], None] | None]:
    """Yield a callback for the progress of a run. It draws a bar if the run takes long, or prints
    lines where standard error is no terminal."""
    if not shown:
        yield None
        return
    with _progress(title) as draw:

        def tell(seconds: float, requests: int, part: float | None) -> None:
            draw(seconds, requests, part)
            progress_events.report(
                title,
                part or 0.0,
                None if part is None else 1.0,
                _run_so_far(seconds, requests, None),
                {"simulated seconds": seconds, "requests": requests},
            )

        yield tell
        progress_events.flush()


@contextlib.contextmanager
def _progress(title: str) -> Iterator[Callable[[float, int, float | None], None]]:
    if not sys.stderr.isatty():
        lines = ProgressLines(title)

        def write(seconds: float, requests: int, part: float | None) -> None:
            lines.write(lambda: _run_so_far(seconds, requests, part))

        yield write
        return
    from rich.progress import TextColumn

    with late_bar(title, TextColumn("{task.fields[detail]}"), detail="") as update:

        def report(seconds: float, requests: int, part: float | None) -> None:
            detail = _run_so_far(seconds, requests, None)
            total = None if part is None else 1.0
            update(total=total, completed=min(part or 0.0, 1.0), detail=detail)

        yield report


@contextlib.contextmanager
def late_bar(
    title: str, *columns: "ProgressColumn", total: float | None = None, **fields: Any
) -> Iterator[Callable[..., None]]:
    """Yield a callback that updates a progress bar, which appears if the work takes long.

    Args:
        title: Name of the work.
        columns: Columns behind the percentage and the remaining time.
        total: Value of `completed` at the end; None: unknown.
        fields: Initial values of the fields that the columns show.
    """
    from rich.progress import TextColumn

    started = time.monotonic()
    bar = _bar(TextColumn("{task.percentage:>3.0f} %"), *columns)
    task = bar.add_task(plain(title), total=total, **fields)
    running = False

    def update(**values: Any) -> None:
        nonlocal running
        if not running and time.monotonic() - started > PATIENCE_S:
            bar.start()
            running = True
        bar.update(task, **values)

    try:
        yield update
    finally:
        if running:
            bar.stop()


def _bar(amount: "ProgressColumn", *columns: "ProgressColumn") -> "Progress":
    """Return a bar with the name of the work, and columns around the remaining time."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        amount,
        TimeRemainingColumn(compact=True),
        *columns,
        console=Console(stderr=True),
        transient=True,
    )


def _run_so_far(seconds: float, requests: int, part: float | None) -> str:
    done = "" if part is None else f"{percent_text(min(part, 1.0))}, "
    return f"{done}{duration(seconds)} simulated, {requests:,} requests"


@contextlib.contextmanager
def steps(title: str, detail: str = "next") -> Iterator[Callable[[int, int, str], None]]:
    """Yield a callback for the steps done, their total and the name of the next one, or another
    detail. It draws a bar, or prints lines where standard error is no terminal."""
    with _steps(title, detail) as draw:

        def tell(done: int, total: int, what: str) -> None:
            draw(done, total, what)
            progress_events.report(title, done, total, what)

        yield tell
        progress_events.flush()


@contextlib.contextmanager
def _steps(title: str, detail: str) -> Iterator[Callable[[int, int, str], None]]:
    if not sys.stderr.isatty():
        lines, state = ProgressLines(title), "beginning"

        def write(done: int, total: int, what: str) -> None:
            nonlocal state
            # Without a total, the steps are not known yet.
            known = f"{done} of {total} steps done" if total else ""
            state = ", ".join(filter(None, (known, what and f"{detail}: {what}")))
            lines.write(lambda: state)

        with lines.repeated(lambda: state):
            yield write
        return
    from rich.progress import TextColumn

    bar = _bar(
        TextColumn("{task.completed} of {task.total}"),
        TextColumn("{task.fields[detail]}", markup=False),
    )
    with bar:
        task = bar.add_task(plain(title), total=None, detail="")

        def report(done: int, total: int, what: str) -> None:
            bar.update(task, total=total, completed=done, detail=plain(what))

        yield report


@contextlib.contextmanager
def counted(title: str, things: str) -> Iterator[Callable[[float], None]]:
    """Yield a callback for the number of things done, such as records read. It shows the number if
    the work takes long, or prints lines where standard error is no terminal."""
    with _counted(title, things) as draw:

        def tell(count: float) -> None:
            draw(count)
            progress_events.report(title, count, text=f"{count:,.0f} {things}")

        yield tell
        progress_events.flush()


@contextlib.contextmanager
def _counted(title: str, things: str) -> Iterator[Callable[[float], None]]:
    if not sys.stderr.isatty():
        lines, done = ProgressLines(title), 0.0

        def write(count: float) -> None:
            nonlocal done
            done = count
            lines.write(lambda: f"{done:,.0f} {things}")

        with lines.repeated(lambda: f"{done:,.0f} {things}"):
            yield write
        return
    # rich is slow to import, and only a terminal needs it.
    from rich.console import Console
    from rich.progress import Progress, TextColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        TextColumn(f"{{task.completed:,.0f}} {things}"),
        console=Console(stderr=True),
        transient=True,
    )
    begun, running = time.monotonic(), False
    task = bar.add_task(plain(title), total=None)

    def draw(count: float) -> None:
        nonlocal running
        if not running and time.monotonic() - begun > PATIENCE_S:
            bar.start()
            running = True
        bar.update(task, completed=count)

    try:
        yield draw
    finally:
        if running:
            bar.stop()
