"""`headrace design`: design of storage systems."""

import typer

from headrace.cli.design import calculations, lifetimes, recommend, report, smart, solve, worksheet
from headrace.cli.design.output_options import figures_command
from headrace.commands.design import CALCULATIONS, record

app = typer.Typer(help="Design a storage system from a worksheet.", no_args_is_help=True)

app.command("init")(worksheet.init)
app.command("check")(worksheet.check)
app.command("catalogue")(worksheet.catalogue)
app.command("schema")(worksheet.schema)
app.command("recommend")(recommend.recommend)
app.command("flow")(worksheet.flow)
app.command("solve")(solve.solve)

SHOWN = {
    "growth": calculations.growth,
    "reliability": calculations.reliability,
    "spares": calculations.spares,
}
"""Calculations that print more than their figures."""

for name in CALCULATIONS:
    app.command(name)(SHOWN.get(name) or figures_command(record(name)))

app.command("smart")(smart.smart)
app.command("lifetimes")(lifetimes.lifetimes)
app.command("report")(report.report)


@app.callback()
def design() -> None:
    """Design storage systems."""
