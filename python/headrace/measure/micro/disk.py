"""What one process gets of a disk: blocks in order, blocks again, and seeks, as bonnie++ does
it."""

from headrace.measure.micro.ior import ior
from headrace.measure.micro.study import Figure, Point, Study

BLOCK = 8192
"""Bytes of a call: bonnie++'s chunk, as Hindman 2011, section 5.2.2.2, has it."""


def disk(file: int, *, seeks: int = 8000) -> Study:
    """A file of so many bytes, which should be twice the memory, in blocks of 8 KiB; seeks
    anywhere in it."""
    parameters = {"file": file}
    points = [
        Point(
            parameters,
            ior(file, BLOCK, ("write", "sync")),
            [Figure("block write", 0, "write", until=(1, "sync"))],
            stable=True,
        ),
        Point(
            parameters,
            ior(file, BLOCK, ("read",), existing=True),
            [Figure("block read", 0, "read")],
            stable=True,
        ),
        Point(
            parameters,
            ior(file, BLOCK, ("write", "sync"), existing=True),
            [Figure("rewrite", 0, "write", until=(1, "sync"))],
            stable=True,
        ),
        Point(
            parameters,
            ior(
                file,
                BLOCK,
                ("read",),
                order="uniform",
                existing=True,
                extra=f"requests = {seeks}\n",
            ),
            [Figure("seeks", 0, "read", rate=True)],
            stable=True,
        ),
    ]
    return Study("disk", "one process and the disk", points, sizes=("file",))
