"""The state of all parts of this machine."""

import platform
from typing import Any

import msgspec

from headrace import _core, environment
from headrace.doctor.check import State
from headrace.doctor.checks import CHECKS
from headrace.environment import Environment

KIND = "doctor"


class Part(msgspec.Struct, frozen=True):
    """A part of the machine that was checked."""

    name: str
    state: State
    detail: str
    """The part that is there, or the reason why it is absent or unknown."""
    commands: tuple[str, ...]
    """Commands that need it."""
    remedy: str | None
    """How to get it; None if it is there."""


class Diagnosis(msgspec.Struct, frozen=True):
    """The state of this machine."""

    kind: str
    version: str
    """Version of Headrace."""
    python: str
    """Version of Python."""
    environment: Environment
    parts: tuple[Part, ...]

    def json(self) -> dict[str, Any]:
        """Return the document that `headrace doctor --json` prints."""
        document: dict[str, Any] = msgspec.to_builtins(self)
        return document


def diagnose() -> Diagnosis:
    """Check all parts of this machine. Nothing is changed, and root is not needed."""
    parts = []
    for check in CHECKS:
        outcome = check.run()
        parts.append(
            Part(check.name, outcome.state, outcome.detail, check.commands, outcome.remedy)
        )
    return Diagnosis(
        KIND, _core.VERSION, platform.python_version(), environment.of_host(), tuple(parts)
    )
