"""`headrace bench`: benchmarks of real file systems."""

import typer

from headrace.cli.bench import clean, mix, run

app = typer.Typer(help="Benchmark a real file system.", no_args_is_help=True)
app.command("run")(run.run)
app.command("mix")(mix.mix)
app.command("clean")(clean.clean)
