"""Recordings of profiles: the first line of the file is the header, and the others are samples."""

import shutil
from pathlib import Path

from headrace.profile import header, recording
from headrace.profile.analysis import analyse

from . import FILE


def _recording(path: Path) -> None:
    first, _, rest = path.read_bytes().partition(b"\n")
    directory = path.parent / f"{FILE}-recording"
    directory.mkdir()
    try:
        (directory / header.FILE).write_bytes(first)
        (directory / header.SAMPLES).write_bytes(rest)
        analyse(directory)
        recording.processes(directory)
    finally:
        shutil.rmtree(directory)


READERS = (_recording,)
