"""`headrace bench ior`, `mdtest` and `dd`: the command lines of these programs."""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated as A

import typer

from headrace.cli.bench.documents import Csv
from headrace.cli.bench.options import RepetitionsOfScenario, Space
from headrace.cli.bench.run import measure_and_print
from headrace.cli.options import AsJson, KeepFiles, LongResultFile, PlotDirectory, ShowProgress
from headrace.cli.store_options import Labels, Stored
from headrace.command_lines import Command, read_command
from headrace.commands.fields import Sets
from headrace.commands.parameters import Help
from headrace.files import atomic_file
from headrace.plain_text import plain_line
from headrace.ranks import current

HELP = """Measure with the command line of {program}.

{about} Their effect is in docs/reference/ior-mdtest.md; an option that cannot be followed is
refused. DIR comes first; without it, {place} is taken. Files are made in a directory of its own
below it, which is removed at the end. --write-scenario writes the workload for `headrace run`.
`headrace run '{program} ...'` also takes the command line.
"""
WORDS = {
    "ior": ("All options of IOR 4 are known.", "the directory of -o"),
    "mdtest": ("All options of mdtest of IOR 4 are known.", "-d"),
    "dd": ("All operands of GNU dd are known.", "the directory of of= or if="),
}
"""What the help of each command says."""


def _command(program: str) -> Callable[..., int]:
    def run(
        words: A[
            list[str] | None,
            typer.Argument(
                metavar="[DIR] [OPTIONS]...",
                help=f"Directory to measure, and the command line of {program}.",
                show_default=False,
            ),
        ] = None,
        write_scenario: A[
            Path | None,
            Help("Write the workload as a scenario and measure nothing; - for standard output."),
        ] = None,
        processes: A[int | None, Help("Processes of each rank.", least=1, most=4096)] = None,
        sets: Sets = (),
        space: Space = None,
        as_json: AsJson = False,
        output: LongResultFile = None,
        csv: Csv = None,
        plot: PlotDirectory = None,
        repeats: RepetitionsOfScenario = None,
        label: Labels = (),
        stored: Stored = True,
        keep: KeepFiles = False,
        show_progress: ShowProgress = True,
    ) -> int:
        directory, options = _split(program, words or ())
        command = read_command(program, options)
        here = current()
        if here.first:
            for note in command.notes:
                print(plain_line(f"note: {program} {note}"), file=sys.stderr)
        if write_scenario is not None:
            if sets:
                raise ValueError("--set: expected it with headrace run, not with --write-scenario")
            if here.first:
                with atomic_file(write_scenario) as partial:
                    partial.write_text(command.simulated(here.size, processes), encoding="utf-8")
            return 0
        each = _processes(command, here.size, processes)
        return measure_and_print(
            command.measured(here.size, each, _node_tasks(each)),
            Path(directory or _place(command)),
            sets=sets,
            repeats=repeats,
            as_json=as_json,
            csv=csv,
            output=output,
            plot=plot,
            label=label,
            stored=stored,
            keep=keep,
            calls=command.calls,
            show_progress=show_progress,
        )

    about, place = WORDS[program]
    run.__doc__ = HELP.format(program=program, about=about, place=place)
    return run


def _split(program: str, words: Sequence[str]) -> tuple[str | None, Sequence[str]]:
    """Return the directory, if it comes first, and the words of the program."""
    if not words:
        raise ValueError(f"bench {program}: expected a command line of {program}")
    is_option = "=" in words[0] if program == "dd" else words[0].startswith("-")
    return (None, words) if is_option else (words[0], words[1:])


def _place(command: Command) -> str:
    """Return the directory of a program's files, or that in which mdtest would make it."""
    place = command.directory
    above = os.path.dirname(place.rstrip("/")) or "."
    return above if command.program == "mdtest" and not os.path.exists(place) else place


def _processes(command: Command, ranks: int, processes: int | None) -> int:
    """Return the processes of each rank. Raises ValueError if there are other numbers of them."""
    tasks = command.tasks
    if tasks is None:
        return processes or 1
    each = processes or max(1, tasks // ranks)
    if each * ranks != tasks:
        raise ValueError(
            f"ior -N {tasks}: expected {each * ranks}, the processes of {ranks} ranks, or none"
        )
    return each


def _node_tasks(processes: int) -> int:
    """Return the distance in processes from a host to the next (IOR, utilities.c:
    QueryNodeMapping)."""
    here = current()
    first = next(numbers for numbers in here.hosts().values() if 0 in numbers)
    return len(first) * processes if 1 % here.size in first else 1


COMMANDS = {program: _command(program) for program in WORDS}
