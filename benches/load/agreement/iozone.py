"""iozone: a file in memory, written to stable storage."""

from __future__ import annotations

import re

from ground import KIB, MIB, Case, Figures, Ground, output, rate

BLOCK = 64 * KIB
SIZE = 512 * MIB
"""Size of its file in bytes; cached accesses end soon."""
TESTS = ("write", "rewrite", "read", "reread", "random read", "random write")


def _theirs(ground: Ground) -> Figures:
    with ground.folder() as folder:
        said = output(
            "iozone",
            # Write, read, random.
            *("-i", "0", "-i", "1", "-i", "2"),
            # The fsync behind a write counts, and so does the close of a file.
            "-e",
            *("-s", f"{SIZE // KIB}k", "-r", f"{BLOCK // KIB}k", "-f", str(folder / "file")),
        )
    found = re.search(rf"^\s*{SIZE // KIB}\s+{BLOCK // KIB}((?:\s+\d+)+)\s*$", said, re.M)
    if found is None:
        raise SystemExit(f"agreement: iozone: unexpected output {said!r}")
    return {
        test: 1024.0 * int(number) for test, number in zip(TESTS, found[1].split(), strict=True)
    }


def _ours(ground: Ground) -> Figures:
    """Write one file twice, then read it twice and at random from memory."""
    base = f'block = "{SIZE} B"\ntransfer = "{BLOCK} B"\n'
    random = f'{base}order = "random"\nio.existing = true\nio.cached = true\n'
    with ground.on_remaining_files() as (_, work):
        again = '"write", "sync", "write", "sync", "read", "read"'
        write, sync, rewrite, resync, read, reread = work(f"{base}phases = [{again}]\n")
        random_read = work(f'{random}phases = ["read"]\n')
        random_write = work(f'{random}phases = ["write", "sync"]\n')
    return {
        "write": rate([write, sync], "write"),
        "rewrite": rate([rewrite, resync], "write"),
        "read": rate([read], "read"),
        "reread": rate([reread], "read"),
        "random read": rate(random_read, "read"),
        "random write": rate(random_write, "write"),
    }


CASES = [
    Case(
        "iozone",
        "64 KiB, in memory, fsync",
        dict.fromkeys(TESTS, "MB/s"),
        _ours,
        _theirs,
    )
]
