"""`headrace design`: design of storage systems."""

import typer

from headrace.cli.design import (
    capacity,
    catalogue,
    check,
    cost,
    flow,
    growth,
    init,
    lifetimes,
    power,
    recommend,
    reliability,
    report,
    schema,
    smart,
    solve,
    spares,
)

app = typer.Typer(help="Design a storage system from a worksheet.", no_args_is_help=True)

app.command("init")(init.init)
app.command("check")(check.check)
app.command("catalogue")(catalogue.catalogue)
app.command("schema")(schema.schema)
app.command("recommend")(recommend.recommend)
app.command("flow")(flow.flow)
app.command("solve")(solve.solve)
app.command("capacity")(capacity.capacity)
app.command("growth")(growth.growth)
app.command("power")(power.power)
app.command("cost")(cost.cost)
app.command("reliability")(reliability.reliability)
app.command("spares")(spares.spares)
app.command("smart")(smart.smart)
app.command("lifetimes")(lifetimes.lifetimes)
app.command("report")(report.report)


@app.callback()
def design() -> None:
    """Design storage systems."""
