"""Messages between the process that reads a Darshan log and the one that asks for it.

Each is MessagePack behind its length, eight bytes, little-endian. Arrays are bytes in the
machine's order.
"""

import struct
from collections.abc import Iterator
from typing import IO

import msgspec
import numpy as np

COUNTERS = ("POSIX", "MPI-IO", "STDIO", "DFS", "DAOS", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR")
"""Modules whose counters are read."""
LUSTRE = "LUSTRE"
"""The module with the layouts of files on Lustre."""
WITHOUT_REQUESTS = {
    "HEATMAP": "bytes of other modules over time",
    "APMPI": "times of MPI calls",
    "APXC": "counters of the network",
    "BG/Q": "properties of the machine",
}
"""Modules that are not read and have no request of their own, and their content."""
DXT = ("DXT_POSIX", "DXT_MPIIO")
"""Modules with one segment for each read and write."""
SEGMENT = np.dtype(
    [("offset", np.int64), ("length", np.int64), ("start_s", np.float64), ("end_s", np.float64)]
)
"""A segment of DXT; times are in seconds since the start of the job."""

LENGTH = struct.Struct("<Q")


class Module(msgspec.Struct, frozen=True):
    """A module of a log."""

    name: str
    incomplete: bool
    """Darshan ran out of memory for it and left records out."""
    bytes: int
    """Compressed size in the log."""
    is_read: bool
    """Headrace and PyDarshan know its records."""

    @property
    def may_lack_requests(self) -> bool:
        """True if it may have requests that are not read."""
        return not self.is_read and self.name not in WITHOUT_REQUESTS


class Header(msgspec.Struct, frozen=True, tag=True):
    """The job of a log. Comes first."""

    version: str
    processes: int
    job: int
    start_s: int
    """Start of the job, seconds since the epoch."""
    run_time_s: float
    program: str
    """Program with its arguments, if Darshan recorded them."""
    hints: str
    """Hints of ROMIO, as NAME=VALUE with semicolons between them."""
    modules: list[Module]
    names: dict[int, str]
    """File names by record identifier."""


class Counters(msgspec.Struct, frozen=True, tag=True):
    """Records of a module with counters."""

    module: str
    counter_names: list[str]
    time_names: list[str]
    identifiers: bytes
    """uint64"""
    ranks: bytes
    """int64; -1 if all processes together"""
    counters: bytes
    """int64, one row a record"""
    times: bytes
    """float64, one row a record"""


class SegmentRecord(msgspec.Struct, frozen=True, tag=True):
    """The reads and writes of one process on one file."""

    module: str
    identifier: int
    rank: int
    host: str
    writes: int
    reads: int
    segments: bytes
    """`SEGMENT`; the writes come first"""


class Stripes(msgspec.Struct, frozen=True, tag=True):
    """The Lustre layout of one file; of a composite layout the first component."""

    identifier: int
    size: int
    """Stripe size, bytes."""
    count: int
    targets: list[int]
    """Object storage targets."""


Message = Header | Counters | SegmentRecord | Stripes


def write_message(output: IO[bytes], message: Message) -> None:
    """Write one message."""
    encoded = msgspec.msgpack.encode(message)
    output.write(LENGTH.pack(len(encoded)))
    output.write(encoded)


def read_messages(source: IO[bytes]) -> Iterator[Message]:
    """Yield the messages up to the end. Raises EOFError within a message."""
    decoder = msgspec.msgpack.Decoder(Message)
    while head := source.read(LENGTH.size):
        if len(head) < LENGTH.size:
            raise EOFError
        (length,) = LENGTH.unpack(head)
        encoded = source.read(length)
        if len(encoded) < length:
            raise EOFError
        yield decoder.decode(encoded)
