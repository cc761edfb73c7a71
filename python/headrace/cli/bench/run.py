"""`headrace bench run`."""

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.bench import documents
from headrace.cli.bench.live import live_view
from headrace.cli.keeping import Labels, Stored, kept, labels_to_keep
from headrace.cli.options import ScenarioFile, Sets
from headrace.cli.tracing import may_trace
from headrace.files import check_apart, check_directory, check_writable
from headrace.ranks import current, of_first
from headrace.report.plain import plain_line


def directory_to_measure(text: str) -> Path:
    """A directory as the command line has it."""
    # A variable that is not set is no directory, and least of all the one one happens to be in.
    if not text:
        raise typer.BadParameter("expected a directory; . is the current one")
    return Path(text)


BelowDirectory = Annotated[
    Path,
    typer.Argument(
        metavar="DIR",
        help="A directory on the file system to be measured.",
        parser=directory_to_measure,
    ),
]


class Calls(StrEnum):
    """How calls are made."""

    POSIX = "posix"
    IO_URING = "io-uring"
    NULL = "null"


CallsOption = Annotated[
    Calls,
    typer.Option(
        "--calls",
        help="By system calls, through io_uring, or not at all: what the engine itself costs.",
    ),
]


Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="DIR", help="Write plots to a directory.")
]


def run(
    file: ScenarioFile,
    directory: BelowDirectory,
    sets: Sets = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as one JSON document.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Save the result as JSON."),
    ] = None,
    plot: Plot = None,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, help="How often it is measured, with fresh files.")
    ] = 1,
    label: Labels = None,
    stored: Stored = True,
    keep: Annotated[bool, typer.Option("--keep", help="Leave the files where they are.")] = False,
    calls: CallsOption = Calls.POSIX,
    trace: Annotated[
        bool,
        typer.Option(
            "--trace",
            help="Record what the kernel does meanwhile, for headrace validate; needs root.",
        ),
    ] = False,
    show_progress: Annotated[
        bool, typer.Option("--progress/--no-progress", help="Show the figures live on a terminal.")
    ] = True,
) -> int:
    """Carry the workloads of a scenario out on a real file system.

    What the scenario says of a system is not used: the same file can be simulated. All files
    are made in a directory of the benchmark's own below DIR, which is removed at the end.
    The store keeps the result.
    """
    from headrace import measure

    labels = labels_to_keep(label or [], stored)
    output, plot = of_first(output), of_first(plot)
    stored = stored and current().first
    if output is not None:
        check_writable(output)
        check_apart({"--output": output}, {"the scenario": file})
    if plot is not None:
        check_directory(plot)
    from headrace.measure.benchmark import ended_early
    from headrace.measure.workload import load_with_sets

    loaded = load_with_sets(file, sets or [])
    if trace and (repeats > 1 or current().size > 1):
        raise typer.BadParameter(
            "it is of one repetition on one host: expected no --repeats, and no mpirun",
            param_hint="--trace",
        )
    may_trace(directory, trace, None)
    started = datetime.now(UTC)
    with live_view(loaded.name, show_progress) as tell:

        def measured() -> measure.Measurement:
            return measure.repeat(loaded, directory, repeats, calls=calls, keep=keep, progress=tell)

        measurement = measure.traced(measured, directory)[0] if trace else measured()
    measurement.note_sets(sets or [])
    identifier = kept(lambda: measurement.keep(started=started, labels=labels)) if stored else None
    from headrace.report import measured_tables

    documents.tell(measurement.document, as_json, measured_tables.measurement, identifier)
    if plot is not None:
        from headrace.report import plots
        from headrace.report.figures import percentile

        plots.save_measurement(
            plot,
            measurement.name,
            measurement.series,
            measurement.percentiles(percentile.QUANTILES),
            measurement.counters,
        )
        if not as_json:
            print(plain_line(f"plots: {plot}"))
    if output is not None:
        # Last: what is printed is not lost with a disk that is full.
        measurement.save(output)
    return documents.status(ended_early(measurement.document) or measurement.document["stop"])
