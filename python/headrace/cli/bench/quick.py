"""`headrace bench DIR`, which is `headrace bench quick DIR`, and fio's job files."""

import dataclasses
import difflib
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from typing import Annotated as A

import typer

from headrace.cli.bench import documents
from headrace.cli.bench.documents import Csv, check_csv
from headrace.cli.bench.job_view import job_view
from headrace.cli.bench.options import Calls, Processes, Space
from headrace.cli.options import AsJson, PlotDirectory, ResultFile, ShowProgress
from headrace.cli.store_options import Labels, Stored, check_labels, save_to_store
from headrace.commands.parameters import Help, Word
from headrace.commands.sizes import counts, size
from headrace.commands.values import span
from headrace.file_formats import FileFormat
from headrace.files import check_apart, check_directory, check_writable

if TYPE_CHECKING:
    from headrace.measure.jobs import Options, Plan
    from headrace.measure.jobs.target import Target

JOB_FILES = (".fio", ".job")
"""Suffixes that distinguish fio's job files from scenarios in `bench run`."""

QueueDepth = A[
    str | None,
    Word("--queue-depth", metavar="COUNTS"),
    Help("Requests in flight per process, such as 1,16 or 1-32; above 1 by io_uring."),
]


def quick(
    paths: A[
        tuple[str, ...],
        Word(metavar="[FILE] DIR", is_argument=True),
        Help(
            "Directory on the file system to measure, or a block device, which is only read;"
            " before it optionally a fio job file to run there."
        ),
    ],
    queue_depth: QueueDepth = None,
    seconds: A[
        float | None, span(), Word("--time"), Help("Time measured in each step; by default 1.5 s.")
    ] = None,
    file: A[
        str | None,
        Word("--file-size", metavar="SIZE"),
        Help(
            "Size of each process's file; by default up to 1 GiB, limited by free space and 4 s"
            " of writing."
        ),
    ] = None,
    block: A[
        str | None,
        Word("--block-size", metavar="SIZE"),
        Help("Bytes of a random request; by default 4 KiB."),
    ] = None,
    sequential_block: A[
        str | None,
        Word("--sequential-block-size", metavar="SIZE"),
        Help("Bytes of a sequential request; by default 1 MiB."),
    ] = None,
    processes: Processes = None,
    rate: A[
        float | None,
        Word(metavar="IOPS"),
        Help("Requests per second; by default as many as possible."),
    ] = None,
    direct: A[
        bool | None,
        Word(off="--no-direct"),
        Help("Bypass the page cache (O_DIRECT); by default where the file system supports it."),
    ] = None,
    calls: Annotated[
        Calls | None,
        typer.Option(
            "--calls",
            help="Calls to use; by default io_uring, or system calls at a queue depth of 1.",
        ),
    ] = None,
    space: Space = None,
    as_json: AsJson = False,
    csv: Csv = None,
    output: ResultFile = None,
    plot: PlotDirectory = None,
    label: Labels = (),
    stored: Stored = True,
    show_progress: ShowProgress = True,
) -> int:
    """Measure IOPS, MB/s and latency of reads and writes.

    Requests are sequential and random. Takes less than half a minute. All files are made in a
    directory of the benchmark's own below DIR, which is removed at the end. With FILE: run the jobs
    of a fio job file.
    """
    from headrace.measure import jobs

    first, where = _arguments(paths)
    given = {
        "--queue-depth": queue_depth,
        "--file-size": file,
        "--block-size": block,
        "--sequential-block-size": sequential_block,
        "--processes": processes,
        "--rate": rate,
        "--direct": direct,
        "--calls": calls,
    }
    without = [name for name, value in given.items() if value is not None]
    if first is not None and without:
        raise ValueError(f"{without[0]}: {first} sets it: expected a directory and no job file")
    common = (as_json, csv, output, plot, label, stored, show_progress)
    if first is not None:
        return run_job_file(first, where, seconds, *common)

    options = _options(given, seconds)
    if calls is not None and calls != Calls.IO_URING:
        if queue_depth is None:
            options = dataclasses.replace(options, queue_depths=[1])
        elif calls == Calls.NULL or max(options.queue_depths) > 1:
            raise ValueError(
                f"--calls {calls}: system calls have a queue depth of 1: expected --calls io-uring,"
                " or --calls posix with --queue-depth 1"
            )

    def planned(target: "Target") -> "Plan":
        fitting = _fitting(options, target, direct, calls)
        return jobs.quick_start(where, fitting, target.size)

    return _run(planned, where, None, *common)


def run_job_file(
    job_file: Path,
    where: Path,
    seconds: float | None,
    as_json: bool,
    csv: Path | None,
    output: Path | None,
    plot: Path | None,
    label: Sequence[str],
    stored: bool,
    show_progress: bool,
) -> int:
    """Run the jobs of a fio job file and return the exit status."""
    from headrace.measure import jobs

    def planned(target: "Target") -> "Plan":
        return jobs.read_fio_file(job_file, device_size=target.size, stops=seconds)

    # Check the job file before any file is created.
    jobs.read_fio_file(job_file, device_size=_device_size(where), stops=seconds)
    common = (as_json, csv, output, plot, label, stored, show_progress)
    return _run(planned, where, job_file, *common)


def is_job_file(path: Path) -> bool:
    """Return whether a file's name is that of a fio job file."""
    return path.suffix in JOB_FILES


def _arguments(paths: Sequence[str]) -> tuple[Path | None, Path]:
    """Return the job file, if one is named, and the directory or device to use."""
    if any(not path for path in paths):
        raise typer.BadParameter("expected a directory; . is the current one")
    if len(paths) > 2:
        raise ValueError(
            f"bench {' '.join(paths)}: expected a directory, a block device, or a fio job file"
            f" and one of them{_meant(paths[0])}"
        )
    if not Path(paths[0]).exists():
        raise ValueError(
            f"{paths[0]}: no such directory, block device, job file or subcommand of bench"
            f"{_meant(paths[0])} (see headrace bench --help)"
        )
    if len(paths) == 2:
        return Path(paths[0]), Path(paths[1])
    if Path(paths[0]).is_file():
        raise ValueError(
            f"{paths[0]}: not a directory or block device; to run a fio job file: headrace bench"
            " FILE.fio DIR; to run a scenario: headrace bench run FILE DIR"
        )
    return None, Path(paths[0])


def _meant(name: str) -> str:
    from headrace.cli.bench import app

    names = [command.name or "" for command in app.registered_commands]
    close = difflib.get_close_matches(name, names, n=1)
    return f'; did you mean "{close[0]}"?' if close else ""


def _options(given: Mapping[str, object], seconds: float | None) -> "Options":
    from headrace.measure import jobs

    def bytes_of(name: str, default: int) -> int:
        text = given[name]
        return default if text is None else size(str(text))

    default = jobs.Options()
    depths = given["--queue-depth"]
    rate = given["--rate"]
    if isinstance(rate, float) and not (rate > 0 and math.isfinite(rate)):
        raise ValueError(f"--rate {rate}: expected requests per second such as 1000")
    file = given["--file-size"]
    processes = given["--processes"]
    return jobs.Options(
        file=None if file is None else size(str(file)),
        sequential_block=bytes_of("--sequential-block-size", default.sequential_block),
        random_block=bytes_of("--block-size", default.random_block),
        queue_depths=default.queue_depths if depths is None else counts(str(depths)),
        processes=processes if isinstance(processes, int) else default.processes,
        seconds=default.seconds if seconds is None else seconds,
        rate=rate if isinstance(rate, float) else None,
    )


def _fitting(
    options: "Options", target: "Target", direct: bool | None, calls: Calls | None
) -> "Options":
    """Limit the options to what the target and this system support."""
    from headrace import _core
    from headrace.measure.jobs.target import in_memory

    if calls is not None:
        options = dataclasses.replace(options, calls=str(calls))
    takes = direct is not False and not in_memory(target) and target.engine.takes_direct()
    if direct and not takes:
        raise ValueError(
            f"--direct: the file system of {target.path} does not support O_DIRECT:"
            " expected --no-direct"
        )
    options = dataclasses.replace(options, direct=takes)
    if calls is None and not _core.has_io_uring():
        print(
            "warning: io_uring is missing or disabled on this system: measuring with system calls"
            " at a queue depth of 1",
            file=sys.stderr,
        )
        return dataclasses.replace(options, calls=str(Calls.POSIX), queue_depths=[1])
    return options


def _device_size(where: Path) -> int | None:
    from headrace.measure.jobs.target import is_device, opened

    if not is_device(where):
        return None
    with opened(where) as target:
        return target.size


def _run(
    planned: "Callable[[Target], Plan]",
    where: Path,
    job_file: Path | None,
    as_json: bool,
    csv: Path | None,
    output: Path | None,
    plot: Path | None,
    label: Sequence[str],
    stored: bool,
    show_progress: bool,
) -> int:
    from headrace.measure import jobs
    from headrace.measure.jobs.target import opened

    labels = check_labels(label, stored)
    check_csv(csv, as_json)
    check_writable(output, FileFormat.JSON)
    check_apart({"--output": output, "--csv": csv}, {"the job file": job_file})
    check_directory(plot)
    with job_view("bench", show_progress) as report, opened(where) as target:
        plan = planned(target)
        result = jobs.run_jobs(plan, target, progress=report)
    if target.left is not None:
        result.report.warnings.append(target.left)
    identifier = None
    if stored and result.document["jobs"]:
        identifier = save_to_store(lambda: result.keep(labels=labels))
    tables = {"histograms": result.histograms} if plot and result.histograms.height else {}
    documents.print_result(
        result.document, as_json, identifier, csv, plot if tables else None, tables
    )
    if output is not None:
        # Last: the printed figures are not lost with a disk that is full.
        result.save(output)
    return documents.status(result.document["stop"])
