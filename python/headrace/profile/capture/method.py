"""The interface of a capture method."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol


class Method(Protocol):
    """A way to record the file operations of a program."""

    name: str
    suffix: str
    """Suffix of the trace that it leaves, such as ".strace"; "" if it leaves none."""
    takes_more: bool
    """Whether a recorder of `attach` takes further processes: their numbers, a line for each group
    of them, on its standard input. It writes a line to standard output when it records the first
    ones, and ends with its input."""

    stops: bool
    """Whether it stops the program at each call, so that waits for a core are partly its own."""

    def available(self) -> str | None:
        """Return None if the method works here, else the reason and what to do, in one line."""

    def wrap(self, command: list[str], path: Path) -> list[str]:
        """Return a command that runs `command` and records it and its children in `path`.

        It ends with the program, with the program's exit status, when the trace is complete.
        """

    def attach(self, pids: Sequence[int], path: Path) -> list[str]:
        """Return a command that records processes and the children that they start in `path`.

        It ends when they have ended, or after SIGINT or SIGTERM, when the trace is complete.
        """

    def start_error(self, path: Path) -> OSError | None:
        """Return why the program of a recording was not executed; None if it was, or if the
        method ends with status 126 or 127 itself."""

    def left_out(self) -> list[str]:
        """Return statements of what the method does not record."""

    def counts(self, path: Path) -> dict[str, int]:
        """Return counts of what a recording lost, by name; empty if the method counts nothing."""
