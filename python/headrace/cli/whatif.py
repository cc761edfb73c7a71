"""`headrace whatif`."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.options import ScenarioFile, Sets
from headrace.cli.screen import show, steps
from headrace.cli.trust import TrustedFiles, trust
from headrace.files import check_directory


def whatif(
    file: ScenarioFile,
    sets: Sets = None,
    by: Annotated[
        float,
        typer.Option(
            "--by",
            metavar="FACTOR",
            help="Factor of each change: that many times as much, or as fast.",
        ),
    ] = 2.0,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="PATTERN",
            help="Change only fields that match, such as servers.*; can be repeated.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print every change as one JSON document.")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="DIR", help="Write a plot (PNG and SVG) to a directory."),
    ] = None,
    trusted: TrustedFiles = None,
    show_progress: Annotated[
        bool, typer.Option("--progress/--no-progress", help="Show a progress bar on a terminal.")
    ] = True,
) -> None:
    """Change each resource in turn and rank the changes by gain.

    Runs the scenario once for each rate, time, size and count in it, side by side.
    """
    from headrace import simulate

    if plot is not None:
        check_directory(plot)
    scenario = simulate.load_with_sets(file, sets or [])
    with steps("whatif") if show_progress else nullcontext() as on_progress:
        study = simulate.study(
            scenario, by=by, only=only or [], progress=on_progress or False, trust=trust(trusted)
        )
    if plot is not None:
        from headrace.report import plots

        plots.save_gains(plot, study.baseline.name, study.factor, study.table)
    if as_json:
        print(json.dumps(study.json(), allow_nan=False, indent=2))
        return
    from headrace.report.plain_text import plain_line
    from headrace.report.whatif_tables import what_if

    show(what_if(study.json()))
    if plot is not None:
        print(plain_line(f"plots: {plot}"))
