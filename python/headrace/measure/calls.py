"""Ways to make system calls, on which a measurement's figures depend."""

from collections.abc import Mapping
from typing import Any

from headrace.store.record import CALLS

POSIX = "posix"
"""System calls, one after the other, as benchmarks without that choice make them."""
NULL = "null"
"""No calls: the figures are the cost of the load engine itself."""
MPI_IO, COLLECTIVE = "mpi-io", "mpi-io-collective"
"""MPI.File's calls of each process for itself, or of all processes together."""


def check_calls(before: Mapping[str, Any], calls: str) -> None:
    """Check that a resumed result was measured by the same calls.

    Raises ValueError, which names its calls.
    """
    saved = before.get("calls")
    if saved == calls:
        return
    named = before.get("named", "the resumed result")
    if saved is None:
        raise ValueError(
            f"{named}: it does not name the calls that it was measured with (posix, io-uring):"
            " start again without --resume"
        )
    if saved not in CALLS:
        raise ValueError(
            f"{named}: calls = {saved!r}: expected one of {', '.join(CALLS)};"
            " the file is damaged: start again without --resume"
        )
    raise ValueError(
        f"{named}: it was measured with --calls {saved}, not {calls}: use --calls {saved}, or start"
        " again without --resume"
    )
