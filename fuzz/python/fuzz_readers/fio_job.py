"""fio job files."""

from pathlib import Path

from headrace.jobs.fio import read_fio_file


def _for_device(path: Path) -> None:
    read_fio_file(path, device_size=1 << 30, stops=1.0)


READERS = (read_fio_file, _for_device)
