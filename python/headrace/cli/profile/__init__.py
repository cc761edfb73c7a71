"""`headrace profile`: profiles of applications."""

import typer

from headrace.cli.binding import DefaultCommandGroup
from headrace.cli.profile import record, report


class ProfileGroup(DefaultCommandGroup):
    """`profile -- COMMAND` is `profile record -- COMMAND`. A program with the name of a command of
    this group is written after `--`."""

    default = "record"


app = typer.Typer(
    cls=ProfileGroup,
    help=(
        "Find what limits an application, and what would help. headrace profile --"
        " COMMAND is headrace profile record -- COMMAND; see headrace profile record --help."
    ),
    no_args_is_help=True,
    subcommand_metavar="-- COMMAND [ARGS]...",
)

app.command(ProfileGroup.default, context_settings={"allow_interspersed_args": False})(
    record.record
)
app.command("report")(report.report)


@app.callback()
def profile() -> None:
    """Profile applications."""
