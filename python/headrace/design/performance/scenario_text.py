"""A scenario as TOML, line by line, with the reason of each value as a comment."""

from collections.abc import Mapping
from typing import TypeAlias

from headrace.document_io import toml_value

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
