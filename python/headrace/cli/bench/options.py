"""Arguments and options that several benchmarks have."""

import sys
from enum import StrEnum
from typing import Annotated

import typer

from headrace.commands.values import parsed
from headrace.plain_text import plain


def _limit_space(text: str | None) -> str | None:
    """Limit the space of this process's benchmarks, which state their need from now on."""
    from headrace.measure import space

    limit = space.DEFAULT if text is None else parsed("--space", text, space.parse_space_limit)
    space.set_space_limit(limit, _state_need)
    return text


def _state_need(statement: str) -> None:
    print(plain(statement), file=sys.stderr, flush=True)


Space = Annotated[
    str | None,
    typer.Option(
        "--space",
        metavar="SHARE|SIZE",
        help="Most space that the files may take: a part of the free space, or a size such as"
        ' "2 GB"; by default 50 %.',
        callback=_limit_space,
    ),
]
"""The callback applies the option: commands take it and do not read it."""


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

Repetitions = Annotated[
    int,
    typer.Option(
        "--repetitions", min=1, help="Number of repetitions; each measures every point once."
    ),
]
RepetitionsOfScenario = Annotated[
    int | None,
    typer.Option(
        "--repetitions",
        min=1,
        help="Number of repetitions, each with new files; by default run.replications.",
    ),
]
Processes = Annotated[
    int | None, typer.Option("--processes", min=1, max=4096, help="Number of parallel processes.")
]
BlockSize = Annotated[
    str, typer.Option("--block-size", metavar="SIZE", help="Bytes of each request.")
]
Token = Annotated[
    str | None,
    typer.Option("--token", metavar="SECRET", help="Secret that headrace bench net answer prints."),
]
