"""`headrace design`: design a storage system."""

import typer

from headrace.cli.design import (
    capacity,
    cost,
    growth,
    lifetimes,
    power,
    reliability,
    smart,
    spares,
)

app = typer.Typer(
    help="Design a storage system: capacity, reliability, power, cost and performance.",
    no_args_is_help=True,
)

app.command("capacity")(capacity.capacity)
app.command("growth")(growth.growth)
app.command("reliability")(reliability.reliability)
app.command("spares")(spares.spares)
app.command("smart")(smart.smart)
app.command("lifetimes")(lifetimes.lifetimes)
app.command("power")(power.power)
app.command("cost")(cost.cost)


@app.callback()
def design() -> None:
    """Design storage systems."""
