"""The commands that a job may run, and what the server adds to each."""

from collections.abc import Mapping
from typing import Any

import msgspec

NOT_CAPTURED = (None, "", "none")


class Runnable(msgspec.Struct, frozen=True):
    """A command that a job may run."""

    command: tuple[str, ...]
    measures: bool = False
    """Whether it measures this machine, and so must run alone."""
    program: str | None = None
    """Parameter that is a program of the user's, which the operator must allow."""
    capture: str | None = None
    """Parameter that makes it trace processes which run, which the operator must allow, too."""
    output: str | None = None
    """Name of its output in the job's directory: a directory, or the document with its tables."""
    extra: tuple[str, ...] = ()
    """Further arguments that the server gives."""
    is_confined: bool = True
    """Whether the kernel confines its process to the files of the job. One that mounts a file
    system or runs a program of its user cannot be."""

    def runs_program(self, values: Mapping[str, Any]) -> bool:
        """Return true if a request with these values runs a program of the user."""
        captures = self.capture is not None and values.get(self.capture) not in NOT_CAPTURED
        return captures or (self.program is not None and bool(values.get(self.program)))


PLAYBACK = "playback.parquet"
"""Name of the frames of a simulation in the job's directory."""

RUNNABLE = (
    Runnable(("run",), output="result.json", extra=(f"--playback={PLAYBACK}",)),
    Runnable(("sweep",), output="sweep"),
    Runnable(("optimise",), output="optimise"),
    Runnable(("whatif",)),
    Runnable(("bench", "quick"), measures=True),
    Runnable(("bench", "run"), measures=True),
    Runnable(("bench", "mix"), measures=True),
    Runnable(("bench", "tune"), measures=True, is_confined=False),
    Runnable(("bench", "sweep"), measures=True),
    Runnable(("bench", "blocks"), measures=True),
    Runnable(("bench", "clients"), measures=True),
    Runnable(("bench", "meta"), measures=True),
    Runnable(("bench", "disk"), measures=True),
    Runnable(("bench", "copy"), measures=True),
    Runnable(("bench", "net", "ask"), measures=True),
    Runnable(("baseline",), measures=True),
    Runnable(
        ("profile", "record"),
        measures=True,
        program="command",
        capture="capture",
        output="profile",
        is_confined=False,
    ),
    Runnable(("profile", "report")),
    Runnable(("trace", "info")),
    Runnable(("trace", "convert")),
    Runnable(("trace", "findings")),
    Runnable(("design", "solve"), output="design"),
    Runnable(("results", "import")),
)
"""To let jobs run another command takes a line here."""

WITHHELD = frozenset(
    {
        "as_json",
        "predict",
        "output",
        "plot",
        "csv",
        "requests",
        "playback",
        "trusted",
        "trust",
        "label",
        "labels",
        "stored",
        "store",
        "keep",
        "resume",
        "show_progress",
        "on",
        "help",
        "rules",
        "mix",
        "save_machine",
    }
)
"""Parameters that a request may not give: the server sets them, or they name files to write."""


def runnable(command: tuple[str, ...]) -> Runnable | None:
    """Return the entry of a command; None if jobs may not run it."""
    return next((entry for entry in RUNNABLE if entry.command == command), None)
