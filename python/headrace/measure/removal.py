"""Removal of a benchmark's directory. An interrupted removal does not lose the result."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from headrace import _core


def remove_directory(
    directory: _core.BenchmarkDirectory,
    *,
    interrupted: bool = False,
    on_progress: Callable[[int], object] | None = None,
) -> dict[str, str] | None:
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


def with_note(error: BaseException) -> list[dict[str, str]]:
    """Return the notes of an exception that ended a measurement, as warnings."""
    return [_warning(note) for note in getattr(error, "__notes__", ())]


def cleanup_failures(document: Mapping[str, Any]) -> list[str]:
    """Return the messages of a measurement's document about directories that were not removed."""
    return [it["message"] for it in document["warnings"] if it["condition"] == CONDITION]


CONDITION = "not-removed"


def _warning(message: str) -> dict[str, str]:
    return {"condition": CONDITION, "message": message}
