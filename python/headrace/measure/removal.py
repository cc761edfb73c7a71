"""Removal of a benchmark's directory. An interrupted removal does not lose the result."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from headrace import _core
from headrace.measure.report import ResultWarning


def remove_directory(
    directory: _core.BenchmarkDirectory,
    *,
    interrupted: bool = False,
    on_progress: Callable[[int], object] | None = None,
) -> ResultWarning | None:
    """Remove a benchmark's directory; return a warning if it could not be removed.

    The removal continues after a first Ctrl-C, or signal to end, unless the benchmark was
    `interrupted` already; a second one stops it. `on_progress` is called some times a second with
    the number of removed names.
    """
    path = Path(directory.path)
    for _ in range(1 if interrupted else 2):
        try:
            directory.remove(on_progress)
            return None
        except (KeyboardInterrupt, SystemExit):
            # The signal may have arrived after the removal was complete.
            if not directory.is_there():
                return None
        except OSError as error:
            # Somebody else has removed it, or unmounted what it was on: nothing is left.
            if isinstance(error, FileNotFoundError) and not os.path.lexists(path):
                return None
            return _warning(f"{path} was not removed: {error.strerror or error}")
    return _warning(
        f"{path} was not removed completely, because the removal was"
        f" interrupted: headrace bench clean {path.parent} removes it"
    )


def with_note(error: BaseException) -> list[ResultWarning]:
    """Return the notes of an exception that ended a measurement, as warnings."""
    return [_warning(note) for note in getattr(error, "__notes__", ())]


def cleanup_failures(warnings: Iterable[ResultWarning]) -> list[str]:
    """Return the messages of a measurement's warnings about directories that were not removed."""
    return [warning.message for warning in warnings if warning.condition == CONDITION]


CONDITION = "not-removed"


def _warning(message: str) -> ResultWarning:
    return ResultWarning(CONDITION, message)
