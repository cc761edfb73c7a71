"""`headrace design`: design of storage systems."""

import typer

from headrace.cli.design import lifetimes, reliability, smart, spares

app = typer.Typer(
    help="Design a storage system: reliability, spares, and the risk of the disks one has.",
    no_args_is_help=True,
)

app.command("reliability")(reliability.reliability)
app.command("spares")(spares.spares)
app.command("smart")(smart.smart)
app.command("lifetimes")(lifetimes.lifetimes)


@app.callback()
def design() -> None:
    """Design storage systems."""
