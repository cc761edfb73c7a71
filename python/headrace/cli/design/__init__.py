"""`headrace design`: design of storage systems."""

import typer

from headrace.cli.design import catalogue, check, flow, init, recommend, schema

app = typer.Typer(help="Design a storage system from a worksheet.", no_args_is_help=True)

app.command("init")(init.init)
app.command("check")(check.check)
app.command("catalogue")(catalogue.catalogue)
app.command("schema")(schema.schema)
app.command("recommend")(recommend.recommend)
app.command("flow")(flow.flow)


@app.callback()
def design() -> None:
    """Design storage systems."""
