"""The quantities of a scenario that sliders change, the most influential first."""

import re
from collections.abc import Sequence

import msgspec

from headrace.quantities import binary_size, written_number
from headrace.web.quick_worker import CheckedQuantity

OCTAVES = 3
"""A slider goes from 1/8 to 8 times the value."""
FIRST = 6
"""Sliders that are shown at first."""
RANK = tuple(
    re.compile(pattern)
    for pattern in (
        r"clients\.count",
        r"servers\.count",
        r".*device\.(read_rate|write_rate|rate)",
        r"network\.bandwidth",
        r"workload\.\d+\.(rate|transfer|request|block|size)",
        r".*device\.(time_per_request|seek|.*time)",
        r"clients\.processes",
        r"network\.latency",
        r"servers\.daemon\.(threads|time_per_job)",
        r"servers\.memory\.cache",
        r"metadata\.(servers|threads|time_per_operation)",
        r"layout\.unit",
        r".*\.memory\.size",
        r"workload\.\d+\..*",
    )
)
"""Fields that change results most often, in this order."""
WITH_UNIT = re.compile(r"\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)(\s*[^0-9.\s].*?)\s*")
NOT_SHARES = re.compile(r"workload\.\d+\.rate")
"""Plain numbers that are no shares of something."""
NO_SLIDER = re.compile(r"run\..*|.*\.(confidence|page|seed)")


class Slider(msgspec.Struct, frozen=True):
    """A quantity that a slider changes."""

    quantity: CheckedQuantity

    @property
    def path(self) -> str:
        """Path of the field."""
        return self.quantity.path

    @property
    def step(self) -> float:
        """Step of the slider, in octaves. Sizes are doubled and halved."""
        return 1.0 if self.quantity.quantity == "bytes" else 0.25

    def setting(self, octaves: float) -> str | float | int:
        """Return the value at a place of the slider as a scenario has it, in the same unit.

        Counts and bytes are whole, and at least 1.
        """
        quantity = self.quantity
        amount: float = quantity.amount * 2.0**octaves
        if quantity.quantity == "count":
            return max(1, round(amount))
        if quantity.quantity == "bytes":
            return binary_size(max(1, round(amount)))
        match = WITH_UNIT.fullmatch(quantity.text)
        if match is None:
            return float(f"{amount:.6g}")
        return f"{written_number(float(match[1]) * 2.0**octaves, 4)}{match[2]}"

    def text(self, octaves: float) -> str:
        """Return the value as a user reads it."""
        value = self.setting(octaves)
        return value if isinstance(value, str) else f"{value:,g}"


def sliders(quantities: Sequence[CheckedQuantity]) -> list[Slider]:
    """Return the sliders of a checked scenario's quantities, the most influential first."""
    shown = []
    for quantity in quantities:
        is_share = quantity.quantity == "number" and not NOT_SHARES.fullmatch(quantity.path)
        # No factor changes 0.
        if quantity.amount > 0 and not is_share and not NO_SLIDER.fullmatch(quantity.path):
            shown.append(Slider(quantity))
    return sorted(shown, key=lambda slider: (_rank(slider.path), not slider.quantity.given))


def _rank(path: str) -> int:
    return next((at for at, pattern in enumerate(RANK) if pattern.fullmatch(path)), len(RANK))
