"""`headrace calibrate`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.bench.run import BelowDirectory
from headrace.cli.screen import show, steps
from headrace.files import check_writable, whole_file
from headrace.report.plain import plain_line

Rounds = Annotated[
    int, typer.Option("--rounds", min=2, help="How often everything is measured, in turn.")
]


def calibrate(
    directory: BelowDirectory,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Save the machine as a system's file."),
    ] = None,
    rounds: Rounds = 5,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the parameters as one JSON document.")
    ] = False,
) -> None:
    """Measure what a machine and the file system under a directory cost, as a model needs it.

    Settings are read from the kernel, the rest is measured by small benchmarks, all of them in
    turn. A scenario takes the file by its `system`. Needs no rights but to write in DIR.
    """
    from headrace import calibrate as calibration

    if output is not None:
        check_writable(output)
    with steps("calibrate") as told:
        found = calibration.calibrate(directory, rounds=rounds, told=told)
    if as_json:
        print(json.dumps(found.json(), allow_nan=False, indent=2))
    else:
        from headrace.report import validation_tables

        show(validation_tables.calibration(found.json()))
    if output is not None:
        with whole_file(output) as partial:
            partial.write_text(found.toml, encoding="utf-8")
        if not as_json:
            print(plain_line(f"machine: {output}"))
