"""`headrace twin`."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.bench.run import BelowDirectory
from headrace.cli.calibrate import Rounds
from headrace.cli.screen import steps
from headrace.cli.validate import tell
from headrace.files import check_directory, check_writable, save_json


def twin(
    directory: BelowDirectory,
    machine: Annotated[
        Path | None,
        typer.Option(
            "--machine", metavar="FILE", help="A system's file; else DIR is calibrated first."
        ),
    ] = None,
    rounds: Rounds = 5,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as one JSON document.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Save the result as JSON."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="DIR", help="Write a plot (PNG and SVG) to a directory."),
    ] = None,
) -> None:
    """Calibrate a machine, predict what it has not been measured for, measure that, compare.

    The cases have other block sizes, patterns and numbers of processes than the calibration.
    """
    from headrace import validate

    if output is not None:
        check_writable(output)
    if plot is not None:
        check_directory(plot)
    with _calibrated(directory, machine, rounds) as file, steps("twin") as told:
        document = validate.twin(directory, file, rounds=rounds, told=told).json()
    tell(document, as_json, plot)
    if output is not None:
        save_json(output, document)


@contextmanager
def _calibrated(directory: Path, machine: Path | None, rounds: int) -> Iterator[Path]:
    """The machine's file: the one that is given, or what a calibration finds."""
    from headrace import calibrate

    if machine is not None:
        yield machine
        return
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        file = Path(folder) / "machine.toml"
        with steps("calibrate") as told:
            found = calibrate.calibrate(directory, rounds=rounds, told=told)
        file.write_text(found.toml, encoding="utf-8")
        yield file
