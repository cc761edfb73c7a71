"""Interface of a step."""

from dataclasses import dataclass

from headrace.lab.state import Lab


@dataclass(frozen=True)
class Step:
    """A step of a testbed's setup. Its fields are saved in the journal."""

    def check(self, lab: Lab) -> None:
        """Check that nothing exists in the step's place, before it is journaled.

        Raises
        ------
        RunError
            If something does; it does not belong to the testbed.
        """

    def do(self, lab: Lab) -> None:
        """Do the step.

        Raises
        ------
        RunError, OSError
            If it fails.
        """
        raise NotImplementedError

    def undo(self, lab: Lab) -> None:
        """Undo the step. It may have been interrupted anywhere, or undone before.

        Raises
        ------
        RunError, OSError
            If it fails.
        """
        raise NotImplementedError

    def remaining(self, lab: Lab) -> str | None:
        """Return what is left of the step; None if nothing is."""
        raise NotImplementedError
