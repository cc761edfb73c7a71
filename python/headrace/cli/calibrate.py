"""`headrace calibrate`."""

import json
from pathlib import Path
from typing import Annotated as A

from headrace.cli.bench.options import Space, Token
from headrace.cli.kernel_trace import Trace, TraceTo, check_tracing, save_trace
from headrace.cli.options import AsJson, PlotDirectory
from headrace.cli.screen import show_view, steps
from headrace.commands.fields import BelowDirectory, Passes, Rounds
from headrace.commands.parameters import Help, Word
from headrace.file_formats import FileFormat
from headrace.files import atomic_file, check_apart, check_directory, check_writable
from headrace.plain_text import plain_line


def calibrate(
    directory: BelowDirectory,
    output: A[
        Path | None,
        Word(short="-o"),
        Help("Save the machine as a file that scenarios name as their system."),
    ] = None,
    rounds: Rounds = 5,
    passes: Passes = None,
    server: A[
        tuple[str, ...],
        Word(metavar="HOST:PORT"),
        Help(
            "A server of the file system under DIR, where headrace bench net answer listens; can"
            " be repeated."
        ),
    ] = (),
    token: Token = None,
    busy: A[
        bool, Help("Calibrate although other programs use the processors, and repeat no round.")
    ] = False,
    trace: Trace = False,
    trace_to: TraceTo = None,
    space: Space = None,
    as_json: AsJson = False,
    plot: PlotDirectory = None,
) -> None:
    """Calibrate a machine and a file system for simulations.

    The file system is that of DIR. Settings are read from the kernel; parameters are measured by
    small benchmarks. Scenarios name the file as their `system`. A machine whose processors are busy
    with other programs is refused, and a busy round is repeated. Needs write access to DIR, and
    root for --trace. With --server, it measures the network to the servers of a file system, and
    their service times.
    """
    from headrace import calibrate as calibration

    check_writable(output, FileFormat.TOML)
    if bool(server) != (token is not None):
        raise ValueError("expected both --server and --token, or neither")
    if server and passes is not None:
        raise ValueError("--server: servers are measured once a round: expected no --passes")
    if server and (trace or trace_to is not None or plot is not None):
        raise ValueError(
            "--server: the servers' kernels cannot be traced from here: expected no --trace"
        )
    check_apart({"--output": output, "--trace-to": trace_to, "--plot": plot}, {})
    trace = check_tracing(directory, trace or plot is not None, trace_to)
    check_directory(plot)
    found: calibration.Calibration | calibration.TracedCalibration
    with steps("calibrate") as told:
        if server and token is not None:
            found = calibration.calibrate_servers(
                directory, server, token, rounds=rounds, on_progress=told
            )
        else:
            found = calibration.calibrate(
                directory,
                rounds=rounds,
                passes=passes or calibration.PASSES,
                busy=busy,
                on_progress=told,
            )
    if trace:
        with steps("trace") as told:
            found = calibration.trace_calibration(found, directory, on_progress=told)
        save_trace(found.recordings, trace_to)
        if plot is not None:
            from headrace.render import pictures
            from headrace.views.calibration import kernel_trace

            drawn = calibration.timeline(found)
            name = found.calibration.directory
            pictures.save(plot, kernel_trace(name, drawn.requests, drawn.commits, drawn.write_back))
    if as_json:
        print(json.dumps(found.json(), allow_nan=False, indent=2))
    else:
        from headrace.views.calibration import view

        show_view(view(found.json()))
    if output is not None:
        with atomic_file(output) as partial:
            partial.write_text(found.toml, encoding="utf-8")
        if not as_json:
            print(plain_line(f"machine: {output}"))
    if plot is not None and not as_json:
        print(plain_line(f"plots: {plot}"))
