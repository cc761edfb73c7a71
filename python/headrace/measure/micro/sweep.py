"""File size by block size: written, written again, read, read again, at random, backward and
in strides, as iozone does it."""

from collections.abc import Sequence

from headrace._core import ScenarioError
from headrace.measure.micro.ior import ior
from headrace.measure.micro.study import Figure, Point, Study
from headrace.quantities import size

ORDERS = {
    "random read": ("random", "read"),
    "random write": ("random", "write"),
    "backward read": ("backward", "read"),
    "strided read": ("strided", "read"),
}


def sweep(
    files: Sequence[int], blocks: Sequence[int], *, processes: int = 1, direct: bool = False
) -> Study:
    """Every block size on every file size that is at least as large. Sizes in bytes.

    Writing counts until the calls return; the file is not brought to stable storage between.
    """
    points = []
    for file in files:
        for block in (block for block in blocks if block <= file and file % block == 0):
            parameters = {"file": file, "block": block}
            tests = [
                Figure(name, phase, operation)
                for phase, (name, operation) in enumerate(
                    [("write", "write"), ("rewrite", "write"), ("read", "read"), ("reread", "read")]
                )
            ]
            both = ("write", "write", "read", "read")
            scenario = ior(file, block, both, processes=processes, direct=direct)
            points.append(Point(parameters, scenario, tests, stable=direct))
            for name, (order, phase) in ORDERS.items():
                scenario = ior(
                    file,
                    block,
                    (phase,),
                    processes=processes,
                    order=order,
                    existing=True,
                    cached=not direct,
                    direct=direct,
                )
                points.append(Point(parameters, scenario, [Figure(name, 0, phase)], stable=direct))
    if not points:
        raise ScenarioError(
            f"no file is a multiple of a block: files of {', '.join(map(size, files))}, blocks of"
            f" {', '.join(map(size, blocks))}; expected larger files or smaller blocks"
        )
    return Study("sweep", "file size by block size", points, sizes=("file", "block"))
