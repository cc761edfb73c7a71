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
    show_progress: ShowProgress = True,
) -> None:
    """Run two example scenarios and plot them.

    The scenarios, of a parallel file system, are part of the installed package. The command copies
    them to DIR, beside their plots.
    """
    check_directory(directory)
    packaged = files("headrace").joinpath("demo")
    texts = {
        directory / f"{name}.toml": packaged.joinpath(f"{name}.toml").read_bytes()
        for name in SCENARIOS
    }
    for copy, text in texts.items():
        if copy.exists() and copy.read_bytes() != text:
            message = "exists and differs from the packaged scenario: choose another --plot DIR"
            raise FileExistsError(errno.EEXIST, message, str(copy))
    make_directory(directory)
    for copy, text in texts.items():
        with atomic_file(copy) as partial:
            partial.write_bytes(text)
    for copy in texts:
        run_scenario.run(copy, plot=copy.with_suffix(""), stored=False, show_progress=show_progress)
        print()
    first = shlex.quote(str(next(iter(texts))))
    print("Change a value and run a scenario again:")
    print(plain_line(f"  headrace run {first} --set clients.count=32"))
