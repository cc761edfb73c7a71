"""`headrace bench fio`: fio's own command line."""

import os
import re
from pathlib import Path
from typing import Annotated as A

import typer

from headrace.cli.bench.options import Space
from headrace.cli.bench.quick import run_planned
from headrace.cli.options import AsJson, PlotDirectory, ShowProgress
from headrace.cli.store_options import Labels, Stored
from headrace.commands.parameters import Help, Word
from headrace.commands.sizes import size
from headrace.commands.values import span
from headrace.files import STANDARD_OUTPUT
from headrace.jobs.fio.command_line import read_command
from headrace.jobs.fio.read import planned
from headrace.jobs.plan import Plan

PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


def with_two_dashes(word: str) -> str:
    """Return an option of several letters with two dashes."""
    return f"-{word}" if re.match(r"-[A-Za-z_][\w-]", word) else word


def fio(
    context: typer.Context,
    seconds: A[
        float | None, span(), Word("--time"), Help("Time to measure, in place of each runtime.")
    ] = None,
    file_size: A[
        str | None,
        Word("--file-size", metavar="SIZE"),
        Help("Size of files that stand for a device."),
    ] = None,
    predict: A[
        Path | None,
        Word(metavar="SYSTEM"),
        Help("Simulate the jobs as well, on the system that this file describes."),
    ] = None,
    space: Space = None,
    as_json: AsJson = False,
    plot: PlotDirectory = None,
    label: Labels = (),
    stored: Stored = True,
    show_progress: ShowProgress = True,
) -> int:
    """Run a command line of fio, such as --name=x --rw=randread --bs=4k --size=1g.

    Options are fio's, with one dash or two; job files may be among them. DIR is a directory or a
    block device, which is only read; without it that of --directory or --filename is used. All
    files are made in a directory of the benchmark's own, which is removed at the end. With
    --output-format=json the result is in fio's form, in the file of --output if there is one.
    """
    command = read_command(context.args, os.environ)
    of_files = None if file_size is None else size(file_size)

    def jobs(device_size: int | None) -> Plan:
        # Each reading adds its notes.
        again = read_command(context.args, os.environ)
        return planned(
            again.text,
            "fio",
            again.source,
            device_size=device_size,
            stops=seconds,
            file_size=of_files,
        )

    if len(command.paths) > 1:
        raise ValueError(f"{command.paths[1]}: expected one directory or block device")
    named = command.paths[0] if command.paths else command.text.place()
    if named is None:
        raise ValueError("expected a directory: headrace bench fio DIR --name=..., or --directory=")
    where = Path(named)
    if not where.exists():
        raise ValueError(f"{where}: no such directory or block device")
    own = command.output or STANDARD_OUTPUT
    return run_planned(
        jobs,
        where,
        None,
        as_json,
        None,
        None,
        plot,
        label,
        stored,
        show_progress,
        fio_json=own if command.json else None,
        predict=predict,
    )
