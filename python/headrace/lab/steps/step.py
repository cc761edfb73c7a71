"""What every step can do."""

from dataclasses import dataclass

from headrace.lab.state import Lab


@dataclass(frozen=True)
class Step:
    """Something that is done for a testbed. Its fields stand in the journal."""

    def check(self, lab: Lab) -> None:
        """Before anything is written down or done: raises RunError if something is in its place,
        which is not the testbed's then."""

    def do(self, lab: Lab) -> None:
        """Raises RunError or OSError if it cannot."""
        raise NotImplementedError

    def undo(self, lab: Lab) -> None:
        """Takes it back as far as it was done: it may have been interrupted at any place, and
        may have been taken back before. Raises RunError or OSError if it cannot."""
        raise NotImplementedError

    def remaining(self, lab: Lab) -> str | None:
        """What is still there of it; None if nothing is."""
        raise NotImplementedError
