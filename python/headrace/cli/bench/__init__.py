"""`headrace bench`: benchmarks of real file systems."""

from typing import Any

import typer

from headrace import ranks
from headrace.cli.bench import clean, fio, io500, micro, mix, net, quick, run, training, tune
from headrace.cli.bench.programs import COMMANDS
from headrace.cli.binding import DefaultCommandGroup

DEFAULT = "quick"


class BenchGroup(DefaultCommandGroup):
    """`bench DIR` is `bench quick DIR`, unless DIR is the name of another command: then it is
    written `./DIR`."""

    default = DEFAULT

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Write fio's options with two dashes, as -thread would be read as letters."""
        if args and args[0] == "fio":
            args = ["fio", *map(fio.with_two_dashes, args[1:])]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=BenchGroup,
    help=(
        "Benchmark a real file system. headrace bench DIR is headrace bench quick DIR: IOPS, MB/s"
        " and latency of reads and writes in less than half a minute. A directory with the name of"
        " a command is written ./NAME."
    ),
    no_args_is_help=True,
    subcommand_metavar="DIR | COMMAND [ARGS]...",
)

ONE_HOST = (DEFAULT, "fio", "training", "tune", "clean")
"""Commands that run on one host only and refuse several ranks."""
app.command(DEFAULT)(quick.quick)
app.command("run")(run.run)
app.command("fio", context_settings=fio.PASSED_ON, options_metavar="[DIR] FIO_OPTIONS...")(fio.fio)
app.command("mix")(mix.mix)
app.command("training")(training.training)
app.command("io500")(io500.io500)
for name, program in COMMANDS.items():
    app.command(name, context_settings={"ignore_unknown_options": True})(program)
app.command("tune")(tune.tune)
app.command("sweep")(micro.sweep)
app.command("blocks")(micro.blocks)
app.command("clients")(micro.clients)
app.command("meta")(micro.meta)
app.command("disk")(micro.disk)
app.command("copy")(micro.copy)
app.add_typer(net.app, name="net")
app.command("clean")(clean.clean)


@app.callback()
def bench(context: typer.Context) -> None:
    """Benchmark a real file system."""
    command = context.invoked_subcommand
    if ranks.count() > 1 and command in ONE_HOST:
        raise ValueError(f"bench {command} runs on one host only: start it without mpirun or srun")
