"""Access of an application to its files: answers of the worksheet, or what its data suggests."""

from typing import Literal, NamedTuple

from headrace.design.worksheet import Application, Data, Worksheet

Pattern = Literal["sequential", "random"]

LARGE_FILE = 1 << 30
MEDIUM_FILE = 16 << 20
SMALL_FILE = 64 << 10
"""Bytes of a file by its class, where the worksheet does not say (declared: Hindman 2011, appendix
B, has large files above 100 MB, medium ones above 1 MB)."""
SEQUENTIAL_TRANSFER = 1 << 20
"""Bytes of a call (declared: the largest request of NFS and Lustre)."""
RANDOM_TRANSFER = 16 << 10
"""Bytes of a call at a random place (declared: a page of InnoDB)."""
READ_SHARE = 0.5
"""Part of the bytes that is read (declared)."""
PROCESSES = 1
"""Processes on a client (declared)."""


class Access(NamedTuple):
    """Access of an application to its files."""

    pattern: Pattern
    transfer: int
    """Bytes of a call."""
    read_share: float
    file_size: int
    """Bytes; a whole number of calls."""
    assumed: tuple[str, ...]
    """Answers that were assumed, with their values."""


def access(application: Application, worksheet: Worksheet) -> Access:
    """Return the access of an application, with an assumption for each answer that is missing."""
    data = [datum for datum in worksheet.data if datum.zone in application.zones]
    assumed: list[str] = []
    file_size = application.file_size
    if file_size is None:
        file_size = _file_size(data)
        assumed.append(f"files of {file_size:,.0f} bytes")
    pattern = application.pattern
    if pattern is None:
        pattern = "random" if _mostly_databases(data) else "sequential"
        assumed.append(f"{pattern} access")
    transfer = application.transfer
    if transfer is None:
        usual = SEQUENTIAL_TRANSFER if pattern == "sequential" else RANDOM_TRANSFER
        transfer = min(usual, file_size)
        assumed.append(f"calls of {transfer:,.0f} bytes")
    read_share = application.read_share
    if read_share is None:
        read_share = READ_SHARE
        assumed.append(f"{read_share:.0%} of the bytes read")
    if application.processes is None:
        assumed.append("one process on each client")
    call = max(1, round(min(transfer, file_size)))
    calls = max(1, -(-round(file_size) // call))
    return Access(pattern, call, read_share, calls * call, tuple(assumed))


def distribution(application: Application, worksheet: Worksheet) -> bool | None:
    """Return whether its zones are striped; None if they leave it to the design."""
    patterns = {zone.distribution for zone in worksheet.zones if zone.name in application.zones} - {
        "either"
    }
    return None if not patterns else "striped" in patterns


def _file_size(data: list[Data]) -> float:
    """Return the mean size of the files, by the data that has the most bytes."""
    for part in sorted(data, key=lambda entry: -(entry.size or 0)):
        if part.size and part.files:
            return max(1.0, part.size / part.files)
        return _class_size(part)
    return LARGE_FILE


def _class_size(data: Data) -> float:
    if data.data_class.startswith("large-"):
        return LARGE_FILE
    return MEDIUM_FILE if data.data_class.startswith("medium-") else SMALL_FILE


def _mostly_databases(data: list[Data]) -> bool:
    databases = sum(datum.data_class.endswith("-database") for datum in data)
    return 2 * databases > len(data)
