"""Micro-benchmarks: one aspect of a file system at a time, over a range.

Each is a list of points. A point is a workload of its own, so that it can be simulated as it was
measured. To add one, write a file with a function that returns a `Study`, and a command.
"""

from headrace.measure.micro.blocks import blocks
from headrace.measure.micro.clients import clients
from headrace.measure.micro.disk import BLOCK_OF_DISK, disk
from headrace.measure.micro.file_copy import block_of_cp, copy_file, copy_tree
from headrace.measure.micro.metadata import metadata
from headrace.measure.micro.run import StudyResult, run_study
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
    "clients",
    "copy_file",
    "copy_tree",
    "disk",
    "metadata",
    "run_study",
    "sweep",
]
