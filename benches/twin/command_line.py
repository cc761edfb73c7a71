"""Command-line arguments of the programs in this directory: OUT [ROUNDS] [NAME...]."""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path


def parse_arguments(
    about: str | None, names: Sequence[str], rounds: int
) -> tuple[Path, int, list[str]]:
    """Parse OUT, ROUNDS and NAMEs, and create OUT; without NAMEs return all names.

    Invalid arguments end the program with one line and status 2. SIGTERM then raises SystemExit, so
    that testbeds are taken down.
    """
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "out", metavar="OUT", type=Path, help="directory in which results are saved"
    )
    parser.add_argument("rounds", metavar="ROUNDS", type=int, nargs="?", default=rounds)
    parser.add_argument("names", metavar="NAME", nargs="*", help=", ".join(names))
    given = parser.parse_args()
    if given.rounds < 1:
        parser.error(f"ROUNDS = {given.rounds}: expected 1 or more")
    if unknown := [it for it in given.names if it not in names]:
        parser.error(f"NAME {unknown[0]}: expected one of {', '.join(names)}")
    try:
        given.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        parser.error(f"{given.out}: {error.strerror}: expected a writable directory")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    return given.out.resolve(), given.rounds, given.names or list(names)
