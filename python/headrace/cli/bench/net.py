"""`headrace bench net answer` and `ask`."""

import sys
from typing import Annotated

import typer

from headrace.addresses import is_loopback
from headrace.cli.bench import documents
from headrace.cli.bench.csv_output import Csv, check_csv
from headrace.cli.bench.options import Token
from headrace.cli.bench.resume import Resume, earlier_result, output_of
from headrace.cli.options import AsJson, PlotDirectory, ResultFile, time_option
from headrace.cli.screen import steps
from headrace.cli.store_options import Labels, Stored, check_labels
from headrace.commands.sizes import sizes as read_sizes
from headrace.files import check_directory
from headrace.plain_text import plain_line

app = typer.Typer(
    help="Measure latency and throughput of messages between two hosts.", no_args_is_help=True
)


@app.command("answer")
def answer(
    listen: Annotated[
        str, typer.Option("--listen", metavar="HOST:PORT", help="Address to listen on.")
    ] = "127.0.0.1:7417",
    token: Token = None,
) -> None:
    """Answer messages of bench net ask until Ctrl-C."""
    from headrace.measure import network

    known = token or network.new_token()

    def started(address: str) -> None:
        print(plain_line(f"answering at {address}"))
        print("on the other host:")
        print(plain_line(f"  headrace bench net ask {address} --token {known}"))
        if not is_loopback(listen.rpartition(":")[0]):
            print("Any host that reaches this address and has the token can connect.")
        sys.stdout.flush()

    network.answer(listen, known, started)


@app.command("ask")
def ask(
    address: Annotated[
        str, typer.Argument(metavar="HOST:PORT", help="Address of headrace bench net answer.")
    ],
    token: Annotated[
        str,
        typer.Option(
            "--token", metavar="SECRET", help="Secret that headrace bench net answer prints."
        ),
    ],
    sizes: Annotated[
        str, typer.Option("--sizes", metavar="SIZES", help="Message sizes, such as 1-16m.")
    ] = "1,4,16,64,256,1k,4k,16k,64k,256k,1m,4m,16m",
    seconds: Annotated[
        float, time_option("--time", "Time measured for each size.", least=0.0)
    ] = 0.5,
    as_json: AsJson = False,
    output: ResultFile = None,
    csv: Csv = None,
    plot: PlotDirectory = None,
    label: Labels = None,
    stored: Stored = True,
    resume: Resume = None,
) -> int:
    """Measure latency and throughput of messages to a host."""
    from headrace.measure import network

    labels = check_labels(label or [], stored)
    check_csv(csv, as_json)
    resumed = earlier_result(resume)
    output = output_of(output, resume)
    check_directory(plot)
    to = documents.Destination(as_json, output, plot, stored, labels, csv)
    with steps("bench net") as on_progress:
        document = network.ask(
            address,
            token,
            read_sizes(sizes),
            seconds=seconds,
            on_progress=on_progress,
            resumed=resumed,
            so_far=to.save_so_far,
        )
    return to.finish(document)
