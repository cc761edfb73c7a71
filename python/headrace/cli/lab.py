"""`headrace lab`."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn
from typing import Annotated as A

import typer

from headrace.cli.screen import show_view
from headrace.commands.fields import ScenarioFile, Sets
from headrace.commands.parameters import Help, Word
from headrace.kinds import with_kind
from headrace.plain_text import plain_line

if TYPE_CHECKING:
    from headrace.lab import Lab

app = typer.Typer(
    no_args_is_help=True,
    help="Build a scenario as a testbed on this machine (root)."
    "\n\nA testbed has the scenario's hosts, links, disks and servers.",
)

LabFile = A[Path, Word(metavar="FILE", is_argument=True), Help("Scenario of the testbed.")]
Name = A[
    str | None,
    Word("--name", metavar="NAME"),
    Help("Name of the testbed; by default that of the scenario's file."),
]
AsJson = A[bool, Word("--json"), Help("Print the state as one JSON document.")]
PASSED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


@app.command()
def up(file: ScenarioFile, sets: Sets = (), name: Name = None, as_json: AsJson = False) -> None:
    """Set the testbed up, and report the fields it implements."""
    from headrace import lab
    from headrace.simulate.scenario import load_with_sets

    made = lab.up(lab.plan(load_with_sets(file, sets), sets), lab.name_of(file, name))
    _print(made, as_json)


@app.command()
def status(file: LabFile, name: Name = None, as_json: AsJson = False) -> int:
    """Report each host, link, disk and process.

    The exit status is 1 if one is missing.
    """
    from headrace import lab

    return 0 if _print(lab.existing(lab.name_of(file, name)), as_json) else 1


@app.command()
def down(file: LabFile, name: Name = None) -> None:
    """Remove the testbed and restore the machine.

    The command also works after an interrupted setup.
    """
    from headrace import lab

    called = lab.name_of(file, name)
    found = lab.find(called)
    if found is None:
        print(plain_line(f"{called}: there is no such testbed"))
        return
    lab.down(found)
    print(plain_line(f"{called}: removed"))


@app.command(context_settings=PASSED_ON)
def bench(
    context: typer.Context,
    file: LabFile,
    name: Name = None,
    clients: A[
        int | None,
        Word("--client-hosts"),
        Help("Use the first N clients of the testbed; by default all.", least=1),
    ] = None,
) -> None:
    """Run the workload on the testbed's clients.

    Runs headrace bench run FILE on all clients at once, with any of its options.
    """
    from headrace import lab

    made = lab.existing(lab.name_of(file, name))
    lines = lab.bench_commands(made, file, context.args, clients)
    if len(lines) == 1:
        _become(lines[0])
    raise SystemExit(lab.run_ranks(lines))


@app.command("exec", context_settings=PASSED_ON)
def execute(
    file: LabFile,
    host: A[
        str,
        Word(metavar="HOST", is_argument=True),
        Help("Name of the host in headrace lab status."),
    ],
    command: A[list[str], typer.Argument(metavar="COMMAND...")],
    name: Name = None,
) -> None:
    """Run a command on a host of the testbed.

    Usage: headrace lab exec FILE HOST -- COMMAND
    """
    from headrace import lab

    _become(lab.exec_command(lab.existing(lab.name_of(file, name)), host, command))


def _become(line: list[str]) -> NoReturn:
    """The command takes this process's place: whatever signals come are its own."""
    os.execvp(line[0], line)


def _print(made: "Lab", as_json: bool) -> bool:
    from headrace import lab

    status = lab.status(made)
    if as_json:
        print(json.dumps(with_kind("testbed", status), allow_nan=False, indent=2))
    else:
        from headrace.views.testbed import view

        show_view(view(status))
    return status.up
