"""The figures of a running benchmark on a terminal."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live as Screen

from headrace.report.measured_tables import Now, live

if TYPE_CHECKING:
    from headrace.measure import Live


@contextlib.contextmanager
def live_view(title: str, shown: bool) -> Iterator[Callable[["Live"], None] | None]:
    """What to tell a benchmark's progress to; it shows the figures on a terminal."""
    if not (shown and sys.stderr.isatty()):
        yield None
        return
    now = Now(title)
    with Screen(console=Console(stderr=True), transient=True, refresh_per_second=4) as screen:

        def tell(progress: "Live") -> None:
            if progress.removing:
                now.removed = progress.removed
            else:
                now.add(progress.preparing, progress.seconds, progress.operations)
            screen.update(live(now))

        yield tell
