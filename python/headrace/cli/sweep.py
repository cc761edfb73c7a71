"""`headrace sweep`."""

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headrace.cli.options import ScenarioFile, Sets
from headrace.cli.screen import show, steps
from headrace.cli.trust import TrustedFiles, trust
from headrace.files import check_directory
from headrace.interruption import STOP_EXCEPTIONS
from headrace.report.plain_text import plain_line

if TYPE_CHECKING:
    from headrace.sweep import Precision, Sweep


def sweep(
    file: ScenarioFile,
    vary: Annotated[
        list[str],
        typer.Option(
            "--vary",
            metavar="PATH=VALUES",
            help="Vary a field: path=a,b,c or path=low..high:5 or path=low..high:log5. Linked"
            " fields: path,path=(a,b),(c,d). Can be repeated.",
        ),
    ],
    sets: Sets = None,
    design: Annotated[
        str,
        typer.Option("--design", metavar="NAME", help="Design: full, latin-hypercube or sobol."),
    ] = "full",
    samples: Annotated[
        int | None,
        typer.Option("--samples", metavar="N", help="Points of a sampled design."),
    ] = None,
    replications: Annotated[
        int | None,
        typer.Option(
            "--replications",
            metavar="N",
            help="Runs of each point, with the same seeds at every point. By default"
            " run.replications.",
        ),
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(
            "--precision",
            metavar="PERCENT",
            help="Add replications to each point until the half width of the 95 % interval is at"
            " most this part of the mean, such as 2%.",
        ),
    ] = None,
    figure: Annotated[
        str,
        typer.Option(
            "--figure",
            metavar="NAME",
            help="Figure for --precision and the plot: throughput,"
            " operations, latency, latency_p50, latency_p95, latency_p99 or latency_max.",
        ),
    ] = "throughput",
    on: Annotated[
        str,
        typer.Option(
            "--on",
            metavar="ENGINE",
            help="Where the runs take place: threads or threads:N; dask or dask:N (processes),"
            " dask:tcp://HOST:PORT or dask:FILE.json (a running scheduler);"
            " slurm:queue=NAME,jobs=N,... or pbs:... (batch jobs).",
        ),
    ] = "threads",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Keep finished runs in a directory, so that the same command goes on after an"
            " interruption, and write the tables there (Parquet).",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print all points as one JSON document.")
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
    """Run a scenario at every combination of values, or at samples of ranges.

    A point that fails is reported and does not end the sweep.
    """
    from headrace import RunError, simulate
    from headrace.sweep import parse
    from headrace.sweep import sweep as run_sweep

    for directory in (plot, output):
        if directory is not None:
            check_directory(directory)
    axes = [parse(text) for text in vary]
    until = _precision(precision, figure)
    scenario = simulate.load_with_sets(file, sets or [])
    with steps("sweep") if show_progress else nullcontext() as on_progress:

        def tell(done: int, known: int) -> None:
            if on_progress is not None:
                on_progress(done, known, "")

        try:
            found = run_sweep(
                scenario,
                axes,
                design_name=design,
                samples=samples,
                replications=replications,
                precision=until,
                on=on,
                directory=output,
                progress=tell,
                trust=trust(trusted),
            )
        except (*STOP_EXCEPTIONS, RunError) as error:
            if output is not None:
                error.add_note(f"finished runs are in {output}: the same command goes on")
            if isinstance(error, KeyboardInterrupt):
                # Its notes do not reach the end of the command.
                print(plain_line("; ".join(getattr(error, "__notes__", ()))), file=sys.stderr)
            raise
    if output is not None:
        _save(found, output)
    if plot is not None:
        from headrace.report import plots

        plots.save_sweep(plot, found.name, found.paths, found.points, figure)
    if as_json:
        print(json.dumps(found.json(), allow_nan=False, indent=2))
        return
    from headrace.report.sweep_tables import sweep_table

    show(sweep_table(found))
    for what, path in (("tables", output), ("plots", plot)):
        if path is not None:
            print(plain_line(f"{what}: {path}"))


def _precision(text: str | None, figure: str) -> "Precision | None":
    from headrace.sweep import FIGURES, Precision

    if figure not in FIGURES:
        raise ValueError(f"--figure {figure}: expected {', '.join(FIGURES)}")
    if text is None:
        return None
    number = text.strip().removesuffix("%").strip()
    try:
        part = float(number) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        raise ValueError(f'--precision "{text}": expected a part such as 2%') from None
    return Precision(part, figure)


def _save(found: "Sweep", directory: Path) -> None:
    from headrace.files import atomic_file, save_json
    from headrace.parquet import as_parquet

    for name, table in (("runs", found.frame), ("points", found.points)):
        with atomic_file(directory / f"{name}.parquet") as partial:
            partial.write_bytes(as_parquet(table))
    save_json(directory / "sweep.json", found.json())
