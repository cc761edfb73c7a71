"""Save partial results of long benchmarks and resume from them."""

import contextlib
import os
import shlex
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated as A
from typing import Any, Protocol, TypeAlias

from headrace.cli.bench.output_lock import lock_output
from headrace.commands.parameters import Help, Word
from headrace.file_formats import FileFormat
from headrace.files import check_writable
from headrace.plain_text import plain
from headrace.ranks import current, first_rank_only

PREFIX = "results:"
QUIET_S = 10.0
"""Seconds after which the file of finished steps is named, as progress lines begin."""

Resume: TypeAlias = A[
    str | None,
    Word("--resume", metavar="FILE"),
    Help("Resume from a file that -o of the same command saved, or from results:ID in the store."),
]


class Savable(Protocol):
    """A result that can be saved before it is complete."""

    def save(self, path: Path) -> None:
        """Save it as JSON."""


def earlier_result(resume: str | None) -> dict[str, Any] | None:
    """Read the result that `--resume` names and lock its file. The first rank reads it for all
    ranks. Raises as `headrace.measure.resume.read_earlier` does, and ValueError if another
    benchmark holds the file."""

    from headrace.measure.resume import read_earlier

    if resume is None:
        return None
    here, read = current(), []

    def reading() -> None:
        if here.first:
            if not resume.startswith(PREFIX):
                lock_output(Path(resume))
            read.append(read_earlier(resume))

    here.run_on_all(reading)
    found: dict[str, Any] = here.broadcast(read)[0]
    return found


def output_of(output: Path | None, resume: str | None) -> Path | None:
    """Return the output file and lock it; without `-o`, a resumed file is also the output. Raises
    OSError if it cannot be written, ValueError if another benchmark saves to it."""
    if output is None and resume is not None and not resume.startswith(PREFIX):
        output = Path(resume)
        format = None
    else:
        format = FileFormat.JSON
    output = first_rank_only(output)
    current().run_on_all(lambda: _take(output, format))
    return output


def _take(output: Path | None, format: FileFormat | None) -> None:
    if output is not None:
        check_writable(output, format)
        lock_output(output)


class Saver:
    """Saves the partial result after each step: to `output`, else to a file beside the store.

    A full disk does not end the benchmark: a call warns once, and the command fails at the end.
    """

    def __init__(self, output: Path | None, stored: bool) -> None:
        """Take the output file, and whether the whole result goes into the store."""
        self._unfinished = None
        folder = _unfinished_folder() if stored else None
        if folder is not None and output is not None and output.resolve().parent == folder:
            # A resumed file beside the store.
            self._unfinished, output = output, None
        elif folder is not None and output is None:
            self._unfinished = folder / f"{time.time_ns()}-{os.getpid()}.json"
        self.output = output
        """The output file of the user; None for one beside the store."""
        self._has_warned = False
        self._has_told = False
        self._began = time.monotonic()

    def __call__(self, result: Savable) -> None:
        """Save a partial result."""
        path = self.output or self._unfinished
        if path is None:
            return
        try:
            if path == self._unfinished:
                path.parent.mkdir(parents=True, exist_ok=True)
            result.save(path)
        except OSError as error:
            if not self._has_warned:
                reason = f"warning: {path} cannot be written: {error.strerror or error}"
                print(plain(reason), file=sys.stderr)
            self._has_warned = True
            return
        is_long = time.monotonic() - self._began >= QUIET_S
        if path == self._unfinished and is_long and not self._has_told:
            self._has_told = True
            text = f"finished steps are saved in {path} until the whole result is in the store"
            print(plain(text), file=sys.stderr)

    def discard(self) -> None:
        """Remove the file beside the store: the whole result is saved."""
        if self._unfinished is not None:
            with contextlib.suppress(OSError):
                self._unfinished.unlink(missing_ok=True)


def _unfinished_folder() -> Path | None:
    """Return the directory for the steps of benchmarks; None without a place for it."""
    from platformdirs import user_data_path

    from headrace.store.errors import StoreError
    from headrace.store.location import Directory, location

    try:
        store = location()
    except StoreError:
        # Saving the whole result says so.
        return None
    data = user_data_path("headrace", appauthor=False)
    return (store.path if isinstance(store, Directory) else data).resolve() / "unfinished"


def print_resume_command(
    stop: Mapping[str, Any], output: Path | None, identifier: str | None
) -> None:
    """Print the command that resumes an interrupted or failed benchmark."""
    if stop["reason"] not in ("interrupted", "failed"):
        return
    saved = str(output) if output is not None else identifier and f"{PREFIX}{identifier}"
    if saved is None:
        return
    command = shlex.join(["headrace", *_without_resume(sys.argv[1:]), "--resume", saved])
    print(plain(f"to resume: {command}"), file=sys.stderr)


def _without_resume(arguments: list[str]) -> list[str]:
    rest: list[str] = []
    value = False
    for argument in arguments:
        if not value and argument != "--resume" and not argument.startswith("--resume="):
            rest.append(argument)
        value = argument == "--resume"
    return rest
