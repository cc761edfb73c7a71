"""`headrace design`: design of storage systems."""

import typer

from headrace.cli.design import flow, recommend

app = typer.Typer(help="Design a storage system from a worksheet.", no_args_is_help=True)

app.command("recommend")(recommend.recommend)
app.command("flow")(flow.flow)


@app.callback()
def design() -> None:
    """Design storage systems."""
