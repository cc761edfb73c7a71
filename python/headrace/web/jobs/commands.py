"""The commands that a job may run, and what the server adds to each."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import msgspec

Values: TypeAlias = Mapping[str, Any]


def starts_or_traces(values: Values) -> bool:
    """Whether `profile record` starts a program, or captures the calls of a running one."""
    return bool(values.get("command")) or values.get("capture") not in (None, "", "none")


def counts_by_command(values: Values) -> bool:
    """Whether `bench tune` counts by a command of the user's."""
    return str(values.get("profiler", "")).startswith("command:")


class Runnable(msgspec.Struct, frozen=True):
    """A command that a job may run."""

    command: tuple[str, ...]
    measures: bool = False
    """Whether it measures this machine, and so must run alone."""
    programs: Callable[[Values], bool] | None = None
    """Whether a request with these values runs a program of the user's, or traces one that runs:
    the operator must allow it."""
    output: str | None = None
    """Name of its output in the job's directory: a directory, or the document with its tables."""


RUNNABLE = (
    Runnable(("run",), output="result.json"),
    Runnable(("sweep",), output="sweep"),
    Runnable(("optimise",), output="optimise"),
    Runnable(("whatif",)),
    Runnable(("bench", "quick"), measures=True),
    Runnable(("bench", "run"), measures=True),
    Runnable(("bench", "mix"), measures=True),
    Runnable(("bench", "tune"), measures=True, programs=counts_by_command),
    Runnable(("bench", "sweep"), measures=True),
    Runnable(("bench", "blocks"), measures=True),
    Runnable(("bench", "clients"), measures=True),
    Runnable(("bench", "meta"), measures=True),
    Runnable(("bench", "disk"), measures=True),
    Runnable(("bench", "copy"), measures=True),
    Runnable(("bench", "net", "ask"), measures=True),
    Runnable(("baseline",), measures=True),
    Runnable(("profile", "record"), measures=True, programs=starts_or_traces, output="profile"),
    Runnable(("profile", "report")),
    Runnable(("trace", "info")),
    Runnable(("trace", "convert")),
    Runnable(("trace", "findings")),
    Runnable(("design", "solve"), output="design"),
)
"""To let jobs run another command takes a line here."""

PATHS = frozenset({"paths"})
"""Parameters of other types whose values are paths."""
FILES_OR_NAMES = frozenset({"workload", "target"})
"""Parameters that take a name or a file: a value with a slash or a colon is a file."""

WITHHELD = frozenset(
    {
        "as_json",
        "output",
        "plot",
        "csv",
        "requests",
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
    return next((it for it in RUNNABLE if it.command == command), None)
