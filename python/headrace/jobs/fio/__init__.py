"""fio's job files and command lines: what they do, measured or simulated."""

from pathlib import Path

from headrace.jobs.fio.read import parse, read_fio_file
from headrace.jobs.fio.scenario import scenario_of

__all__ = ["is_job_file", "parse", "read_fio_file", "scenario_of"]
JOB_FILES = (".fio", ".job")
"""Suffixes that distinguish fio's job files from scenarios."""


def is_job_file(path: Path) -> bool:
    """Return whether a file's name is that of a fio job file."""
    return path.suffix in JOB_FILES
