"""`headrace bench mix`."""

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headrace.cli.bench import documents
from headrace.cli.bench.csv_output import Csv, check_csv
from headrace.cli.bench.live_view import live_view
from headrace.cli.bench.options import BelowDirectory, Calls, CallsOption, Space
from headrace.cli.bench.resume import Resume, Saver, earlier_result, output_of, print_resume_command
from headrace.cli.bench.sizes import counts, different_counts
from headrace.cli.options import (
    AsJson,
    KeepFiles,
    PlotDirectory,
    ResultFile,
    ShowProgress,
    time_option,
)
from headrace.cli.store_options import Labels, Stored, check_labels, save_to_store
from headrace.commands.fields import Sets
from headrace.files import check_apart, check_directory
from headrace.ranks import current, first_rank_only

if TYPE_CHECKING:
    from headrace.measure.benchmark import Progress


def mix(
    directory: BelowDirectory,
    workload: Annotated[
        str,
        typer.Option(
            "--workload",
            metavar="PRESET|FILE",
            help="Preset of a mix (see headrace presets), or a scenario with one mix.",
        ),
    ] = "mpfs-benchmark",
    rates: Annotated[
        str | None,
        typer.Option(
            "--rates",
            metavar="RATES",
            help="Loads in operations/s, such as 100,200,400; by default searched.",
        ),
    ] = None,
    clients: Annotated[
        str | None,
        typer.Option(
            "--clients",
            metavar="COUNTS",
            help="Instead of loads: numbers of processes without think time, such as 1,2,4.",
        ),
    ] = None,
    client_hosts: Annotated[
        str | None,
        typer.Option(
            "--client-hosts",
            metavar="COUNTS",
            help="Repeat the load sweep with these numbers of mpirun's hosts, such as"
            " 1,2,4; the other hosts are idle.",
        ),
    ] = None,
    start: Annotated[
        float,
        typer.Option(
            "--start", metavar="RATE", min=0.01, help="First load of the search, in operations/s."
        ),
    ] = 100.0,
    refinements: Annotated[
        int,
        typer.Option(
            "--refinements",
            min=0,
            help="Refinement steps between the last sustained load and the first that is not.",
        ),
    ] = 4,
    seconds: Annotated[float, time_option("--time", "Time measured at each load.")] = 10.0,
    warm_up: Annotated[
        float, time_option("--warm-up", "Warm-up before each measurement.", least=0.0)
    ] = 2.0,
    processes: Annotated[
        int | None,
        typer.Option(
            "--processes", min=1, help="Number of processes, each with one operation in flight."
        ),
    ] = None,
    response_limit: Annotated[
        float,
        time_option(
            "--response-limit",
            "Highest mean response time of a sustained load; a plain number is in ms.",
            least=0.0,
            unit=1e-3,
        ),
    ] = 0.02,
    repeats: Annotated[
        int,
        typer.Option("--repetitions", min=1, help="Number of repetitions of the whole load sweep."),
    ] = 1,
    sets: Sets = (),
    space: Space = None,
    as_json: AsJson = False,
    output: ResultFile = None,
    plot: PlotDirectory = None,
    csv: Csv = None,
    keep: KeepFiles = False,
    calls: CallsOption = Calls.POSIX,
    label: Labels = None,
    stored: Stored = True,
    resume: Resume = None,
    show_progress: ShowProgress = True,
) -> int:
    """Run a mix at increasing loads; find the highest sustained.

    A load is a number of requested operations a second. Operations arrive at random times (open
    loop). The knee of the curve of response times is reported, too. The benchmark makes a
    directory of its own in DIR, keeps all its files there, and removes only that directory.
    """
    from headrace import measure

    labels = check_labels(label or [], stored)
    resumed = earlier_result(resume)
    output, plot = output_of(output, resume), first_rank_only(plot)
    stored = stored and current().first
    if output is not None:
        check_apart({"--output": output}, {"the scenario": Path(workload)})
    check_directory(plot)
    check_csv(csv, as_json)
    mixed = measure.MixedLoad(
        workload, seconds=seconds, warm_up=warm_up, processes=processes, sets=sets
    )
    so_far = Saver(output, stored)
    output = so_far.output
    common: dict[str, Any] = {
        "calls": calls,
        "keep": keep,
        "watch": watching(show_progress),
        "resumed": resumed,
        "repeats": repeats,
        "so_far": so_far,
    }
    if not math.isfinite(start):
        raise ValueError(f"--start {start}: expected a number of operations a second such as 100")
    if clients is not None:
        if client_hosts is not None:
            raise ValueError("--client-hosts: expected no --clients beside it")
        if rates is not None or processes is not None:
            raise ValueError("--clients: expected no --rates and no --processes beside it")
        load_sweep = measure.client_sweep(
            mixed.with_processes, directory, counts(clients), warm_up=warm_up, **common
        )
    else:
        common |= {
            "rates": numbers("--rates", rates),
            "start": start,
            "refinements": refinements,
            "criteria": measure.Criteria(response_s=response_limit),
        }
        if client_hosts is not None:
            found = different_counts("--client-hosts", client_hosts)
            load_sweep = measure.client_host_sweep(mixed.at, directory, found, **common)
        else:
            load_sweep = measure.load_sweep(mixed.at, directory, **common)
    identifier = None
    if stored and load_sweep.document["steps"]:
        identifier = save_to_store(lambda: load_sweep.keep(labels=labels))
        if identifier is not None:
            so_far.discard()
    documents.print_result(load_sweep.document, as_json, identifier, csv, plot)
    if output is not None:
        # Last: what is printed is not lost with a disk that is full.
        load_sweep.save(output)
    stop = load_sweep.document["stop"]
    print_resume_command(stop, output, identifier)
    return documents.status(stop)


def numbers(option: str, text: str | None) -> list[float]:
    """Parse a list of positive numbers. Raises ValueError if it is malformed."""
    if text is None:
        return []
    try:
        given = [float(part) for part in text.split(",")]
    except ValueError:
        given = []
    if not given or not all(0 < number < float("inf") for number in given):
        raise ValueError(f'{option} "{text}": expected numbers above 0 such as 100,200,400')
    return given


def watching(shown: bool) -> Callable[[str], AbstractContextManager["Progress | None"]]:
    """Return a function that shows the figures of one step after another."""

    @contextmanager
    def watch(title: str) -> Iterator["Progress | None"]:
        with live_view(title, shown) as report:
            yield report

    return watch
