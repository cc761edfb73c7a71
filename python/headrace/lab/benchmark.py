"""Programs in a laboratory that is up: benchmarks of its clients, and commands."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from headrace._core import RunError
from headrace.lab.hosts import Hosts, known
from headrace.lab.programs import require
from headrace.lab.state import Lab

HEADRACE = (sys.executable, "-m", "headrace")


def bench(lab: Lab, file: Path, arguments: Sequence[str]) -> int:
    """Carries the workload of a scenario out on all clients together, as
    `headrace bench run FILE` does with these arguments; gives its exit status.

    Raises RunError if the laboratory is not whole, ValueError if there is no mpirun.
    """
    plan = lab.plan()
    clients = [host.name for host in plan.of("client")]
    if plan.server == "none" and len(clients) > 1:
        raise ValueError(
            f"{len(clients)} clients have file systems of their own: expected clients.count = 1, or"
            " headrace lab exec FILE HOST -- headrace bench run for each"
        )
    hosts = Hosts(lab)
    run = (*HEADRACE, "bench", "run")
    work: list[str | Path] = [*run, file.absolute(), lab.mount_point, *arguments]
    lines = [hosts.command(client, *work) for client in clients]
    if len(lines) == 1:
        return _status(lines[0])
    together = [_mpirun()]
    for number, line in enumerate(lines):
        together += [":"] if number else []
        together += ["-n", "1", *line]
    return _status(together)


def execute(lab: Lab, host: str, command: Sequence[str]) -> int:
    """Runs a command in a host; gives its exit status. Raises ValueError if there is no such
    host."""
    plan = lab.plan()
    name = known([it.name for it in plan.hosts], host)
    return _status(Hosts(lab).command(name, *command))


def _mpirun() -> str:
    """That of the MPI beside this Python, else the machine's."""
    beside = Path(sys.executable).with_name("mpirun")
    if beside.exists():
        return str(beside)
    require(["mpirun"])
    return shutil.which("mpirun") or "mpirun"


def _status(line: Sequence[str]) -> int:
    """Runs a command; a signal counts as shells have it."""
    try:
        ended = subprocess.run(line, check=False).returncode
    except OSError as error:
        raise RunError(f"{line[0]}: {error.strerror}") from None
    return ended if ended >= 0 else 128 - ended
