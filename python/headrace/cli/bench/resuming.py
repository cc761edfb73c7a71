"""What long benchmarks have in common: they save what is done so far, and go on with it."""

import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeAlias

import typer

from headrace.cli.bench.held import hold
from headrace.file_formats import FileFormat
from headrace.files import check_writable
from headrace.ranks import current, of_first
from headrace.report.plain import plain

PREFIX = "results:"

Resume: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--resume",
        metavar="FILE",
        help="Go on with what the same command saved by -o, or keeps in the store (results:ID).",
    ),
]


class Savable(Protocol):
    """What can be saved before it is whole."""

    def save(self, path: Path) -> None:
        """Saves it as JSON."""


def earlier(resume: str | None) -> dict[str, Any] | None:
    """What `--resume` names; the first rank reads it for all, and nobody else goes on with it
    meanwhile. Raises as `headrace.measure.resuming.earlier`, ValueError if somebody does."""
    from headrace.measure import resuming

    if resume is None:
        return None
    here, read = current(), []

    def reading() -> None:
        if here.first:
            if not resume.startswith(PREFIX):
                hold(Path(resume))
            read.append(resuming.earlier(resume))

    here.agreed(reading)
    found: dict[str, Any] = here.broadcast(read)[0]
    return found


def output_of(output: Path | None, resume: str | None) -> Path | None:
    """Where a result is saved, by nobody else meanwhile: a file that is resumed gets the rest as
    well. Raises OSError if it cannot be written, ValueError if another benchmark saves to it."""
    if output is None and resume is not None and not resume.startswith(PREFIX):
        output = Path(resume)
        format = None
    else:
        format = FileFormat.JSON
    output = of_first(output)
    current().agreed(lambda: _take(output, format))
    return output


def _take(output: Path | None, format: FileFormat | None) -> None:
    if output is not None:
        check_writable(output, format)
        hold(output)


def saver(output: Path | None) -> Callable[[Savable], None]:
    """What saves all that is done so far, after each point.

    A disk that is full must not end a benchmark: it is told once, and again at the end.
    """
    told = False

    def save(result: Savable) -> None:
        nonlocal told
        if output is None:
            return
        try:
            result.save(output)
        except OSError as error:
            if not told:
                reason = f"warning: {output} cannot be written: {error.strerror or error}"
                print(plain(reason), file=sys.stderr)
            told = True

    return save


def tell_how_to_go_on(stop: Mapping[str, Any], output: Path | None, identifier: str | None) -> None:
    """Prints the command that goes on with what was interrupted."""
    if stop["reason"] != "interrupted":
        return
    saved = str(output) if output is not None else identifier and f"{PREFIX}{identifier}"
    if saved is None:
        return
    command = shlex.join(["headrace", *_without_resume(sys.argv[1:]), "--resume", saved])
    print(plain(f"to go on: {command}"), file=sys.stderr)


def _without_resume(arguments: list[str]) -> list[str]:
    kept: list[str] = []
    value = False
    for argument in arguments:
        if not value and argument != "--resume" and not argument.startswith("--resume="):
            kept.append(argument)
        value = argument == "--resume"
    return kept
