"""Measures the processor time of short commands, mostly that of Python and its imports.

Commands of several installations take turns; the table gives medians. The first run of each is
not counted.

    python benches/striped-read/command.py [ROUNDS] [HEADRACE ...]

HEADRACE are executables, by default `headrace` beside this Python.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = "scenarios/striped-read.toml"
COMMANDS = (
    ("run", SCENARIO),
    ("run", SCENARIO, "--no-store", "--json"),
    ("results", "list"),
    ("explain", SCENARIO),
    ("--version",),
)
ROUNDS = 9


def processor_time(command: list[str], store: str) -> float:
    """Run a command and return the seconds of processor time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"HEADRACE_STORE": store}
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Run all commands in turns, and print the medians."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    executables = sys.argv[2:] or [str(Path(sys.executable).with_name("headrace"))]
    taken: dict[tuple[str, tuple[str, ...]], list[float]] = {}
    with tempfile.TemporaryDirectory() as store:
        for number in range(rounds + 1):
            for arguments in COMMANDS:
                for executable in executables:
                    seconds = processor_time([executable, *arguments], store)
                    if number > 0:
                        taken.setdefault((executable, arguments), []).append(seconds)
    for arguments in COMMANDS:
        for executable in executables:
            median = statistics.median(taken[executable, arguments])
            print(f"{median:6.3f} s  headrace {' '.join(arguments)}  ({executable})")


if __name__ == "__main__":
    main()
