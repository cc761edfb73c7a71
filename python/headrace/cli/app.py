"""All commands, and how they end: 0 done, 1 failed, 2 the input was wrong, 130 interrupted."""

import errno
import signal
import sys
import traceback
from typing import Annotated

import typer

from headrace import RunError, __version__
from headrace.cli import explain, net, papers, presets, run_scenario, schema, trace
from headrace.report.plain import plain

INTERRUPTED = 130

app = typer.Typer(
    name="headrace",
    help="A workbench for people who design, tune and study high-performance storage.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("run")(run_scenario.run)
app.command("net")(net.net)
app.command("explain")(explain.explain)
app.command("schema")(schema.schema)
app.command("presets")(presets.presets)
app.add_typer(trace.app, name="trace")
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
    if context.invoked_subcommand is None:
        print(context.get_help())
        raise typer.Exit


def run(arguments: list[str]) -> int:
    """Runs one command; gives the exit status."""
    # So that temporary files go when somebody ends the process.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        status = app(arguments, prog_name="headrace", standalone_mode=False)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "headrace"
        return _failed(f"{command}: {error.format_message()} (see {command} --help)", 2)
    except RunError as error:
        return _failed(str(error), 1)
    except ValueError as error:
        return _failed(str(error), 2)
    except OSError as error:
        return _of_system(error)
    except MemoryError:
        return _failed("there is not enough memory", 1)
    except Exception as error:
        return _failed(f"this is an error of Headrace's, please report it: {_where(error)}", 1)
    if status == INTERRUPTED:
        raise KeyboardInterrupt
    return status if isinstance(status, int) else 0


def _failed(message: str, status: int) -> int:
    """One line, whatever the message."""
    print(plain(" ".join(message.split())), file=sys.stderr)
    return status


def _where(error: Exception) -> str:
    """An error in one line, with the place in the source that raised it."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({place.filename}:{place.lineno})"


def _of_system(error: OSError) -> int:
    if error.errno == errno.EPIPE:
        return 1
    if error.errno is None:
        return _failed(str(error), 2)
    # Without a name it is the output; what is full was right.
    wrong = error.filename is not None and error.errno not in (
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EIO,
    )
    name = "cannot write" if error.filename is None else str(error.filename)
    reason = error.strerror or str(error)
    return _failed(f"{name}: {reason[:1].lower()}{reason[1:]}", 2 if wrong else 1)
