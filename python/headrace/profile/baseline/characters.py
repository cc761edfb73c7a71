"""Characters written and read by a C program of fputc and fgetc, as programs do it."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from headrace import _core
from headrace.interruption import defer_signals

SOURCE = Path(__file__).with_name("characters.c")
METHOD = "a C program with a loop of {call}, compiled by cc -O2"


class Characters(NamedTuple):
    """Times of a pass, in seconds; the processor's are those of the program alone."""

    write_s: float
    write_cpu_s: float
    read_s: float
    read_cpu_s: float


@contextmanager
def compiled() -> Iterator[Path | None]:
    """Yield the compiled program; None without a C compiler or a place to run programs from."""
    compiler = shutil.which("cc")
    if compiler is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="headrace-") as place:
        program = Path(place) / "characters"
        try:
            subprocess.run(
                [compiler, "-O2", "-o", program, SOURCE],
                check=True,
                capture_output=True,
                stdin=subprocess.DEVNULL,
            )
            # The program's own complaint about its arguments: temporary files may be noexec.
            ended = subprocess.run([program], check=False, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            ended = None
        yield program if ended is not None and ended.returncode == 2 else None


def measure_characters(program: Path, below: str | PathLike[str], size: int) -> Characters:
    """Write and read a file of `size` bytes in a benchmark's directory, which is removed.

    Raises OSError if the directory cannot be created, RunError if the program fails.
    """
    directory = None
    try:
        with defer_signals():
            directory = _core.BenchmarkDirectory(below)
        # The engine removes only names of its own.
        file = Path(directory.path) / "hr-f0"
        ended = subprocess.run(
            [program, file, str(size)], check=False, capture_output=True, text=True
        )
    finally:
        if directory is not None:
            directory.remove()
    if ended.returncode:
        raise _core.RunError(f"characters: {ended.stderr.strip() or f'status {ended.returncode}'}")
    return Characters(*map(float, ended.stdout.split()))
