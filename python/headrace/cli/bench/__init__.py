"""`headrace bench`: benchmarks of real file systems."""

import typer

from headrace.cli.bench import clean, micro, mix, net, run, tune

app = typer.Typer(help="Benchmark a real file system.", no_args_is_help=True)
app.command("run")(run.run)
app.command("mix")(mix.mix)
app.command("tune")(tune.tune)
app.command("sweep")(micro.sweep)
app.command("blocks")(micro.blocks)
app.command("clients")(micro.clients)
app.command("meta")(micro.meta)
app.command("disk")(micro.disk)
app.command("copy")(micro.copy)
app.add_typer(net.app, name="net")
app.command("clean")(clean.clean)
