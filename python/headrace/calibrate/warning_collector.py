"""The warnings of a calibration's many measurements, each told once."""

from collections.abc import Mapping
from typing import Any

BY_DESIGN = ("fits-in-memory", "oversubscribed", "generator-was-the-limit", "no-calls")
"""Conditions that a calibration's workloads make on purpose, to measure what a processor and
several processes do, and what the engine takes itself."""


class WarningCollector:
    """Warnings, gathered measurement by measurement."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, int]] = {}
        self._measurements = 0

    def add(self, document: Mapping[str, Any]) -> None:
        """Those of one more measurement's document."""
        self._measurements += 1
        for warning in document["warnings"]:
            condition = warning["condition"]
            if condition not in BY_DESIGN:
                message, count = self._found.get(condition, (warning["message"], 0))
                self._found[condition] = (message, count + 1)

    def all(self) -> tuple[dict[str, str], ...]:
        """As documents have them: the first message of each, and how many measurements it is of."""
        return tuple(
            {
                "condition": condition,
                "message": f"{message} ({count} of {self._measurements} measurements)",
            }
            for condition, (message, count) in self._found.items()
        )
