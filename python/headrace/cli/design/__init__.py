"""`headrace design`: design a storage system."""

import typer

from headrace.cli.design import capacity, cost, growth, power

app = typer.Typer(
    help="Design a storage system: capacity, reliability, power, cost and performance.",
    no_args_is_help=True,
)

app.command("capacity")(capacity.capacity)
app.command("growth")(growth.growth)
app.command("power")(power.power)
app.command("cost")(cost.cost)


@app.callback()
def design() -> None:
    """Design storage systems."""
