"""bonnie++: a file in blocks of 8 KiB, and many empty files.

What takes less than half a second it does not tell. So files are large and many, and what memory
answers (block read, seeks, stat) is left out.
"""

from __future__ import annotations

import os
import time

from ground import KIB, MIB, Case, Figures, Ground, Work, output, rate

BLOCK = 8 * KIB
SIZE = 1024 * MIB
"""Size of its file in bytes, large enough for half a second."""
FILES = 64 * 1024

BLOCKS = {"block write": 11, "rewrite": 13}
NAMES = {"sequential create": 26, "sequential delete": 30, "random create": 32}
"""Places in its line of comma-separated values, format 1.98 (bon_csv2html(1)). The table that
it prints for people has other figures: rounded to whole seconds."""


def _bonnie(ground: Ground, columns: dict[str, int], *options: str) -> Figures:
    with ground.folder() as folder:
        said = output("bonnie++", "-d", folder, "-u", str(os.getuid()), "-r", "0", "-q", *options)
    lines = [line for line in said.splitlines() if line.startswith("1.98,")]
    if not lines:
        raise SystemExit(f"agreement: bonnie++: unexpected output {said!r}")
    values = lines[0].split(",")
    found = {name: values[place] for name, place in columns.items()}
    return {name: float(text) for name, text in found.items() if text.strip("+")}


def _blocks(ground: Ground) -> Figures:
    found = _bonnie(ground, BLOCKS, "-s", f"{SIZE // MIB}:{BLOCK // KIB}k", "-n", "0", "-f")
    return {name: 1024 * value for name, value in found.items()}


def _our_blocks(ground: Ground) -> Figures:
    """Run the same accesses to one file."""
    with ground.on_remaining_files() as (_, work):
        write = work(f'block = "{SIZE} B"\ntransfer = "{BLOCK} B"\nphases = ["write", "sync"]\n')
        rewrite = work(
            f'kind = "pipeline"\ninput = "{SIZE} B"\nrequest = "{BLOCK} B"\n'
            "in_place = true\nsync = true\nio.cached = true\n"
        )
    return {"block write": rate(write, "write"), "rewrite": rate(rewrite, "write")}


def _names(ground: Ground) -> Figures:
    return _bonnie(ground, NAMES, "-s", "0", "-n", str(FILES // 1024))


def _our_names(ground: Ground) -> Figures:
    """Create and remove the same files in the same order, each followed by sync(2)."""

    def seconds(work: Work, phase: str) -> float:
        done = work(f'kind = "mdtest"\nfiles = {FILES}\nphases = ["{phase}"]\n')
        began = time.perf_counter()
        os.sync()
        return FILES / rate(done, phase, "count") + time.perf_counter() - began

    with ground.on_remaining_files() as (_, work):
        create, delete = (FILES / seconds(work, phase) for phase in ("create", "unlink"))
    return {"sequential create": create, "sequential delete": delete, "random create": create}


CASES = [
    Case("bonnie++", "8 KiB, fsync", dict.fromkeys(BLOCKS, "MB/s"), _our_blocks, _blocks),
    Case("bonnie++", "65,536 names, sync", dict.fromkeys(NAMES, "1/s"), _our_names, _names),
]
