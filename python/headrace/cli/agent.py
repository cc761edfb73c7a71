"""`headrace agent`."""

from pathlib import Path
from typing import Annotated as A
from typing import TypeAlias

import typer

from headrace.cli.binding import StartGroup
from headrace.commands.fields import ListenAddress, ListenPort
from headrace.commands.parameters import Help, Word
from headrace.commands.values import span

app = typer.Typer(
    cls=StartGroup,
    help=(
        "Serve samples of this host to headrace serve. headrace agent is headrace agent start: see"
        " headrace agent start --help."
    ),
    rich_markup_mode=None,
)

HostDirectory: TypeAlias = A[
    str, Word("--directory", metavar="DIR"), Help("Directory on the host.")
]
SshCommand: TypeAlias = A[
    str, Word("--ssh", metavar="COMMAND"), Help("The ssh command with its options.")
]
Interval: TypeAlias = A[
    float,
    span(0.1, most=60.0),
    Word("--interval"),
    Help("Time between two samples, 0.1 s to 60 s."),
]
HOST_DIRECTORY = "~/.headrace-agent"


@app.callback()
def agent() -> None:
    """Serve samples of this host to headrace serve."""


@app.command(StartGroup.default)
def start(
    address: ListenAddress = "127.0.0.1",
    port: ListenPort = 8181,
    interval: Interval = 1.0,
    token_file: A[
        Path | None,
        Help(
            "File with the token of clients; created if missing. Needed unless the address is a"
            " loopback address."
        ),
    ] = None,
) -> None:
    """Serve samples of this host until Ctrl-C or SIGTERM."""
    from headrace.monitors.agent import serve

    serve(address, port, interval, token_file)


@app.command("install")
def install(
    host: A[
        str,
        Word(metavar="HOST", is_argument=True),
        Help("Host as ssh knows it, such as root@node1."),
    ],
    python: A[str, Word(metavar="PROGRAM"), Help("Python 3.11 or later of the host.")] = "python3",
    directory: HostDirectory = HOST_DIRECTORY,
    wheel: A[Path | None, Help("Wheel of Headrace; by default that in dist/.")] = None,
    address: ListenAddress = "0.0.0.0",
    port: A[
        int, Word(metavar="PORT"), Help("Port that the agent listens on.", least=1, most=65535)
    ] = 8181,
    interval: Interval = 1.0,
    token_file: A[Path | None, Help("File for its token; by default HOST.token.")] = None,
    ssh: SshCommand = "ssh",
) -> None:
    """Install the agent on a host over ssh, start it, and print the option for headrace serve."""
    from headrace.monitors.installation import Installation, find_wheel

    installation = Installation(host, ssh, directory)
    path = token_file or Path(f"{installation.short_name}.token")
    installed = installation.install(
        wheel or find_wheel(), python, address, port, interval, path, on_step=typer.echo
    )
    print(f"headrace serve --agent {installed.url}={installed.token_file}")


@app.command("remove")
def remove(
    host: A[str, Word(metavar="HOST", is_argument=True), Help("Host as ssh knows it.")],
    directory: HostDirectory = HOST_DIRECTORY,
    ssh: SshCommand = "ssh",
) -> None:
    """Stop the agent on a host and remove it."""
    from headrace.monitors.installation import Installation

    was_there = Installation(host, ssh, directory).remove()
    print(f"{host}: " + ("removed" if was_there else "no agent was there"))
