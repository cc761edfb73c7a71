"""`headrace demo`."""

import errno
import shlex
from importlib.resources import files
from pathlib import Path
from typing import Annotated as A

from headrace.cli import run_scenario
from headrace.cli.options import ShowProgress
from headrace.commands.parameters import Help, Word
from headrace.files import atomic_file, check_directory, make_directory
from headrace.plain_text import plain_line

SCENARIOS = ("pfssim-write-then-read", "pfssim-sfq")


def demo(
    directory: A[
        Path, Word("--plot", metavar="DIR"), Help("Directory for scenarios and plots.")
    ] = Path("headrace-demo"),
    copy: A[
        Path | None, Word(metavar="DIR"), Help("Copy all examples to DIR, and run none.")
    ] = None,
    show_progress: ShowProgress = True,
) -> None:
    """Run two example scenarios and plot them.

    The scenarios, of a parallel file system, are part of the installed package. The command copies
    them to DIR, beside their plots. With --copy, all packaged scenarios and nets are copied.
    """
    packaged = Path(str(files("headrace").joinpath("demo")))
    sources = packaged.rglob("*.toml") if copy else (packaged / f"{it}.toml" for it in SCENARIOS)
    target = copy or directory
    check_directory(target)
    texts = {target / file.relative_to(packaged): file.read_bytes() for file in sources}
    for file, text in texts.items():
        if file.exists() and file.read_bytes() != text:
            message = "exists and differs from the packaged scenario: choose another DIR"
            raise FileExistsError(errno.EEXIST, message, str(file))
    for file, text in texts.items():
        make_directory(file.parent)
        with atomic_file(file) as partial:
            partial.write_bytes(text)
    if copy:
        print(plain_line(f"{copy}: {len(texts)} examples"))
        return
    for file in texts:
        run_scenario.run(file, plot=file.with_suffix(""), stored=False, show_progress=show_progress)
        print()
    first = shlex.quote(str(next(iter(texts))))
    print("Change a value and run a scenario again:")
    print(plain_line(f"  headrace run {first} --set clients.count=32"))
