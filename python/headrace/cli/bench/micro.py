"""`headrace bench sweep`, `blocks`, `clients`, `meta`, `disk` and `copy`."""

import inspect
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from typing import Annotated as A

import typer

from headrace.cli.bench import documents
from headrace.cli.bench.documents import Csv, check_csv
from headrace.cli.bench.options import BlockSize, Processes, Repetitions, Space
from headrace.cli.bench.resume import Resume, Saver, earlier_result, output_of, print_resume_command
from headrace.cli.options import AsJson, PlotDirectory, ResultFile
from headrace.cli.screen import steps
from headrace.cli.store_options import Labels, Stored, check_labels, save_to_store
from headrace.commands.fields import BelowDirectory
from headrace.commands.parameters import Help, Word
from headrace.commands.sizes import check_whole_blocks, counts, size, sizes
from headrace.commands.values import span
from headrace.files import check_directory
from headrace.ranks import current, first_rank_only

if TYPE_CHECKING:
    from headrace.measure.micro import Study

TimeLimit = A[
    float | None,
    span(),
    Word("--time-limit"),
    Help("Time after which no more points begin; --resume measures the rest."),
]
Direct = A[bool, Word("--direct"), Help("Bypass the page cache (O_DIRECT).")]
ProcessCounts = A[
    str,
    Word("--processes", metavar="COUNTS"),
    Help("Numbers of parallel processes, such as 1,2,4 or 1-8."),
]


class SizesOfFiles(StrEnum):
    """Sets of file sizes: Wang 2002, tables 3.1 to 3.3."""

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


File = A[str, Word("--file-size", metavar="SIZE"), Help("Size of each file, such as 64 MiB.")]


def _run(
    study: "Study",
    *,
    directory: BelowDirectory,
    repeats: Repetitions = 3,
    seconds: TimeLimit = None,
    space: Space = None,
    as_json: AsJson = False,
    csv: Csv = None,
    output: ResultFile = None,
    plot: PlotDirectory = None,
    label: Labels = (),
    stored: Stored = True,
    resume: Resume = None,
) -> int:
    from headrace.measure import micro

    labels = check_labels(label, stored)
    resumed = earlier_result(resume)
    output, plot = output_of(output, resume), first_rank_only(plot)
    stored = stored and current().first
    check_csv(csv, as_json)
    check_directory(plot)
    so_far = Saver(output, stored)
    output = so_far.output
    with steps(f"bench {study.name}") as on_progress:
        result = micro.run_study(
            study,
            directory,
            repeats=repeats,
            seconds=seconds,
            on_progress=on_progress,
            resumed=resumed,
            so_far=so_far,
        )
    document, stop = result.document, result.document["stop"]
    identifier = None
    if stored and result.rows.height:
        identifier = save_to_store(lambda: result.keep(labels=labels))
        if identifier is not None:
            so_far.discard()
    documents.print_result(document, as_json, identifier, csv, plot if result.rows.height else None)
    if output is not None:
        # Last: what is printed is not lost with a disk that is full.
        result.save(output)
    print_resume_command(stop, output, identifier)
    return documents.status(stop)


def _command(*, repeats: int = 3) -> Callable[[Callable[..., "Study"]], Callable[..., int]]:
    """Return a decorator that makes a command of a function which returns a study.

    The command has the function's options and those of `_run`.
    """
    common = inspect.signature(_run).parameters

    def decorate(plan: Callable[..., "Study"]) -> Callable[..., int]:
        own = inspect.signature(plan).parameters

        def command(**values: Any) -> int:
            study = plan(**{name: values[name] for name in own})
            return _run(study, **{name: values[name] for name in values if name in common})

        parameters = {**own, **common}
        del parameters["study"]
        parameters["repeats"] = parameters["repeats"].replace(default=repeats)
        keywords = [one.replace(kind=one.KEYWORD_ONLY) for one in parameters.values()]
        command.__doc__, command.__name__ = plan.__doc__, plan.__name__
        command.__annotations__ = {one.name: one.annotation for one in keywords}
        vars(command)["__signature__"] = inspect.Signature(keywords)
        return command

    return decorate


@_command()
def sweep(
    files: A[
        str, Word("--file-sizes", metavar="SIZES"), Help("File sizes, such as 64k-512m.")
    ] = "1m-64m",
    blocks: A[
        str, Word("--block-sizes", metavar="SIZES"), Help("Block sizes, such as 4k,64k,1m.")
    ] = "4k,64k,1m,16m",
    direct: Direct = False,
) -> "Study":
    """Measure throughput for each file size and block size.

    Accesses are write, rewrite, read, reread, random, backward and strided.
    """
    from headrace.measure import micro

    return micro.sweep(sizes(files), sizes(blocks), direct=direct)


@_command()
def blocks(
    file: File = "64 MiB",
    block_sizes: A[str, Word(metavar="SIZES"), Help("Block sizes, such as 4k-8m.")] = "4k-8m",
    processes: Processes = 1,
    direct: Direct = False,
) -> "Study":
    """Measure stable writes and uncached reads by block size."""
    from headrace.measure import micro

    check_whole_blocks("--file-size", size(file), sizes(block_sizes))
    return micro.blocks(size(file), sizes(block_sizes), processes=processes or 1, direct=direct)


@_command()
def clients(
    processes: ProcessCounts = "1-8",
    file: File = "64 MiB",
    block: BlockSize = "1 MiB",
    direct: Direct = False,
) -> "Study":
    """Measure parallel processes on own files and a shared file."""
    from headrace.measure import micro

    check_whole_blocks("--file-size", size(file), [size(block)])
    return micro.clients(counts(processes), size(file), size(block), direct=direct)


@_command()
def meta(
    processes: ProcessCounts = "1-4",
    files: A[int, Help("Number of files of each process.", least=1)] = 1000,
    file: A[
        str, Word("--file-size", metavar="SIZE"), Help("Size of each file; 0 for empty files.")
    ] = "0",
    own: A[bool, Help("Give each process its own directory.")] = False,
) -> "Study":
    """Measure metadata operations as mdtest does.

    The operations are create, stat and unlink.
    """
    from headrace.measure import micro

    each = 0 if file.strip() == "0" else size(file)
    return micro.metadata(counts(processes), files, size=each, own=own)


@_command(repeats=1)
def disk(
    file: A[
        str | None,
        Word("--file-size", metavar="SIZE"),
        Help("Size of the file; by default twice the memory."),
    ] = None,
) -> "Study":
    """Measure a disk with one process as bonnie++ does.

    The phases are characters, blocks, seeks and names.
    """
    import psutil

    from headrace.measure import micro

    # In whole blocks of 1 MiB.
    twice = 2 * psutil.virtual_memory().total // (1 << 20) * (1 << 20)
    bytes_of_file = twice if file is None else size(file)
    check_whole_blocks("--file-size", bytes_of_file, [micro.BLOCK_OF_DISK])
    return micro.disk(bytes_of_file)


@_command()
def copy(
    directory: BelowDirectory,
    file: A[
        str | None,
        Word("--file-size", metavar="SIZE"),
        Help("Size of the file; by default 256 MiB."),
    ] = None,
    block: A[
        str | None,
        Word("--block-size", metavar="SIZE"),
        Help("Bytes of each request; by default those of cp."),
    ] = None,
    tree: A[bool, Help("Copy a tree of files instead, as cp -r does.")] = False,
    directories: A[
        int | None, Help("With --tree: number of directories; by default 16.", least=1)
    ] = None,
    files: A[
        int | None, Help("With --tree: number of files in each; by default 100.", least=1)
    ] = None,
    sizes: A[
        SizesOfFiles | None,
        typer.Option("--size-set", help="With --tree: set of file sizes; by default small."),
    ] = None,
) -> "Study":
    """Copy a large file, or a tree of files, as cp does.

    Source and copy are on the same file system.
    """
    from headrace.measure import micro

    each = micro.block_of_cp(directory) if block is None else size(block)
    if tree:
        if file is not None:
            raise ValueError(
                "--file-size: --tree copies files of many sizes: expected --size-set in its place"
            )
        return micro.copy_tree(directories or 16, files or 100, sizes or SizesOfFiles.SMALL, each)
    given = {"--directories": directories, "--files": files, "--size-set": sizes}
    if without := [option for option, value in given.items() if value is not None]:
        raise ValueError(f"{without[0]}: needs --tree")
    return micro.copy_file(size(file or "256 MiB"), each)
