"""`headrace bench net answer`, `ask` and `ranks`."""

import sys
from typing import Annotated as A

import typer

from headrace import ranks as all_ranks
from headrace.addresses import is_loopback
from headrace.cli.bench import documents
from headrace.cli.bench.documents import Csv, check_csv
from headrace.cli.bench.options import Token
from headrace.cli.bench.resume import Resume, earlier_result, output_of
from headrace.cli.options import AsJson, PlotDirectory, ResultFile
from headrace.cli.screen import steps
from headrace.cli.store_options import Labels, Stored, check_labels
from headrace.commands.parameters import Help, Word
from headrace.commands.sizes import sizes as read_sizes
from headrace.commands.values import span
from headrace.files import check_directory
from headrace.plain_text import plain_line

app = typer.Typer(
    help="Measure latency and throughput of messages between hosts.", no_args_is_help=True
)


@app.callback()
def net(context: typer.Context) -> None:
    command = context.invoked_subcommand
    if all_ranks.count() > 1 and command != "ranks":
        raise ValueError(
            f"bench net {command} runs on one host only: start it without mpirun or srun"
        )


@app.command("answer")
def answer(
    listen: A[str, Word(metavar="HOST:PORT"), Help("Address to listen on.")] = "127.0.0.1:7417",
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
    address: A[
        str,
        Word(metavar="HOST:PORT", is_argument=True),
        Help("Address of headrace bench net answer."),
    ],
    token: A[str, Word(metavar="SECRET"), Help("Secret that headrace bench net answer prints.")],
    sizes: A[
        str, Word(metavar="SIZES"), Help("Message sizes, such as 1-16m.")
    ] = "1,4,16,64,256,1k,4k,16k,64k,256k,1m,4m,16m",
    seconds: A[float, span(0.0), Word("--time"), Help("Time measured for each size.")] = 0.5,
    as_json: AsJson = False,
    output: ResultFile = None,
    csv: Csv = None,
    plot: PlotDirectory = None,
    label: Labels = (),
    stored: Stored = True,
    resume: Resume = None,
) -> int:
    """Measure latency and throughput of messages to a host."""
    from headrace.measure import network

    labels = check_labels(label, stored)
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


@app.command("ranks")
def ranks(
    sizes: A[str, Word(metavar="SIZES"), Help("Message sizes, such as 1-16m.")] = "8,1m",
    seconds: A[float, span(0.0), Word("--time"), Help("Time measured for each size.")] = 0.1,
    as_json: AsJson = False,
    output: ResultFile = None,
    csv: Csv = None,
    plot: PlotDirectory = None,
    label: Labels = (),
    stored: Stored = True,
) -> int:
    """Measure messages between all pairs of ranks of mpirun or srun."""
    from headrace.measure import network_matrix

    first = all_ranks.current().first
    labels = check_labels(label, stored)
    check_csv(csv, as_json)
    output, plot = output_of(output, None), all_ranks.first_rank_only(plot)
    check_directory(plot)
    to = documents.Destination(as_json, output, plot, stored, labels, csv, resumes=False)
    with steps("bench net ranks") as on_progress:
        document = network_matrix.measure(
            read_sizes(sizes), seconds=seconds, on_progress=on_progress
        )
    return to.finish(document) if first else 0
