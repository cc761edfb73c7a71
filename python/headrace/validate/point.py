"""A measured time and its prediction."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from headrace.calibrate.hodges_lehmann import hodges_lehmann
from headrace.validate.prediction import Predicted
from headrace.validate.records import GroupErrors, PointRecord


@dataclass(frozen=True)
class Point:
    """Measured times of a process in calls and their prediction, in seconds."""

    name: str
    group: str
    measured: tuple[float, ...]
    predicted: Predicted

    @property
    def error(self) -> float:
        """Relative error against the Hodges-Lehmann estimate of the repetitions."""
        seconds = hodges_lehmann(self.measured)
        return self.predicted.seconds / seconds - 1 if seconds > 0 else 0.0

    @property
    def within_repetitions(self) -> bool:
        """True if the prediction lies within the range of the repetitions."""
        return min(self.measured) <= self.predicted.seconds <= max(self.measured)

    @property
    def covered(self) -> float | None:
        """Share of the repetitions within the prediction interval; None without an interval."""
        if self.predicted.interval is None:
            return None
        least, most = self.predicted.interval
        return sum(least <= time <= most for time in self.measured) / len(self.measured)

    def record(self) -> PointRecord:
        """Return the record of the point."""
        return PointRecord(
            self.name,
            self.group,
            list(self.measured),
            measured_middle_s=hodges_lehmann(self.measured),
            predicted_s=self.predicted.seconds,
            interval_s=self.predicted.interval,
            error=self.error,
            among_repetitions=self.within_repetitions,
            covered=self.covered,
        )


def summary(points: Sequence[Point]) -> dict[str, GroupErrors]:
    """Return the errors of each group."""
    groups = {}
    for group in dict.fromkeys(point.group for point in points):
        errors = [point.error for point in points if point.group == group]
        covered = [
            time for point in points if point.group == group and (time := point.covered) is not None
        ]
        groups[group] = GroupErrors(
            points=len(errors),
            median_error=median(abs(error) for error in errors),
            worst_error=max(errors, key=abs),
            bias=sum(errors) / len(errors),
            covered=sum(covered) / len(covered) if covered else None,
        )
    return groups
