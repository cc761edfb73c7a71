"""`headrace agent`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from headrace.cli.default_command import DefaultCommandGroup


class AgentGroup(DefaultCommandGroup):
    """`agent` is `agent start`."""

    default = "start"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command also where there is no argument."""
        return super().parse_args(ctx, args or [self.default])


app = typer.Typer(
    cls=AgentGroup,
    help=(
        "Serve samples of this host to headrace serve. headrace agent is headrace agent start: see"
        " headrace agent start --help."
    ),
    rich_markup_mode=None,
)


@app.callback()
def agent() -> None:
    """Serve samples of this host to headrace serve."""


@app.command(AgentGroup.default)
def start(
    address: Annotated[
        str, typer.Option("--address", metavar="ADDRESS", help="Address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port to listen on.")
    ] = 8181,
    interval: Annotated[
        str, typer.Option("--interval", metavar="TIME", help="Time between samples, 0.1 s to 60 s.")
    ] = "1 s",
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="File with the token of clients; created if missing. Needed unless the address is"
            " a loopback address.",
        ),
    ] = None,
) -> None:
    """Serve samples of this host until Ctrl-C or SIGTERM."""
    from headrace._core import parse_seconds
    from headrace.monitors.agent import serve

    try:
        seconds = parse_seconds(interval)
    except ValueError as error:
        raise ValueError(f'--interval "{interval}": {error}') from None
    serve(address, port, seconds, token_file)


@app.command("install")
def install(
    host: Annotated[
        str, typer.Argument(metavar="HOST", help="Host as ssh knows it, such as root@node1.")
    ],
    python: Annotated[
        str, typer.Option("--python", metavar="PROGRAM", help="Python 3.11 or later of the host.")
    ] = "python3",
    directory: Annotated[
        str, typer.Option("--directory", metavar="DIR", help="Directory on the host.")
    ] = "~/.headrace-agent",
    wheel: Annotated[
        Path | None,
        typer.Option(
            "--wheel", metavar="FILE", help="Wheel of Headrace; by default that in dist/."
        ),
    ] = None,
    address: Annotated[
        str, typer.Option("--address", metavar="ADDRESS", help="Address that the agent listens on.")
    ] = "0.0.0.0",
    port: Annotated[
        int, typer.Option("--port", min=1, max=65535, help="Port that the agent listens on.")
    ] = 8181,
    interval: Annotated[
        float, typer.Option("--interval", metavar="SECONDS", min=0.1, max=60.0, help="Interval.")
    ] = 1.0,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="File for its token; by default HOST.token.",
        ),
    ] = None,
    ssh: Annotated[
        str, typer.Option("--ssh", metavar="COMMAND", help="The ssh command with its options.")
    ] = "ssh",
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
    host: Annotated[str, typer.Argument(metavar="HOST", help="Host as ssh knows it.")],
    directory: Annotated[
        str, typer.Option("--directory", metavar="DIR", help="Directory on the host.")
    ] = "~/.headrace-agent",
    ssh: Annotated[
        str, typer.Option("--ssh", metavar="COMMAND", help="The ssh command with its options.")
    ] = "ssh",
) -> None:
    """Stop the agent on a host and remove it."""
    from headrace.monitors.installation import Installation

    was_there = Installation(host, ssh, directory).remove()
    print(f"{host}: " + ("removed" if was_there else "no agent was there"))
