"""`headrace twin`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headrace.cli.bench.options import Space, directory_to_measure
from headrace.cli.calibrate import Passes, Rounds
from headrace.cli.kernel_trace import Trace, TraceTo, check_tracing, save_trace
from headrace.cli.options import AsJson, PlotDirectory, ResultFile
from headrace.cli.screen import steps
from headrace.cli.validate import print_result
from headrace.commands.fields import Sets
from headrace.file_formats import FileFormat
from headrace.files import check_apart, check_directory, check_writable, save_json
from headrace.quantities import duration

if TYPE_CHECKING:
    from headrace.validate import Predicted


def twin(
    context: typer.Context,
    directory: Annotated[
        Path | None,
        typer.Argument(
            metavar="DIR",
            help="Directory on the file system to measure; not with --again.",
            parser=directory_to_measure,
            show_default=False,
        ),
    ] = None,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- COMMAND",
            help="Program to predict and measure instead of the benchmarks, and its arguments.",
            show_default=False,
        ),
    ] = None,
    machine: Annotated[
        Path | None,
        typer.Option(
            "--machine", help="File of a calibrated machine; without it, DIR is calibrated first."
        ),
    ] = None,
    settings_now: Annotated[
        bool,
        typer.Option(
            "--settings-now",
            help="With --machine: take dirty limits, read-ahead, scheduler, memory and device"
            " limits from this machine as it is now, and measured parameters from FILE.",
        ),
    ] = False,
    sets: Sets = (),
    again: Annotated[
        Path | None,
        typer.Option(
            "--again",
            metavar="PATH",
            help="Repeat fit and predictions from the measurements in FILE (from twin -o),"
            " without measuring.",
        ),
    ] = None,
    prepare: Annotated[
        str | None,
        typer.Option(
            "--prepare",
            metavar="COMMAND",
            help="With a program: shell command that is run in its working directory before each"
            " run.",
        ),
    ] = None,
    cold: Annotated[
        bool,
        typer.Option(
            "--cold",
            help="With a program: evict the files of its working directory from the page cache"
            " before each run.",
        ),
    ] = False,
    rounds: Rounds = 5,
    passes: Passes = None,
    space: Space = None,
    as_json: AsJson = False,
    output: ResultFile = None,
    trace: Trace = False,
    trace_to: TraceTo = None,
    plot: PlotDirectory = None,
) -> None:
    """Calibrate a machine, predict benchmarks and measure them.

    A twin is a calibrated model of this machine and file system. The cases that it predicts have
    other block sizes, patterns and numbers of processes than the calibration. Files are made in a
    directory of its own in DIR, which is removed at the end. DIR needs 1 GiB of free space. A round
    takes 1 to 7 minutes, depending on the disk, and writes several GiB.

    With a program, headrace twin DIR -- COMMAND, the program is captured once by strace, predicted,
    and then measured --repetitions times. Each run has a fresh working directory in DIR.
    """
    from headrace import validate
    from headrace.calibrate import PASSES

    if again is not None:
        source = context.get_parameter_source("rounds")
        others = {
            "DIR": directory,
            "COMMAND": command,
            "--prepare": prepare,
            "--cold": cold,
            "--machine": machine,
            "--settings-now": settings_now,
            "--set": sets,
            "--repetitions": source is not None and source.name == "COMMANDLINE",
            "--passes": passes,
            "--trace": trace or trace_to,
        }
        for name, given in others.items():
            if given:
                raise typer.BadParameter("--again does not measure: leave it out", param_hint=name)
    elif directory is None:
        raise typer.BadParameter("it is missing, as is --again FILE", param_hint="DIR")
    if settings_now and machine is None:
        raise typer.BadParameter("it needs --machine FILE", param_hint="--settings-now")
    if sets and machine is None:
        raise typer.BadParameter("it needs --machine FILE", param_hint="--set")
    for name, given in {"--prepare": prepare, "--cold": cold}.items():
        if given and not command:
            raise typer.BadParameter("it needs a program behind --", param_hint=name)
    if command and (trace or trace_to is not None):
        raise typer.BadParameter("a program is not traced in the kernel", param_hint="--trace")
    check_apart(
        {"--output": output, "--trace-to": trace_to, "--plot": plot},
        {"the machine's file": machine, "--again": again},
    )
    check_writable(output, FileFormat.JSON)
    check_directory(plot)
    if directory is None:
        assert again is not None
        with steps("twin") as told:
            document = validate.repredict(again, on_progress=told).json()
        keep(document, as_json, plot, output)
        return
    if command:
        with steps("twin") as told:
            of_program = validate.twin_of_program(
                directory,
                command,
                machine,
                prepare=prepare,
                cold=cold,
                settings_now=settings_now,
                sets=sets,
                rounds=rounds,
                passes=passes or PASSES,
                on_prediction=print_prediction,
                on_progress=told,
            )
        keep(of_program.json(), as_json, plot, output)
        return
    trace = check_tracing(directory, trace, trace_to)
    with steps("twin") as told:
        found = validate.twin(
            directory,
            machine,
            settings_now=settings_now,
            sets=sets,
            rounds=rounds,
            passes=passes or PASSES,
            on_progress=told,
        )
    document = found.json()
    if trace:
        with steps("trace") as told:
            traced = validate.trace_twin(found, directory, on_progress=told)
        document = traced.json()
        save_trace(traced.recordings, trace_to)
    keep(document, as_json, plot, output)


def print_prediction(predicted: "Predicted") -> None:
    """Print a prediction on standard error, before the program is measured."""
    interval = ""
    if predicted.interval is not None:
        least, most = map(duration, predicted.interval)
        interval = f" (90 % interval {least} to {most})"
    print(f"predicted: {duration(predicted.seconds)}{interval}", file=sys.stderr, flush=True)


def keep(document: dict[str, Any], as_json: bool, plot: Path | None, output: Path | None) -> None:
    """Print the document, and write the outputs that the options name."""
    print_result(document, as_json, plot)
    if output is not None:
        save_json(output, document)
