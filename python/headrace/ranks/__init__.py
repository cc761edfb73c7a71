"""Ranks: the programs that mpirun or srun has started for one measurement.

Without a launcher there is one rank, and MPI is not imported.
"""

from pathlib import Path

from headrace.interruption import end_process
from headrace.ranks.launcher import communicator, launched_size
from headrace.ranks.serial_comm import SerialComm

__all__ = ["SerialComm", "count", "current", "first_rank_only", "leave"]

_current: SerialComm | None = None


def current() -> SerialComm:
    """Return this program's communicator. All ranks must call it once before other collective
    calls.

    Raises ValueError if there are several ranks and MPI cannot be used.
    """
    global _current
    if _current is None:
        _current = SerialComm()
        size = launched_size()
        if size is not None:
            # MPI waits for all ranks as it begins, and for ever for one that was interrupted; the
            # launcher ends all when a signal ends one.
            with end_process():
                if (world := communicator(size)) is not None:
                    from headrace.ranks.mpi_comm import MpiComm

                    _current = MpiComm(world)
    return _current


def count() -> int:
    """Return the number of ranks."""
    return current().total


def first_rank_only(path: Path | None) -> Path | None:
    """A file that only the first rank writes."""
    return path if current().first else None


def leave(status: int) -> int:
    """End a command on all ranks: return the exit status, that of a rank that failed. It waits for
    all ranks; the first prints the messages of the others."""
    return status if _current is None else _current.leave(status)
