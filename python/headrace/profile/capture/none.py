"""No capture: the program runs as it is."""

from collections.abc import Sequence
from pathlib import Path


class NoCapture:
    """Records nothing."""

    name = "none"
    suffix = ""
    takes_more = False
    stops = False

    def available(self) -> str | None:
        return None

    def wrap(self, command: list[str], path: Path) -> list[str]:
        return command

    def attach(self, pids: Sequence[int], path: Path) -> list[str]:
        """Return no command: there is nothing to start."""
        return []

    def counts(self, path: Path) -> dict[str, int]:
        return {}

    def start_error(self, path: Path) -> OSError | None:
        return None

    def left_out(self) -> list[str]:
        return ["all file operations: without a trace there is no prediction"]
