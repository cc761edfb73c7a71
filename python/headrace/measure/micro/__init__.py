"""Micro-benchmarks: one aspect of a file system at a time, over a range.

Each is a list of points; a point is a workload of its own, so that it can be simulated as it
was measured. To add one, write a file with a function that gives a `Study`, and a command.
"""

from headrace.measure.micro.blocks import blocks
from headrace.measure.micro.carrying_out import StudyResult, carry_out
from headrace.measure.micro.clients import clients
from headrace.measure.micro.copying import block_of_cp, copying, copying_a_tree
from headrace.measure.micro.disk import BLOCK_OF_DISK, disk
from headrace.measure.micro.names import names
from headrace.measure.micro.study import Figure, Point, Study
from headrace.measure.micro.sweep import sweep

__all__ = [
    "BLOCK_OF_DISK",
    "Figure",
    "Point",
    "Study",
    "StudyResult",
    "block_of_cp",
    "blocks",
    "carry_out",
    "clients",
    "copying",
    "copying_a_tree",
    "disk",
    "names",
    "sweep",
]
