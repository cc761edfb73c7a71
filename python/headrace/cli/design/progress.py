"""Progress of work that knows which part of it is done."""

import contextlib
import sys
from collections.abc import Callable, Iterator

from headrace import progress_events
from headrace.cli.screen import ProgressLines, late_bar


@contextlib.contextmanager
def part_done(title: str) -> Iterator[Callable[[float], None]]:
    """Yield a callback for the part of the work that is done, from 0 to 1. It draws a bar if the
    work takes long, or prints lines where standard error is no terminal."""
    with _drawn(title) as draw:

        def tell(part: float) -> None:
            draw(part)
            progress_events.report(title, min(part, 1.0), 1.0)

        yield tell
        progress_events.flush()


@contextlib.contextmanager
def _drawn(title: str) -> Iterator[Callable[[float], None]]:
    if not sys.stderr.isatty():
        lines = ProgressLines(title)
        yield lambda part: lines.write(lambda: f"{100 * min(part, 1.0):.0f} % done")
        return
    with late_bar(title, total=1.0) as update:
        yield lambda part: update(completed=min(part, 1.0))
