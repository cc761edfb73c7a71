"""The programs that mpirun or srun has started to do one thing together: its ranks.

Without them there is one, which waits for nobody, and MPI is not imported.
"""

from pathlib import Path

from headrace.interruption import end_process
from headrace.ranks.launcher import communicator, launched_size
from headrace.ranks.serial_comm import SerialComm

__all__ = ["SerialComm", "count", "current", "first_rank_only", "leave"]

_current: SerialComm | None = None


def current() -> SerialComm:
    """This program among the ranks. All ranks must come here once before they do anything
    together.

    Raises ValueError if there are several and MPI cannot be used.
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
    """The end of a command: the exit status, that of whichever rank failed. Nobody goes before
    all have come; what others than the first have said is told by the first."""
    return status if _current is None else _current.leave(status)
