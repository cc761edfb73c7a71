"""`headrace net`: nets of scenarios, and nets of one's own."""

import typer

from headrace.cli.binding import DefaultCommandGroup
from headrace.cli.net import check, draw, foreign, play, run, solve


class NetGroup(DefaultCommandGroup):
    """`net FILE` is `net draw FILE`. A file with the name of a command of this group is written
    with its directory, such as `./run`."""

    default = "draw"


app = typer.Typer(
    cls=NetGroup,
    help=(
        "Draw, check and run nets. headrace net FILE is headrace net draw FILE; write ./run for a"
        " file that has the name of a command."
    ),
    no_args_is_help=True,
    subcommand_metavar="FILE | COMMAND [ARGS]...",
)

app.command(NetGroup.default)(draw.draw)
app.command("run")(run.run)
app.command("play")(play.play)
app.command("check")(check.check)
app.command("solve")(solve.solve)
app.command("export")(foreign.export)


@app.callback()
def net() -> None:
    """Draw, check and run nets."""
