"""All commands."""

import signal
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from headrace import __version__, exit_codes, ranks
from headrace.cli import (
    agent,
    baseline,
    bench,
    calibrate,
    demo,
    design,
    explain,
    lab,
    net,
    optimise,
    papers,
    presets,
    profile,
    results,
    run_scenario,
    schema,
    serve,
    sweep,
    trace,
    trace_findings,
    trace_workload,
    twin,
    validate,
    whatif,
)
from headrace.exit_codes import report_failure, with_notes
from headrace.interruption import INTERRUPTED, EndedBySignal

SEVERAL_RANKS = ("bench", "profile")
"""Commands that several ranks may run together."""


class _Interrupted(BaseException):
    """Ctrl-C came during a command."""

    def __init__(self, error: KeyboardInterrupt) -> None:
        super().__init__()
        self.error = error


class _Group(TyperGroup):
    """Passes Ctrl-C on with its notes: typer itself would replace it by a status."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise _Interrupted(error) from None


app = typer.Typer(
    name="headrace",
    cls=_Group,
    help="A workbench for people who design, tune and study high-performance storage.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("run")(run_scenario.run)
app.command("demo")(demo.demo)
app.command("sweep")(sweep.sweep)
app.command("optimise")(optimise.optimise)
app.command("whatif")(whatif.whatif)
app.command("net")(net.net)
app.command("explain")(explain.explain)
app.command("schema")(schema.schema)
app.command("presets")(presets.presets)
app.add_typer(bench.app, name="bench")
app.command("baseline")(baseline.baseline)
app.add_typer(profile.app, name="profile")
app.command("calibrate")(calibrate.calibrate)
app.command("twin")(twin.twin)
app.command("validate")(validate.validate)
app.add_typer(lab.app, name="lab")
app.add_typer(design.app, name="design")
trace.app.command("findings")(trace_findings.findings)
trace.app.command("workload")(trace_workload.workload)
app.add_typer(trace.app, name="trace")
app.add_typer(results.app, name="results")
app.add_typer(serve.app, name="serve")
app.add_typer(agent.app, name="agent")
app.command("papers", context_settings={"ignore_unknown_options": True})(papers.papers)


@app.callback()
def headrace(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    """A workbench for people who design, tune and study high-performance storage."""
    if version:
        print(f"headrace {__version__}")
        raise typer.Exit
    command = context.invoked_subcommand
    if command is None:
        print(context.get_help())
        raise typer.Exit
    if command not in SEVERAL_RANKS and ranks.count() > 1:
        raise ValueError(
            f"headrace {command} runs on one rank only: start it without mpirun or srun"
        )


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    raise EndedBySignal(number)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit status."""
    # Remove temporary and benchmark files when the process is terminated or its terminal
    # closes; nohup ignores the latter.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)
    status, interruption = 1, KeyboardInterrupt()
    try:
        status = exit_codes.run(lambda: _run(arguments))
    except _Interrupted as error:
        status, interruption = INTERRUPTED, error.error
    except EndedBySignal as error:
        status = report_failure(with_notes(error), error.status)
    finally:
        status = ranks.leave(status)
    if status == INTERRUPTED:
        raise interruption
    return status


def _run(arguments: list[str]) -> int:
    try:
        status = app(arguments, prog_name="headrace", standalone_mode=False)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "headrace"
        return report_failure(f"{command}: {error.format_message()} (see {command} --help)", 2)
    return status if isinstance(status, int) else 0
