"""Prediction of a case beside its measurement."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Prediction:
    """A measured case and ours, in seconds.

    The case has `seconds`, the median of its repetitions, and `least` and `most` of them.
    """

    case: dict[str, Any]
    ours: float

    @property
    def error(self) -> float:
        """Relative to the median of the repetitions."""
        return float(self.ours / self.case["seconds"] - 1)

    @property
    def in_range(self) -> bool:
        """True if the prediction lies among the repetitions."""
        return bool(self.case["least"] <= self.ours <= self.case["most"])

    def holds_within(self, bound: float) -> bool:
        """Return whether the error is within the bound, or the prediction lies among the
        repetitions."""
        return abs(self.error) <= bound or self.in_range

    @property
    def measured(self) -> str:
        """The median and the range of the repetitions."""
        least, median, most = (self.case[name] for name in ("least", "seconds", "most"))
        return f"{median:.4g} s ({least:.4g} to {most:.4g})"

    @property
    def error_text(self) -> str:
        """The error, and whether it matters."""
        among = ", among the repetitions" if self.in_range else ""
        return f"{100 * self.error:+.1f} %{among}"
