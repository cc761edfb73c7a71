"""Arguments and options that several benchmarks have."""

import sys
from enum import StrEnum
from typing import Annotated as A

import typer

from headrace.commands.parameters import Help, Word
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


Space = A[
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


CallsOption = A[
    Calls,
    typer.Option(
        "--calls",
        help="System calls (posix), io_uring, or none (null),"
        " which measures the engine's own cost.",
    ),
]

Repetitions = A[
    int,
    Word("--repetitions"),
    Help("Number of repetitions; each measures every point once.", least=1),
]
RepetitionsOfScenario = A[
    int | None,
    Word("--repetitions"),
    Help("Number of repetitions, each with new files; by default run.replications.", least=1),
]
Processes = A[
    int | None, Word("--processes"), Help("Number of parallel processes.", least=1, most=4096)
]
BlockSize = A[str, Word("--block-size", metavar="SIZE"), Help("Bytes of each request.")]
Token = A[
    str | None,
    Word("--token", metavar="SECRET"),
    Help("Secret that headrace bench net answer prints."),
]
