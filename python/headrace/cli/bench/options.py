"""Arguments and options that several benchmarks have."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


def directory_to_measure(text: str) -> Path:
    """A directory as the command line has it."""
    # A variable that is not set is no directory, and least of all the one one happens to be in.
    if not text:
        raise typer.BadParameter("expected a directory; . is the current one")
    return Path(text)


BelowDirectory = Annotated[
    Path,
    typer.Argument(
        metavar="DIR",
        help="Directory on the file system to measure.",
        parser=directory_to_measure,
    ),
]


class Calls(StrEnum):
    """Ways to make system calls."""

    POSIX = "posix"
    IO_URING = "io-uring"
    NULL = "null"


CallsOption = Annotated[
    Calls,
    typer.Option(
        "--calls",
        help="System calls (posix), io_uring, or none (null),"
        " which measures the engine's own cost.",
    ),
]


Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="DIR", help="Write plots to a directory.")
]
