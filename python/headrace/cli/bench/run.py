"""`headrace bench run`."""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated as A

import typer

from headrace._core import TraceError
from headrace.cli.bench import documents
from headrace.cli.bench.documents import Csv, check_csv
from headrace.cli.bench.live_view import live_view
from headrace.cli.bench.options import Calls, CallsOption, RepetitionsOfScenario, Space
from headrace.cli.bench.quick import run_job_file
from headrace.cli.kernel_trace import check_tracing
from headrace.cli.options import AsJson, KeepFiles, PlotDirectory, ResultFile, ShowProgress
from headrace.cli.store_options import Labels, Stored, check_labels, save_to_store
from headrace.commands.fields import BelowDirectory, ScenarioFile, Sets
from headrace.commands.parameters import Help, Word
from headrace.commands.values import span
from headrace.fields import to_document
from headrace.file_formats import FileFormat
from headrace.files import check_apart, check_directory, check_writable
from headrace.jobs.fio import is_job_file
from headrace.ranks import current, first_rank_only


def run(
    file: ScenarioFile,
    directory: BelowDirectory,
    sets: Sets = (),
    space: Space = None,
    as_json: AsJson = False,
    output: ResultFile = None,
    plot: PlotDirectory = None,
    csv: Csv = None,
    seconds: A[
        float | None, span(), Word("--time"), Help("Time to measure, in place of run.stop.time.")
    ] = None,
    repeats: RepetitionsOfScenario = None,
    label: Labels = (),
    stored: Stored = True,
    keep: KeepFiles = False,
    calls: CallsOption = Calls.POSIX,
    trace: A[bool, Help("Trace the kernel, for headrace validate; needs root.")] = False,
    show_progress: ShowProgress = True,
) -> int:
    """Run the workloads of a scenario on a real file system.

    The scenario's system is ignored, so the same file can be simulated. All files are made in a
    directory of the benchmark's own below DIR, which is removed at the end. Saves the result in
    the store. FILE may also be a fio job file (.fio).
    """
    if is_job_file(file):
        given = {"--set": bool(sets), "--repetitions": repeats is not None, "--keep": keep}
        given |= {"--calls": calls != Calls.POSIX, "--trace": trace}
        if without := [name for name, there in given.items() if there]:
            raise ValueError(f"{without[0]}: {file} is a fio job file: leave the option out")
        if current().size > 1:
            raise ValueError(
                f"{file}: fio job files run on one host only: start headrace without mpirun"
            )
        return run_job_file(
            file,
            directory,
            seconds,
            as_json=as_json,
            csv=csv,
            output=output,
            plot=plot,
            label=label,
            stored=stored,
            show_progress=show_progress,
        )
    return measure_and_print(
        file,
        directory,
        sets=[*sets, *([] if seconds is None else [f"run.stop.time={seconds} s"])],
        repeats=repeats,
        as_json=as_json,
        csv=csv,
        output=output,
        plot=plot,
        label=label,
        stored=stored,
        keep=keep,
        calls=calls,
        trace=trace,
        show_progress=show_progress,
    )


def measure_and_print(
    scenario: Path | str,
    directory: Path,
    *,
    sets: Sequence[str] = (),
    repeats: int | None = None,
    as_json: bool = False,
    csv: Path | None = None,
    output: Path | None = None,
    plot: Path | None = None,
    label: Sequence[str] = (),
    stored: bool = True,
    keep: bool = False,
    calls: str = Calls.POSIX,
    trace: bool = False,
    show_progress: bool = True,
) -> int:
    """Run a scenario, given by its file or as text of several lines, and print the result.

    Returns the exit status. Parameters are the options of `headrace bench run`.
    """
    from headrace import measure

    labels = check_labels(label, stored)
    output, plot = first_rank_only(output), first_rank_only(plot)
    stored = stored and current().first
    if output is not None:
        check_writable(output, FileFormat.JSON)
        inputs = {"the scenario": scenario} if isinstance(scenario, Path) else {}
        check_apart({"--output": output}, inputs)
    check_directory(plot)
    from headrace.measure.workload import load_with_sets

    check_csv(csv, as_json)
    loaded = load_with_sets(scenario, sets)
    if trace and ((repeats or loaded.replications) > 1 or current().size > 1):
        raise typer.BadParameter(
            "it measures one repetition on one host: expected"
            " no --repetitions, no run.replications and no mpirun",
            param_hint="--trace",
        )
    check_tracing(directory, trace, None)
    if calls != Calls.NULL:
        times = repeats or loaded.replications
        # A trace in Parquet or of Darshan is converted when it is replayed; what is wrong with one
        # is reported then.
        with contextlib.suppress(TraceError):
            measure.space.state_need(loaded.name, [loaded], directory, times)
    with live_view(loaded.name, show_progress) as report:

        def measured() -> measure.Measurement:
            return measure.repeat(
                loaded, directory, repeats, calls=calls, keep=keep, progress=report
            )

        measurement = (
            measure.measure_with_kernel_trace(measured, directory)[0] if trace else measured()
        )
    measurement.note_sets(sets)
    identifier = save_to_store(lambda: measurement.keep(labels=labels)) if stored else None
    documents.print_result(
        measurement.document, as_json, identifier, csv, plot, measurement.tables if plot else {}
    )
    if output is not None:
        # Last: what is printed is not lost with a disk that is full.
        measurement.save(output)
    stop = measurement.report.early or measurement.report.stop
    return documents.status(to_document(stop), measurement.stop_signal)
