"""`--trust`: which Python files a scenario may run."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from headrace.plain_text import plain_line

if TYPE_CHECKING:
    from headrace.simulate import Trust

TrustedFiles: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--trust",
        help="Trust the scenario's scheduler in this Python file permanently; can be repeated.",
    ),
]


def trust(files: list[Path] | None) -> "Trust":
    """Return the trust settings of a command. On a terminal the command asks about other files.

    Raises OSError if one of the files cannot be read.
    """
    from headrace.simulate import Trust

    on_terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    return Trust(files=files or (), ask=_ask if on_terminal else None)


def _ask(file: Path, digest: str) -> bool:
    print(
        f"This scenario runs Python code: {plain_line(str(file))}\n"
        f"  SHA-256 {digest}\n"
        "The code runs with your rights: read it first.",
        file=sys.stderr,
    )
    return typer.confirm("Trust this file permanently?", default=False, err=True)
