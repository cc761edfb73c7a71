"""Traces after the description of those of Nguyen 2011, section 5.5, which are lost.

What the text says of them (figures 34 to 37 did not survive):

- read 1: large blocks, a mixture of sequential and random;
- write 1: random at the beginning, sequential in the latter part; the sizes of
  the blocks change quite randomly;
- read 2: less random than read 1, several mixtures of random and sequential;
- write 2: a combination of sequential and random, sizes vary greatly throughout.

What it does not say, and was chosen here before any of them was run: the file of
512 MiB, 128 MiB moved, sizes drawn evenly among powers of two ("large": 64 KiB to
1 MiB; "vary": 4 KiB to 1 MiB), one request in two at random in read 1 and one in
four in read 2, runs of 32 requests in write 2.

The traces of reads begin by writing the file, so that it is cached: throughput
of reads counts from the first read on.

`python papers/nguyen-local/traces.py` writes them again.
"""

import csv
import random
from collections.abc import Callable
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "traces"
KIB, MIB = 1 << 10, 1 << 20
FILE = 512 * MIB
MOVED = 128 * MIB
LARGE = [64 * KIB << step for step in range(5)]
ANY = [4 * KIB << step for step in range(9)]


Jumps = Callable[[int, float, random.Random], bool]
"""Returns True if a request is random, from its number, the completed share, and a random value."""


def requests(
    seed: int, sizes: list[int], jumps: Jumps, *, file: int = FILE, all_moved: int = MOVED
) -> list[tuple[int, int]]:
    """Return offsets and sizes of requests that move `all_moved` bytes of a file."""
    chance = random.Random(seed)
    made: list[tuple[int, int]] = []
    at = moved = 0
    while moved < all_moved:
        size = min(chance.choice(sizes), all_moved - moved)
        if jumps(len(made), moved / all_moved, chance) or at + size > file:
            at = chance.randrange((file - size) // (4 * KIB) + 1) * 4 * KIB
        made.append((at, size))
        at += size
        moved += size
    return made


TRACES: dict[str, tuple[str, int, list[int], Jumps]] = {
    "read-1": ("read", 1, LARGE, lambda _, __, chance: chance.random() < 1 / 2),
    "read-2": ("read", 2, LARGE, lambda _, __, chance: chance.random() < 1 / 4),
    "write-1": ("write", 3, ANY, lambda _, part, __: part < 1 / 2),
    "write-2": ("write", 4, ANY, lambda number, _, __: number // 32 % 2 == 0),
}
"""Operation, seed, sizes and jumps, by name."""


def write(folder: Path, *, part: int = 1) -> None:
    """Write the traces as CSV in Headrace's own format.

    `part` divides the size of the file and the amount written; the amount read stays the same.
    """
    folder.mkdir(parents=True, exist_ok=True)
    length = FILE // part
    for name, (operation, seed, sizes, jumps) in TRACES.items():
        moved = MOVED if operation == "read" else MOVED // part
        made = requests(seed, sizes, jumps, file=length, all_moved=moved)
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerow(["time", "process", "operation", "file", "offset", "size", "duration"])
            whole = [(at, MIB) for at in range(0, length, MIB)] if operation == "read" else []
            for kind, moves in (("write", whole), (operation, made)):
                for at, size in moves:
                    rows.writerow(["0.000000000", "iozone", kind, "file", at, size, "0.000000000"])


if __name__ == "__main__":
    write(FOLDER)
