"""All commands."""

import signal
import sys
from collections import UserDict
from importlib import import_module
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer
import typer.main
from typer.core import TyperGroup

from headrace import __version__, exit_codes, ranks
from headrace.cli.binding import with_options
from headrace.cli.former_options import Command
from headrace.exit_codes import report_failure, with_notes
from headrace.interruption import INTERRUPTED, EndedBySignal
from headrace.plain_text import plain

COMMANDS = {
    "run": "run_scenario.run",
    "demo": "demo.demo",
    "sweep": "sweep.sweep",
    "optimise": "optimise.optimise",
    "whatif": "whatif.whatif",
    "net": "net.app",
    "explain": "scenario_reference.explain",
    "schema": "scenario_reference.schema",
    "presets": "scenario_reference.presets",
    "baseline": "baseline.baseline",
    "calibrate": "calibrate.calibrate",
    "twin": "twin.twin",
    "validate": "validate.validate",
    "papers": "papers.papers",
    "bench": "bench.app",
    "profile": "profile.app",
    "lab": "lab.app",
    "design": "design.app",
    "trace": "trace.app",
    "results": "results.app",
    "serve": "serve.app",
    "agent": "agent.app",
    "doctor": "doctor.doctor",
}
"""Module below `headrace.cli` and name of each command or group, in the order of the help."""

CONTEXT_SETTINGS = {"papers": {"ignore_unknown_options": True}}
"""Settings of commands that pass options on."""

SEVERAL_RANKS = ("bench", "profile")
"""Commands that several ranks may run together."""


class Interrupted(BaseException):
    """Ctrl-C came during a command."""

    def __init__(self, error: KeyboardInterrupt) -> None:
        super().__init__()
        self.error = error


class _Commands(UserDict[str, Any]):
    """Commands by name, each imported when it is first used.

    The imports of all commands take longer than a small simulation.
    """

    def __getitem__(self, name: str) -> Any:
        command = super().__getitem__(name)
        if isinstance(command, str):
            command = self[name] = _imported(name, *command.rsplit(".", 1))
        return command


def _imported(name: str, module: str, attribute: str) -> Any:
    """Import a command or a group."""
    found = getattr(import_module(f"headrace.cli.{module}"), attribute)
    parent = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    if isinstance(found, typer.Typer):
        parent.add_typer(found, name=name)
    else:
        parent.command(name, context_settings=CONTEXT_SETTINGS.get(name))(found)
    _set_class(parent)
    return typer.main.get_group(parent).commands[name]


def _set_class(group: typer.Typer) -> None:
    """Make all commands below a group instances of `Command`, with options for their fields."""
    for command in group.registered_commands:
        command.cls = Command
        if command.callback is not None:
            command.callback = with_options(command.callback)
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            _set_class(inner.typer_instance)


class _Group(TyperGroup):
    """Imports commands late. Passes Ctrl-C on with its notes, which typer itself would replace by
    a status."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Commands(COMMANDS)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Interrupted(error) from None


app = typer.Typer(
    name="headrace",
    cls=_Group,
    help="A workbench for people who design, tune and study high-performance storage.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
    except Interrupted as error:
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
        if context is not None and error.message == context.get_help():
            # A group without a subcommand.
            print(plain(error.message), file=sys.stderr)
            return 2
        command = context.command_path if context is not None else "headrace"
        return report_failure(f"{command}: {error.format_message()} (see {command} --help)", 2)
    return status if isinstance(status, int) else 0
