"""`headrace optimise`."""

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
    time_option,
    trust,
    with_runs,
)
from headrace.cli.screen import show_files, show_view, steps
from headrace.commands.values import share
from headrace.files import check_directory
from headrace.interruption import STOP_EXCEPTIONS

if TYPE_CHECKING:
    from headrace.optimisation import Optimum


def optimise(
    file: ScenarioFile,
    vary: Axes,
    sets: Sets = None,
    maximise: Annotated[
        list[str] | None,
        typer.Option(
            "--maximise",
            metavar="FIGURE",
            help=f"Figure to maximise: {FIGURES}, simulated_seconds or cost. Can be repeated.",
        ),
    ] = None,
    minimise: Annotated[
        list[str] | None,
        typer.Option("--minimise", metavar="FIGURE", help="Figure to minimise; can be repeated."),
    ] = None,
    subject_to: Annotated[
        list[str] | None,
        typer.Option(
            "--subject-to",
            metavar="CONSTRAINT",
            help="Limit of a figure, such as 'latency_p99 <= 20 ms'; can be repeated.",
        ),
    ] = None,
    price: Annotated[
        list[str] | None,
        typer.Option(
            "--price",
            metavar="PATH=PRICE",
            help="Price for the cost: 'servers.count=5000', 'servers.memory.cache=4/GiB',"
            " 'servers.count*servers.targets=300', or for a choice 'path:value=900'. Can be"
            " repeated.",
        ),
    ] = None,
    price_file: Annotated[
        Path | None, typer.Option("--price-file", help="TOML file with prices in a table [prices].")
    ] = None,
    catalogue: Annotated[
        str | None,
        typer.Option(
            "--catalogue",
            metavar="FILE",
            help="Catalogue of headrace design, whose entries prices may name:"
            " 'servers.count=2U12 + 12 x nearline 8 TB'. A file, or a shipped one such as"
            " example-2026.",
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option("--trials", help="Number of trials; 100 by default without --time-limit."),
    ] = None,
    time: Annotated[
        float | None,
        time_option("--time-limit", "Time after which no more trials and comparisons begin."),
    ] = None,
    sampler: Annotated[
        str | None,
        typer.Option(
            "--sampler",
            metavar="NAME",
            help="How points are chosen: tpe, nsga2, random, sobol, or full (all points, the"
            " default where trials suffice).",
        ),
    ] = None,
    seed: Seed = None,
    replications: Replications = None,
    leaders: Annotated[
        int, typer.Option("--leaders", help="Points that are compared with more replications.")
    ] = 12,
    most_replications: Annotated[
        int, typer.Option("--most-replications", help="Most replications of a leader.")
    ] = 32,
    indifference: Annotated[
        str,
        typer.Option(
            "--indifference",
            metavar="SHARE",
            help="Difference that does not matter: the comparison ends when all that are left are"
            " that close.",
        ),
    ] = "1%",
    batch: Annotated[
        int,
        typer.Option(
            "--batch",
            help="Trials that are proposed at once, and run side by side; the answer depends on"
            " it.",
        ),
    ] = 8,
    on: Engine = "threads",
    output: RunsDirectory = None,
    as_json: AsJson = False,
    plot: PlotDirectory = None,
    trusted: TrustedFiles = None,
    show_progress: ShowProgress = True,
) -> None:
    """Find the values of fields that are best for one figure or several.

    Tries points, learns from them where to try next, and compares the leaders with more
    replications. The answer comes with its interval, and with all points that cannot be
    distinguished from it. Ctrl-C shows the best so far.
    """
    from headrace import simulate
    from headrace.optimisation import Infeasible, prices
    from headrace.optimisation import optimise as search
    from headrace.sweeps import parse

    for directory in (plot, output):
        check_directory(directory)
    axes = [parse(text) for text in vary]
    entries = None
    if catalogue is not None:
        from headrace.design import load_catalogue

        entries = load_catalogue(catalogue).catalogue.prices()
    known = [prices.parse(text, entries) for text in price or []]
    if price_file is not None:
        known += prices.read(price_file, entries)
    scenario = simulate.load_with_sets(file, with_runs(sets, seed))
    partial: list[Optimum] = []
    try:
        bar = steps("optimise", "so far") if show_progress else nullcontext()
        with bar as on_progress:
            found = search(
                scenario,
                axes,
                maximise=maximise or [],
                minimise=minimise or [],
                subject_to=subject_to or [],
                prices=known,
                trials=trials,
                seconds=time,
                sampler=sampler,
                replications=replications,
                leaders=leaders,
                most_replications=most_replications,
                indifference=share("--indifference", indifference),
                batch=batch,
                on=on,
                directory=output,
                progress=on_progress or False,
                trust=trust(trusted),
                on_stop=partial.append,
            )
    except STOP_EXCEPTIONS as error:
        if partial:
            _print(partial[0], as_json)
            if output is not None:
                partial[0].save(output)
                error.add_note(f"finished runs are in {output}: the same command goes on")
        raise
    except Infeasible as error:
        if output is not None:
            error.optimum.save(output)
            error.add_note(f"all trials are in {output}")
        raise
    if output is not None:
        found.save(output)
    if plot is not None:
        from headrace.render import pictures
        from headrace.views.optimum import view

        pictures.save(plot, view(found))
    _print(found, as_json, {"trials and best.toml": output, "plots": plot})


def _print(found: "Optimum", as_json: bool, files: dict[str, Path | None] | None = None) -> None:
    if as_json:
        print(json.dumps(found.json(), allow_nan=False, indent=2))
        return
    from headrace.views.optimum import view

    show_view(view(found))
    show_files(files or {})
