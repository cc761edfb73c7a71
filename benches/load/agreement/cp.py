"""cp: a tree of small files, from memory.

With --reflink=never it reads and writes; else cp of GNU coreutils 9 has the kernel copy
(copy_file_range), which is another thing to measure.
"""

from __future__ import annotations

import os
import time

from ground import Case, Figures, Ground, output, rate

DIRECTORIES, FILES = 32, 200
TREE = (
    f'kind = "tree-copy"\ndirectories = {DIRECTORIES}\nfiles = {FILES}\nfile_sizes = "small"\n'
    "io.cached = true\n"
)


def _theirs(ground: Ground) -> Figures:
    """Copy the tree that Headrace has created."""
    with ground.on_remaining_files() as (made, work), ground.folder() as folder:
        work(TREE)
        os.sync()
        tops = [made / f"hr-d{number}" for number in range(DIRECTORIES)]
        began = time.perf_counter()
        output("cp", "-r", "--reflink=never", *tops, folder)
        seconds = time.perf_counter() - began
        copied = sum(1 for it in folder.rglob("*") if it.is_file())
    if copied != DIRECTORIES * FILES:
        raise SystemExit(
            f"agreement: cp copied {copied} files, not all of the tree: see its output"
        )
    return {"files": copied / seconds}


CASES = [
    Case(
        "cp",
        "6,400 files, 1 KiB to 1 MiB, cached",
        {"files": "1/s"},
        lambda ground: {"files": rate(ground.on_own_files(TREE), "create", "count")},
        _theirs,
    )
]
