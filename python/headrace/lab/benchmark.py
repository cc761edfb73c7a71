"""Programs in a laboratory that is up: benchmarks of its clients, and commands."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from headrace.lab import programs
from headrace.lab.hosts import Hosts
from headrace.lab.state import Lab

HEADRACE = (sys.executable, "-m", "headrace")


def bench_command(lab: Lab, file: Path, arguments: Sequence[str]) -> list[str]:
    """The command line that carries the workload of a scenario out on all clients together, as
    `headrace bench run FILE` does with these arguments, and with the values over the file's that
    the laboratory was stood up with.

    Raises RunError if a client is down, ValueError if there is no mpirun.
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
    sets = [word for it in plan.sets for word in ("--set", it)]
    work: list[str | Path] = [*run, file.absolute(), lab.mount_point, *sets, *arguments]
    lines = [hosts.command(client, *work) for client in clients]
    if len(lines) == 1:
        return lines[0]
    together = [_mpirun()]
    for number, line in enumerate(lines):
        together += [":"] if number else []
        together += ["-n", "1", *line]
    return together


def exec_command(lab: Lab, host: str, command: Sequence[str]) -> list[str]:
    """The command line that runs a command in a host. Raises ValueError if there is no such
    host, RunError if it is down."""
    names = [it.name for it in lab.plan().hosts]
    if host not in names:
        raise ValueError(f"{host}: no such host: expected one of {', '.join(names)}")
    return Hosts(lab).command(host, *command)


def _mpirun() -> str:
    """That of the MPI beside this Python, else the machine's."""
    beside = Path(sys.executable).with_name("mpirun")
    if beside.exists():
        return str(beside)
    programs.require(["mpirun"])
    return shutil.which("mpirun", path=programs.path()) or "mpirun"
