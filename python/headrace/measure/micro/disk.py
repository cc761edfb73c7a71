"""Throughput of one process on a disk, as bonnie++ measures it: characters, blocks, rewritten
blocks, seeks and names."""

from headrace.measure.micro.ior import ior
from headrace.measure.micro.study import Figure, Point, Study
from headrace.quantities import binary_size

BLOCK_OF_DISK = 8192
"""Bytes of a call: bonnie++'s chunk, as Hindman 2011, section 5.2.2.2, has it."""

CHARACTERS = 16 << 20
"""Bytes that are written and read one by one at the most: each is timed, which takes far longer
than the C library does."""

NAMES = 16 * 1024
"""Files made, looked up and removed: bonnie++'s default."""


def disk(file: int, *, seeks: int = 8000, names: int = NAMES) -> Study:
    """Measure a file, then empty files in order and at random.

    The file should be twice the memory. It is measured by putc and getc, in blocks of 8 KiB,
    rewritten, and at random offsets.
    """
    points = [*_characters(file), *_blocks(file), _seeks(file, seeks)]
    points += [_names(file, names), _names(file, names, random=True)]
    return Study("disk", "one process and the disk", points, sizes=("file",))


def _characters(file: int) -> list[Point]:
    """fwrite and fread of one byte through the C library's buffer."""
    size = min(file, CHARACTERS)
    library = 'io.interface = "library"\n'
    return [
        Point(
            {"file": file},
            ior(size, 1, ("write", "sync"), extra=library),
            [Figure("character write", 0, "write", until=(1, "sync"))],
            stable=True,
        ),
        Point(
            {"file": file},
            ior(size, 1, ("read",), existing=True, extra=library),
            [Figure("character read", 0, "read")],
            stable=True,
        ),
    ]


def _blocks(file: int) -> list[Point]:
    rewrite = (
        f'[clients]\n[[workload]]\nkind = "pipeline"\ninput = "{binary_size(file)}"\n'
        f'request = "{binary_size(BLOCK_OF_DISK)}"\nin_place = true\nsync = true\n'
    )
    return [
        Point(
            {"file": file},
            ior(file, BLOCK_OF_DISK, ("write", "sync")),
            [Figure("block write", 0, "write", until=(1, "sync"))],
            stable=True,
        ),
        Point(
            {"file": file}, rewrite, [Figure("rewrite", 0, "write", until=(0, "sync"))], stable=True
        ),
        Point(
            {"file": file},
            ior(file, BLOCK_OF_DISK, ("read",), existing=True),
            [Figure("block read", 0, "read")],
            stable=True,
        ),
    ]


def _seeks(file: int, seeks: int) -> Point:
    requests = f"requests = {seeks}\n"
    scenario = ior(file, BLOCK_OF_DISK, ("read",), order="uniform", existing=True, extra=requests)
    return Point({"file": file}, scenario, [Figure("seeks", 0, "read", rate=True)], stable=True)


def _names(file: int, names: int, *, random: bool = False) -> Point:
    phases = ("create", "stat", "unlink")
    words = ", ".join(f'"{phase}"' for phase in phases)
    order = "random " if random else ""
    tests = [
        Figure(f"{order}{phase}", number, phase, rate=True) for number, phase in enumerate(phases)
    ]
    scenario = f'[clients]\n[[workload]]\nkind = "mdtest"\nfiles = {names}\nphases = [{words}]\n'
    scenario += f"random = {str(random).lower()}\n"
    return Point({"file": file}, scenario, tests, stable=True)
