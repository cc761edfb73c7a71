"""Workloads of the pattern of the IOR benchmark, as text."""

from collections.abc import Sequence

from headrace.quantities import binary_size


def ior(
    file: int,
    transfer: int,
    phases: Sequence[str],
    *,
    processes: int = 1,
    order: str = "sequential",
    access: str = "file-per-process",
    existing: bool = False,
    cached: bool = False,
    direct: bool = False,
    extra: str = "",
) -> str:
    """Clients and a workload on one file for each process, or one that all share."""
    words = ", ".join(f'"{phase}"' for phase in phases)
    flags = {"existing": existing, "cached": cached, "direct": direct}
    io = "".join(f"io.{name} = true\n" for name, given in flags.items() if given)
    return (
        f"[clients]\nprocesses = {processes}\n"
        f'[[workload]]\nkind = "ior"\nblock = "{binary_size(file)}"\n'
        f'transfer = "{binary_size(min(transfer, file))}"\n'
        f'order = "{order}"\naccess = "{access}"\nphases = [{words}]\n{io}{extra}'
    )
