"""Numbers of operations and flags in batches of a trace."""

from headrace._core import TRACE_OPERATIONS, trace_flags_bits


def code(operation: str) -> int:
    """Return an operation's number in batches."""
    return TRACE_OPERATIONS.index(operation)


def flag(name: str) -> int:
    """Return a flag's bit in batches."""
    bits = trace_flags_bits(name)
    assert bits, name
    return bits


READ, WRITE, SYNC = code("read"), code("write"), code("sync")
MOVES = (READ, WRITE)
OPENS = (code("open"), code("create"))
FAILED, UNTIMED, NO_DURATION = flag("failed"), flag("untimed"), flag("no-duration")
DATA_ONLY, DIRECT, SYNCHRONOUS = flag("data-only"), flag("direct"), flag("synchronous")
MAPS = ("mmap", "msync")
"""Names under which readers count mapped accesses that they leave out."""
