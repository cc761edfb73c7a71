"""`headrace twin`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from headrace.cli.bench.options import Space
from headrace.cli.binding import command
from headrace.cli.kernel_trace import Trace, TraceTo, check_tracing, save_trace
from headrace.cli.options import AsJson, PlotDirectory, ResultFile
from headrace.cli.screen import steps
from headrace.cli.validate import print_result
from headrace.commands.measurements import TwinRequest
from headrace.file_formats import FileFormat
from headrace.files import check_apart, check_directory, check_writable, save_json
from headrace.quantities import duration

if TYPE_CHECKING:
    from headrace.validate import Predicted


def _twin(
    request: TwinRequest,
    context: typer.Context,
    space: Space = None,
    as_json: AsJson = False,
    output: ResultFile = None,
    trace: Trace = False,
    trace_to: TraceTo = None,
    plot: PlotDirectory = None,
) -> None:
    from headrace import validate

    source = context.get_parameter_source("rounds")
    has_rounds = source is not None and source.name == "COMMANDLINE"
    _check(request, has_rounds, trace or trace_to is not None)
    check_apart(
        {"--output": output, "--trace-to": trace_to, "--plot": plot},
        {"the machine's file": request.machine, "--again": request.again},
    )
    check_writable(output, FileFormat.JSON)
    check_directory(plot)
    directory = request.directory
    trace = directory is not None and check_tracing(directory, trace, trace_to)
    with steps("twin") as on_progress:
        twin = request.answer(on_progress, print_prediction)
    document = twin.json()
    if trace and directory is not None:
        with steps("trace") as on_progress:
            traced = validate.trace_twin(twin, directory, on_progress=on_progress)
        document = traced.json()
        save_trace(traced.recordings, trace_to)
    keep(document, as_json, plot, output)


def _check(request: TwinRequest, has_rounds: bool, is_traced: bool) -> None:
    """Raise BadParameter if options contradict each other."""
    machine = request.machine
    of_program: dict[str, object] = {"--prepare": request.prepare, "--cold": request.cold}
    if request.again is not None:
        others: dict[str, object] = {
            "DIR": request.directory,
            "COMMAND": request.command,
            **of_program,
            "--machine": machine,
            "--settings-now": request.settings_now,
            "--set": request.sets,
            "--repetitions": has_rounds,
            "--passes": request.passes,
            "--trace": is_traced,
        }
        for name in filter(others.get, others):
            raise typer.BadParameter("--again does not measure: leave it out", param_hint=name)
    elif request.directory is None:
        raise typer.BadParameter("it is missing, as is --again FILE", param_hint="DIR")
    settings: dict[str, object] = {"--settings-now": request.settings_now, "--set": request.sets}
    for name in filter(settings.get, settings):
        if machine is None:
            raise typer.BadParameter("it needs --machine FILE", param_hint=name)
    for name in filter(of_program.get, of_program):
        if not request.command:
            raise typer.BadParameter("it needs a program behind --", param_hint=name)
    if request.command and is_traced:
        raise typer.BadParameter("a program is not traced in the kernel", param_hint="--trace")


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


twin = command(TwinRequest, _twin)
