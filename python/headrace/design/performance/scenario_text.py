"""A scenario as TOML, line by line, with the reason of each value as a comment."""

from collections.abc import Mapping
from typing import TypeAlias

from headrace.document_io import toml_value
from headrace.report.units import binary_size

Value: TypeAlias = "str | int | float | bool | list[str] | Mapping[str, str] | Mapping[str, int]"


class ScenarioText:
    """Sections and values of a scenario, in the order in which they are added."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def section(self, name: str) -> None:
        """Begin a section such as `servers.device`, or `[workload]` for an entry of a list."""
        if self._lines:
            self._lines.append("")
        self._lines.append(f"[{name}]")

    def value(self, key: str, value: Value, reason: str = "") -> None:
        """Add a value with its reason."""
        comment = f"  # {' '.join(reason.split())}" if reason else ""
        self._lines.append(f"{key} = {toml_value(value)}{comment}")

    def text(self) -> str:
        """Return the scenario."""
        return "\n".join(self._lines) + "\n"


def rate(value: float) -> str:
    """Format bytes a second as scenarios have them."""
    return _scaled(value, (("GB/s", 1e9), ("MB/s", 1e6), ("B/s", 1.0)))


def seconds(value: float) -> str:
    """Format a time in seconds as scenarios have it."""
    return _scaled(value, (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)))


def size(value: float) -> str:
    """Format bytes as scenarios have them."""
    return binary_size(round(value))


def _scaled(value: float, units: tuple[tuple[str, float], ...]) -> str:
    unit, one = next((it for it in units if value >= it[1]), units[-1])
    # Nine digits, without an exponent.
    return f"{value / one:.9f}".rstrip("0").rstrip(".") + f" {unit}"
