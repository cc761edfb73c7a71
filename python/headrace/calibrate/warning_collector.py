"""Merge the warnings of many measurements."""

from collections.abc import Iterable

from headrace.measure.report import ResultWarning

BY_DESIGN = ("fits-in-memory", "oversubscribed", "generator-was-the-limit", "no-calls")
"""Conditions that calibration workloads cause on purpose, to measure processors, concurrency and
the load engine."""


class WarningCollector:
    """Collect the warnings of all measurements of a calibration."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, int]] = {}
        self._measurements = 0

    def add(self, warnings: Iterable[ResultWarning]) -> None:
        """Add the warnings of one measurement."""
        self._measurements += 1
        for warning in warnings:
            if warning.condition not in BY_DESIGN:
                message, count = self._found.get(warning.condition, (warning.message, 0))
                self._found[warning.condition] = (message, count + 1)

    def all(self) -> tuple[ResultWarning, ...]:
        """Return each condition once, with its first message and the number of measurements it
        occurred in."""
        return tuple(
            ResultWarning(condition, f"{message} ({count} of {self._measurements} measurements)")
            for condition, (message, count) in self._found.items()
        )
