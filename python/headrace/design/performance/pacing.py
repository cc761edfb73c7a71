"""Pauses between calls: none, or so that applications ask for little more than they want."""

from collections.abc import Mapping

from headrace.design.worksheet import Application

CAPABILITY = 2.5
"""Times what it wants that an application asks for at the most, to show what a system can do."""
DEMAND = 1.25
"""Times what it wants that an application asks for, where it is to leave the others their part."""
WAITING = 0.5
"""Part of the time between two calls that a process may wait for the first at such a demand."""


def wanted_calls(
    application: Application, transfer: int | None, calls_each: float = 1.0
) -> float | None:
    """Return the calls a second that an application wants.

    Args:
        application: The application.
        transfer: Bytes of a call; None if they differ.
        calls_each: Calls for each that moves data: files are opened and closed too.

    Returns:
        None if it does not say, or if calls differ in size and it says bytes only.
    """
    rate = application.operations or 0.0
    if application.throughput is not None and transfer is not None:
        rate = max(rate, calls_each * application.throughput / transfer)
    return rate or None


class Pace:
    """Pauses between the calls of processes.

    With `latencies`, the mean seconds of a call of each application in a run before, the
    applications ask for little more than they want.
    """

    def __init__(self, latencies: Mapping[str, float] | None = None) -> None:
        self._latencies = latencies

    def think(
        self,
        application: Application,
        transfer: int | None,
        processes: float,
        calls_each: float = 1.0,
    ) -> float:
        """Return the seconds between the end of a call and the next one of a process.

        Args:
            application: The application.
            transfer: Bytes of a call; None if they differ.
            processes: Processes that make its calls.
            calls_each: Calls for each that moves data.
        """
        calls = wanted_calls(application, transfer, calls_each)
        if calls is None:
            return 0.0
        interval = processes / calls
        if self._latencies is None:
            return interval / CAPABILITY
        interval /= DEMAND
        # A process that waits for its calls pauses less, so that it still has the demand.
        waited = self._latencies.get(application.name, 0.0)
        return interval - min(waited, WAITING * interval)
