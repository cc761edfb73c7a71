"""Waiting for programs that serve."""

import time
from collections.abc import Callable

from headrace._core import RunError

PATIENCE_S = 120.0
PAUSE_S = 0.1


def wait(what: str, there: Callable[[], bool]) -> None:
    """Waits until something is so. Raises RunError, which says what was waited for, if it is not
    for two minutes."""
    deadline = time.monotonic() + PATIENCE_S
    while not there():
        if time.monotonic() > deadline:
            raise RunError(f"{what}: nothing came of it in {PATIENCE_S:g} s")
        time.sleep(PAUSE_S)
