"""One measured figure and its prediction."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from headrace.calibrate.hodges_lehmann import hodges_lehmann
from headrace.validate.prediction import Predicted


@dataclass(frozen=True)
class Point:
    """Seconds that a process spends in its calls: measured, several times, and predicted."""

    name: str
    group: str
    measured: tuple[float, ...]
    predicted: Predicted

    @property
    def error(self) -> float:
        """Of the prediction, as a part of the middle of what was measured."""
        seconds = hodges_lehmann(self.measured)
        return self.predicted.seconds / seconds - 1 if seconds > 0 else 0.0

    @property
    def within_repetitions(self) -> bool:
        """Whether the prediction lies within the repetitions."""
        return min(self.measured) <= self.predicted.seconds <= max(self.measured)

    @property
    def covered(self) -> float | None:
        """Which part of the repetitions lies in the prediction's interval; None without one."""
        if self.predicted.interval is None:
            return None
        least, most = self.predicted.interval
        return sum(least <= it <= most for it in self.measured) / len(self.measured)

    def json(self) -> dict[str, Any]:
        """As documents have it."""
        return {
            "name": self.name,
            "group": self.group,
            "measured_s": list(self.measured),
            "measured_middle_s": hodges_lehmann(self.measured),
            "predicted_s": self.predicted.seconds,
            "interval_s": self.predicted.interval,
            "error": self.error,
            "among_repetitions": self.within_repetitions,
            "covered": self.covered,
        }


def summary(points: Sequence[Point]) -> dict[str, Any]:
    """Errors by group: their median and worst as amounts, and the bias, their mean."""
    found = {}
    for group in dict.fromkeys(point.group for point in points):
        errors = [point.error for point in points if point.group == group]
        covered = [
            it for point in points if point.group == group and (it := point.covered) is not None
        ]
        found[group] = {
            "points": len(errors),
            "median_error": median(abs(error) for error in errors),
            "worst_error": max(errors, key=abs),
            "bias": sum(errors) / len(errors),
            "covered": sum(covered) / len(covered) if covered else None,
        }
    return found
