"""A large file, and a tree of small ones, copied as cp does it."""

import os
from os import PathLike

from headrace.measure.micro.study import Figure, Point, Study
from headrace.quantities import binary_size

LEAST = 128 << 10
"""GNU coreutils since 2014: src/ioblksize.h."""


def block_of_cp(directory: str | PathLike[str]) -> int:
    """The bytes that cp reads and writes at a time on a directory's file system."""
    return max(os.stat(directory).st_blksize, LEAST)


def copy_file(file: int, block: int) -> Study:
    """Copy a file: read and write it in turn in blocks."""
    scenario = (
        "[clients]\nprocesses = 1\n"
        f'[[workload]]\nkind = "pipeline"\ninput = "{binary_size(file)}"\n'
        f'request = "{binary_size(block)}"\nthreads = "one"\nsync = false\n'
    )
    point = Point({"block": block}, scenario, [Figure("copy", 0, "write")])
    return Study("copy", "a large file copied", [point], sizes=("block",))


def copy_tree(directories: int, files: int, sizes: str, block: int) -> Study:
    """Copy a tree of directories whose file sizes are one of the named sets. Each file is looked
    up, created, read and written in blocks, and closed."""
    scenario = (
        "[clients]\nprocesses = 1\n"
        f'[[workload]]\nkind = "tree-copy"\ndirectories = {directories}\nfiles = {files}\n'
        f'file_sizes = "{sizes}"\nrequest = "{binary_size(block)}"\n'
    )
    tests = [
        Figure("copy", 0, "write", until=(0, "close")),
        Figure("files", 0, "create", until=(0, "close"), rate=True),
    ]
    parameters = {"directories": directories, "files": files, "block": block}
    point = Point(parameters, scenario, tests)
    return Study("copy", "a tree of files copied", [point], sizes=("block",))
