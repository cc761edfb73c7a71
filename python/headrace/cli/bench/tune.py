"""`headrace bench tune`."""

from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.bench import documents
from headrace.cli.bench.csv_output import Csv, check_csv
from headrace.cli.bench.options import BelowDirectory, Space
from headrace.cli.bench.resume import Resume, earlier_result, output_of
from headrace.cli.options import AsJson, PlotDirectory, ResultFile, time_option
from headrace.cli.screen import steps
from headrace.cli.store_options import Labels, Stored, check_labels
from headrace.exit_codes import report_failure
from headrace.file_formats import FileFormat
from headrace.files import atomic_file, check_apart, check_directory, check_writable

# What reads and writes through the page cache cause depends on what else is in it.
OPERATIONS = (
    "direct-read,direct-write,sync,open,stat,fstat,access,setattr,create,unlink,mkdir,"
    "rmdir,readdir,find-first,find-next,symlink,readlink,link,rename,statfs,fstatfs"
)


def tune(
    directory: BelowDirectory,
    profiler: Annotated[
        str,
        typer.Option(
            "--profiler",
            metavar="PROFILER",
            help="Counter of protocol operations:"
            " fuse, nfs-client, nfs-server, gluster:VOLUME or command:COMMAND.",
        ),
    ],
    target: Annotated[
        str,
        typer.Option(
            "--target",
            metavar="MIX",
            help="Wanted protocol mix: sfs-nfsv2, sfs-nfsv3, sfs2008-nfs, or a file.",
        ),
    ] = "sfs-nfsv3",
    operations: Annotated[
        str, typer.Option("--operations", metavar="NAMES", help="File operations to mix.")
    ] = OPERATIONS,
    amount: Annotated[
        int, typer.Option("--amount", min=1, help="Number of runs of each operation alone.")
    ] = 500,
    mixed: Annotated[
        int, typer.Option("--mixed", min=1, help="Number of operations of a mix.")
    ] = 50_000,
    files: Annotated[int, typer.Option("--files", min=1, help="Number of files.")] = 10,
    rounds: Annotated[
        int,
        typer.Option("--rounds", min=1, help="Number of rounds of measuring and correcting a mix."),
    ] = 2,
    step: Annotated[
        float,
        typer.Option(
            "--first-step",
            metavar="SHARE",
            min=0.0005,
            max=0.5,
            help="First step of the pairwise search, as a share of the mix.",
        ),
    ] = 0.01,
    threshold: Annotated[
        float,
        typer.Option(
            "--threshold",
            metavar="DISTANCE",
            min=0.0,
            help="Distance to the target at which the pairwise search ends.",
        ),
    ] = 0.001,
    seconds: Annotated[
        float | None, time_option("--time", "Longest time measured in a step.")
    ] = None,
    space: Space = None,
    as_json: AsJson = False,
    output: ResultFile = None,
    csv: Csv = None,
    mix: Annotated[
        Path | None, typer.Option("--mix", help="Write the best mix as a scenario.")
    ] = None,
    plot: PlotDirectory = None,
    label: Labels = None,
    stored: Stored = True,
    resume: Resume = None,
) -> int:
    """Find the file operations that cause a protocol mix.

    The protocol mix has a wanted share of each operation of a network file system.
    """
    from headrace.measure import tuning
    from headrace.measure.tuning.tune import tune as run_tuning

    labels = check_labels(label or [], stored)
    check_csv(csv, as_json)
    resumed = earlier_result(resume)
    output = output_of(output, resume)
    if mix is not None:
        check_writable(mix, FileFormat.TOML)
        check_apart({"--mix": mix}, {"--output": output})
    check_directory(plot)
    names = list(dict.fromkeys(name.strip() for name in operations.split(",") if name.strip()))
    wanted, watching = tuning.target(target), tuning.profiler(profiler)
    much = tuning.Amount(alone=amount, mixed=mixed, files=files, time_s=seconds)
    to = documents.Destination(as_json, output, plot, stored, labels, csv)
    with watching(directory) as watched, steps("bench tune") as on_progress:
        document = run_tuning(
            watched,
            wanted,
            names,
            rounds=rounds,
            amount=much,
            step=step,
            threshold=threshold,
            on_progress=on_progress,
            resumed=resumed,
            so_far=to.save_so_far,
        )
    ended = to.finish(document)
    if mix is not None and document["mixes"]:
        measured = [it for it in document["mixes"].values() if it["measured"] is not None]
        if not measured:
            problem = "no operation of a mix was completed: expected a longer --time"
            return report_failure(f"{mix}: not written: {problem}", 1)
        best = min(measured, key=lambda it: float(it["measured_distance"]))
        text = tuning.workload(best["weights"], mixed, much)
        with atomic_file(mix) as partial:
            partial.write_text(text, encoding="utf-8")
    return ended
