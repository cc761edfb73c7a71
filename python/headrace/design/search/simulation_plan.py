"""The part of their bounds that simulations reach."""

from headrace.design.system import Design

DOUBT = 0.8
"""Part of the demand that a design is expected to meet before it is simulated ahead of others
(declared)."""
EXPECTED = 0.7
"""Part of its bound that a kind of design is expected to reach before one of it is simulated
(declared)."""


class Efficiency:
    """Part of the bounds that simulations reach, by file system, class of disks and array."""

    def __init__(self) -> None:
        self._best: dict[tuple[str, str, str], float] = {}

    def note(self, design: Design, bound: float, satisfaction: float) -> None:
        """Record a simulation: the least part of a requirement that any application got."""
        key = self._key(design)
        self._best[key] = max(self._best.get(key, 0.0), satisfaction / bound)

    def of(self, design: Design) -> float:
        """Return the best part of its bound that a design of this kind has reached."""
        return self._best.get(self._key(design), EXPECTED)

    @staticmethod
    def _key(design: Design) -> tuple[str, str, str]:
        return design.file_system, design.disk.disk_class, design.array.kind
