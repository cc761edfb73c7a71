"""A check of one part of the machine, and its outcome."""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple


class State(StrEnum):
    """The state of a part."""

    PRESENT = "present"
    ABSENT = "absent"
    UNKNOWN = "unknown"


class Outcome(NamedTuple):
    """The outcome of a check."""

    state: State
    detail: str
    """The part that is there, or the reason why it is absent or unknown."""
    remedy: str | None = None
    """How to get the part, if that is not the remedy of the check, or how to have it checked."""


def present(detail: str) -> Outcome:
    """Return the outcome of a part that is there, such as its path or version."""
    return Outcome(State.PRESENT, detail)


def absent(reason: str, remedy: str | None = None) -> Outcome:
    """Return the outcome of a part that the machine lacks."""
    return Outcome(State.ABSENT, reason, remedy)


def unknown(reason: str, remedy: str | None = None) -> Outcome:
    """Return the outcome of a part that cannot be checked here, and how to have it checked."""
    return Outcome(State.UNKNOWN, reason, remedy)


def from_message(message: str) -> Outcome:
    """Return the outcome of a command's error message, `REASON: REMEDY`."""
    reason, colon, remedy = message.rpartition(": ")
    return absent(reason, remedy) if colon else absent(message)


class Check(NamedTuple):
    """A part of the machine that some commands need."""

    name: str
    commands: tuple[str, ...]
    """Commands without `headrace`, with the option that needs the part if there is one."""
    probe: Callable[[], Outcome]
    """Check the part. It changes nothing, needs no root and takes milliseconds."""
    remedy: str
    """How to get the part."""

    def run(self) -> Outcome:
        """Return the outcome. An absent part has a remedy; a part whose probe fails is unknown."""
        try:
            outcome = self.probe()
        except Exception as error:
            return unknown(f"the check failed: {type(error).__name__}: {error}")
        if outcome.state is State.ABSENT and outcome.remedy is None:
            return outcome._replace(remedy=self.remedy)
        return outcome
