"""`headrace sweep`."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headrace.cli.options import (
    FIGURES,
    AsJson,
    Axes,
    Engine,
    PlotDirectory,
    Replications,
    RunsDirectory,
    ScenarioFile,
    Seed,
    Sets,
    ShowProgress,
    TrustedFiles,
    trust,
    with_runs,
)
from headrace.cli.screen import show_files, show_view, steps
from headrace.cli.store_options import Labels, Stored, check_labels, save_to_store
from headrace.commands.values import share
from headrace.files import check_directory
from headrace.interruption import STOP_EXCEPTIONS

if TYPE_CHECKING:
    from headrace.sweeps import Precision, Sweep


def sweep(
    file: ScenarioFile,
    vary: Axes,
    sets: Sets = None,
    design: Annotated[
        str | None,
        typer.Option(
            "--design", metavar="NAME", help="Design: full (the default), latin-hypercube or sobol."
        ),
    ] = None,
    samples: Annotated[
        int | None,
        typer.Option(
            "--samples",
            help="Points of a sampled design. With --sensitivity, each sample has as many points as"
            " there are axes, and one (morris) or two (sobol) more.",
        ),
    ] = None,
    sensitivity: Annotated[
        str | None,
        typer.Option(
            "--sensitivity",
            metavar="METHOD",
            help="Rank the axes by their effect: sobol (parts of the variance) or morris (fewer"
            " runs). Give --samples.",
        ),
    ] = None,
    seed: Seed = None,
    replications: Replications = None,
    precision: Annotated[
        str | None,
        typer.Option(
            "--precision",
            metavar="SHARE",
            help="Add replications to each point until the half width of the 95 % interval is at"
            " most this part of the mean, such as 2%.",
        ),
    ] = None,
    figure: Annotated[
        str,
        typer.Option(
            "--figure",
            metavar="NAME",
            help=f"Figure for --precision, the plots and the table of --sensitivity: {FIGURES} or"
            " simulated_seconds.",
        ),
    ] = "throughput",
    on: Engine = "threads",
    output: RunsDirectory = None,
    as_json: AsJson = False,
    plot: PlotDirectory = None,
    label: Labels = None,
    stored: Stored = True,
    trusted: TrustedFiles = None,
    show_progress: ShowProgress = True,
) -> int:
    """Run a scenario at every combination of values, or at samples of ranges.

    A run that fails is reported and does not end the sweep; the status is then 1. Ctrl-C shows the
    finished runs; --output saves them for the next time.
    """
    from headrace import RunError, simulate
    from headrace.sweeps import parse
    from headrace.sweeps import sweep as run_sweep

    labels = check_labels(label or [], stored)
    for directory in (plot, output):
        check_directory(directory)
    axes = [parse(text) for text in vary]
    until = _precision(precision, figure)
    scenario = simulate.load_with_sets(file, with_runs(sets, seed))
    partial: list[Sweep] = []
    try:
        with steps("sweep") if show_progress else nullcontext() as on_progress:

            def tell(done: int, known: int) -> None:
                if on_progress is not None:
                    on_progress(done, known, "")

            found = run_sweep(
                scenario,
                axes,
                design=design,
                samples=samples,
                sensitivity=sensitivity,
                replications=replications,
                precision=until,
                on=on,
                directory=output,
                progress=tell,
                trust=trust(trusted),
                on_stop=partial.append,
            )
    except (*STOP_EXCEPTIONS, RunError) as error:
        if partial:
            _print(partial[0], figure, as_json)
            error.add_note(_left(partial[0], output))
        raise
    if output is not None:
        found.save(output)
    if plot is not None:
        _plot(found, figure, plot)
    identifier = save_to_store(lambda: found.keep(labels=labels)) if stored else None
    _print(found, figure, as_json, {"tables": output, "plots": plot}, identifier)
    return 1 if found.failed else 0


def _precision(text: str | None, figure: str) -> "Precision | None":
    from headrace import sweeps

    if figure not in sweeps.FIGURES:
        raise ValueError(f"--figure {figure}: expected {', '.join(sweeps.FIGURES)}")
    if text is None:
        return None
    return sweeps.Precision(share("--precision", text), figure)


def _left(partial: "Sweep", output: Path | None) -> str:
    """Return how far a stopped sweep was, and where its runs are."""
    made = f"{len(partial.runs):,} of {len(partial.runs) + partial.left:,} runs had ended"
    if output is None:
        return f"{made}; --output DIR would keep them"
    return f"{made} and are in {output}: the same command goes on"


def _plot(found: "Sweep", figure: str, directory: Path) -> None:
    from headrace.render import pictures
    from headrace.views.sweep import view

    pictures.save(directory, view(found, figure))


def _print(
    found: "Sweep",
    figure: str,
    as_json: bool,
    files: dict[str, Path | None] | None = None,
    identifier: str | None = None,
) -> None:
    if as_json:
        print(json.dumps(found.json(), allow_nan=False, indent=2))
        return
    from headrace.views.sweep import view

    show_view(view(found, figure))
    show_files(files or {})
    if identifier is not None:
        print(f"in the store: {identifier}")
