"""`headrace design`: design of storage systems."""

import typer

from headrace.cli.design import (
    flow,
    lifetimes,
    recommend,
    smart,
)

app = typer.Typer(help="Design a storage system from a worksheet.", no_args_is_help=True)

app.command("recommend")(recommend.recommend)
app.command("flow")(flow.flow)
app.command("smart")(smart.smart)
app.command("lifetimes")(lifetimes.lifetimes)


@app.callback()
def design() -> None:
    """Design storage systems."""
