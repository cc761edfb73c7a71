"""A file written and read in blocks of many sizes: Hindman 2011, section 4.2.3."""

from collections.abc import Sequence

from headrace.measure.micro.ior import ior
from headrace.measure.micro.study import Figure, Point, Study

SIZES = tuple(4096 << step for step in range(12))
"""4 KiB to 8 MiB, as there."""


def blocks(
    file: int, sizes: Sequence[int] = SIZES, *, processes: int = 1, direct: bool = False
) -> Study:
    """Write and then read a file in blocks of each size.

    The write includes its fsync: before it, the data is only in memory. The page cache is emptied
    before reads.
    """
    points = []
    for size in sizes:
        scenario = ior(file, size, ("write", "sync"), processes=processes, direct=direct)
        test = Figure("write", 0, "write", until=(1, "sync"))
        points.append(Point({"block": size}, scenario, [test], stable=True))
        scenario = ior(file, size, ("read",), processes=processes, existing=True, direct=direct)
        points.append(Point({"block": size}, scenario, [Figure("read", 0, "read")], stable=True))
    return Study("blocks", "a file in blocks of many sizes", points, sizes=("block",))
