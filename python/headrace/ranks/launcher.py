"""Detection of the launcher that started this program: mpirun, srun, or none."""

import os
import sys
import warnings
from types import ModuleType
from typing import TYPE_CHECKING

from headrace.interruption import end_process

if TYPE_CHECKING:
    from mpi4py import MPI

OPEN_MPI = "OMPI_COMM_WORLD_SIZE"
SIZES = (OPEN_MPI, "PMI_SIZE")
"""Variables with the number of ranks: of Open MPI's mpirun, and of MPICH, Intel MPI and Slurm's
srun (--mpi=pmi2)."""
RANK = "PMIX_RANK"
"""Variable that any launcher with PMIx sets (srun --mpi=pmix), without the number of ranks."""
TASKS = "SLURM_STEP_NUM_TASKS"
"""Variable of srun with the number of tasks. It is also set where tasks cannot find each other
(--mpi=none, the default of Slurm: slurm.conf(5), MpiDefault)."""

LIBRARY = "MPI4PY_LIBMPI"
"""Variable with the libraries, or their folders, in which mpi4py looks for MPI."""

MISSING = (
    "mpirun or srun has started this as one of several ranks, and mpi4py is not there: install "
    'it with pip install "headrace[mpi]", or start headrace without mpirun'
)


def launched_size() -> int | None:
    """Return the number of ranks that were started; 0 if it is unknown, None without a launcher."""
    for name in SIZES:
        value = os.environ.get(name, "")
        if value.isdigit():
            return int(value)
    value = os.environ.get(TASKS, "")
    tasks = int(value) if value.isdigit() else 0
    # One task of srun may be a shell, in which anything is started.
    return tasks if tasks > 1 or RANK in os.environ else None


def load_mpi(missing: str) -> ModuleType:
    """Return MPI, initialised. Raises ValueError, with `missing` if there is no mpi4py."""
    try:
        with end_process(), warnings.catch_warnings():
            # mpi4py warns about a launcher of another MPI; `communicator` reports it.
            warnings.simplefilter("ignore", RuntimeWarning)
            from mpi4py import MPI
    except ImportError as error:
        raise ValueError(missing if error.name == "mpi4py" else f"mpi4py: {error}") from None
    except RuntimeError as error:
        # There is mpi4py, and no library of MPI's that it could load.
        raise ValueError(f"mpi4py finds no MPI: {error}") from None
    return MPI


def communicator(size: int) -> "MPI.Intracomm | None":
    """Return the communicator of all ranks; None if there is only this one.

    Raises ValueError if MPI cannot be used, or has another number of ranks.
    """
    if size == 1:
        return None
    if OPEN_MPI in os.environ or RANK in os.environ:
        # mpi4py from PyPI takes the first MPI that it finds beside Python, and another one than the
        # launcher's ends the program before it can say why. The MPICH from PyPI knows no PMIx.
        os.environ.setdefault(LIBRARY, os.pathsep.join(["libmpi.so.40", f"{sys.exec_prefix}/lib"]))
    MPI = load_mpi(MISSING)
    ranks: int = MPI.COMM_WORLD.Get_size()
    if size not in (0, ranks):
        by_srun = TASKS in os.environ and not any(name in os.environ for name in SIZES)
        expected = (
            "srun --mpi=pmi2 (MPICH, Intel MPI) or --mpi=pmix (Open MPI), for"
            if by_srun
            else "an mpirun of"
        )
        raise ValueError(
            f"{size} ranks were started, and mpi4py sees {ranks}: expected {expected} the MPI "
            f"that mpi4py uses, which is {MPI.Get_library_version().splitlines()[0]}"
        )
    return MPI.COMM_WORLD.Dup() if ranks > 1 else None
