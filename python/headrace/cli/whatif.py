"""`headrace whatif`."""

import json
from contextlib import nullcontext
from typing import Annotated

import typer

from headrace.cli.options import (
    AsJson,
    PlotDirectory,
    Replications,
    ResultFile,
    ScenarioFile,
    Seed,
    Sets,
    ShowProgress,
    TrustedFiles,
    trust,
    with_runs,
)
from headrace.cli.screen import show_files, show_view, steps
from headrace.file_formats import FileFormat
from headrace.files import check_directory, check_writable, save_json
from headrace.kinds import blocks


def whatif(
    file: ScenarioFile,
    sets: Sets = None,
    seed: Seed = None,
    replications: Replications = None,
    by: Annotated[
        float,
        typer.Option(
            "--factor",
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
    kinds: Annotated[
        bool,
        typer.Option(
            "--kinds/--no-kinds",
            help="Try other kinds and levels too: devices, schedulers, file systems, layouts.",
        ),
    ] = True,
    quantities: Annotated[
        bool, typer.Option("--quantities/--no-quantities", help="Try other amounts.")
    ] = True,
    cost: Annotated[
        str,
        typer.Option(
            "--cost",
            metavar="GROUP",
            help="Most expensive group of changes: setting, configuration (a reformat or rewritten"
            " files), hardware, or system.",
        ),
    ] = "system",
    pairs: Annotated[
        int, typer.Option("--pairs", help="Combine the N best single changes in pairs; 0: none.")
    ] = 0,
    on: Annotated[
        str,
        typer.Option("--on", metavar="ENGINE", help="Where runs take place: threads or threads:N."),
    ] = "threads",
    as_json: AsJson = False,
    output: ResultFile = None,
    plot: PlotDirectory = None,
    trusted: TrustedFiles = None,
    show_progress: ShowProgress = True,
) -> None:
    """Change each resource and kind in turn and rank the changes by gain.

    Runs the scenario once for each rate, time, size and count in it, side by side. It also runs
    it with each other device, scheduler, file system, layout, link or system that it may have.
    """
    from headrace import simulate
    from headrace.alternatives import group
    from headrace.sweeps import study as run_study

    check_writable(output, FileFormat.JSON)
    check_directory(plot)
    scenario = simulate.load_with_sets(file, with_runs(sets, seed, replications))
    with steps("whatif") if show_progress else nullcontext() as on_progress:
        study = run_study(
            scenario,
            by=by,
            only=only or [],
            kinds=kinds,
            quantities=quantities,
            cost=group(cost),
            pairs=pairs,
            on=on,
            progress=on_progress or False,
            trust=trust(trusted),
        )
    document = study.json()
    view = blocks("whatif", document)
    if plot is not None:
        from headrace.render import pictures

        pictures.save(plot, view)
    if output is not None:
        save_json(output, document)
    if as_json:
        print(json.dumps(document, allow_nan=False, indent=2))
        return
    show_view(view)
    show_files({"plots": plot})
